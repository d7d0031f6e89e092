// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/header.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

const Identity identity{0x1234, 0x5678, 0x120001, 7, 0x9abc, 0xdef0};

TEST(Header, IdentityIsWhereSoftwareLooks) {
  ConfigSpace space;
  Type0Header header(space, identity, true, 2, {});
  EXPECT_EQ(space.read(Header::vendor_id, 4), 0x56781234u);
  EXPECT_EQ(space.read(Header::revision_id, 4), 0x12000107u);
  EXPECT_EQ(space.read(Header::header_type, 1), 0x80u);
  EXPECT_EQ(space.read(Type0Header::subsystem_vendor_id, 4), 0xdef09abcu);
  EXPECT_EQ(space.read(Header::interrupt_pin, 1), 2u);
  space.write(Header::vendor_id, 4, ~0u);
  space.write(Header::revision_id, 4, ~0u);
  EXPECT_EQ(space.read(Header::vendor_id, 4), 0x56781234u);
  EXPECT_EQ(space.read(Header::revision_id, 4), 0x12000107u);
}

TEST(Header, CommandBits) {
  ConfigSpace space;
  Type0Header header(space, identity, false, 1, {});
  EXPECT_FALSE(header.memory_enabled());
  EXPECT_FALSE(header.master_enabled());
  EXPECT_TRUE(header.intx_enabled());
  space.write(Header::command, 2, 0xffff);
  EXPECT_EQ(space.read(Header::command, 2), 0x0546u);
  EXPECT_TRUE(header.memory_enabled());
  EXPECT_TRUE(header.master_enabled());
  EXPECT_FALSE(header.intx_enabled());
}

// Software writes all ones and reads the size from the bits that stay zero.
TEST(Header, BarSizing) {
  for (unsigned bits = 7; bits <= 40; ++bits) {
    for (const bool is_64bit : {false, true}) {
      if (!is_64bit && bits > 31) continue;
      const std::uint64_t size = std::uint64_t{1} << bits;
      ConfigSpace space;
      const BarConfig bar{2, size, is_64bit, is_64bit};
      Type0Header header(space, identity, false, 0, {bar});
      space.write(Type0Header::bar(2), 4, ~0u);
      space.write(Type0Header::bar(3), 4, ~0u);
      std::uint64_t value = space.read(Type0Header::bar(2), 4);
      EXPECT_EQ(value & 0xf, is_64bit ? 0xcu : 0u);
      if (is_64bit) {
        value |= std::uint64_t{space.read(Type0Header::bar(3), 4)} << 32;
      } else {
        EXPECT_EQ(space.read(Type0Header::bar(3), 4), 0u) << "the next BAR";
        value |= std::uint64_t{0xffffffff} << 32;
      }
      EXPECT_EQ(~(value & ~0xfull) + 1, size);
      const std::uint64_t address = is_64bit ? 0x123ull << 40 : 0x80000000;
      space.write(Type0Header::bar(2), 4, static_cast<std::uint32_t>(address));
      space.write(Type0Header::bar(3), 4, address >> 32);
      EXPECT_EQ(header.bar_address(bar), address);
    }
  }
}

TEST(Header, ImpossibleBars) {
  auto make = [](std::vector<BarConfig> bars) {
    ConfigSpace space;
    Type0Header header(space, identity, false, 0, bars);
  };
  EXPECT_THROW(make({{0, 0}}), ConfigurationError);
  EXPECT_THROW(make({{0, 64}}), ConfigurationError);
  EXPECT_THROW(make({{0, 0x3000}}), ConfigurationError);
  EXPECT_THROW(make({{6, 0x1000}}), ConfigurationError);
  EXPECT_THROW(make({{5, 0x1000, true}}), ConfigurationError) << "no room for the upper half";
  EXPECT_THROW(make({{0, 0x100000000}}), ConfigurationError);
  EXPECT_THROW(make({{0, 0x1000, true}, {1, 0x1000}}), ConfigurationError);
  EXPECT_NO_THROW(make({{0, 0x1000, true}, {2, 0x1000}, {5, 0x80000000}}));
}

TEST(Header, BridgeWindows) {
  ConfigSpace space;
  Type1Header header(space, identity, 0);
  EXPECT_EQ(space.read(Header::header_type, 1), 1u);
  space.write(Type1Header::primary_bus_number, 4, 0xff070201);
  EXPECT_EQ(header.secondary_bus(), 2u);
  EXPECT_EQ(header.subordinate_bus(), 7u);
  space.write(Type1Header::memory_base, 4, 0xc020c010);  // c0100000 to c02fffff
  space.write(Type1Header::prefetchable_memory_base, 4, 0x00210011);
  space.write(Type1Header::prefetchable_base_upper, 4, 0x40);
  space.write(Type1Header::prefetchable_limit_upper, 4, 0x41);  // 40_00100000 to 41_002fffff
  EXPECT_EQ(space.read(Type1Header::prefetchable_memory_base, 4), 0x00210011u)
      << "the flag for 64-bit addresses";
  EXPECT_FALSE(header.claims(0xc0100000)) << "Memory Space is off";
  space.write(Header::command, 2, Header::CommandBit::memory_space);
  EXPECT_FALSE(header.claims(0xc00fffff));
  EXPECT_TRUE(header.claims(0xc0100000));
  EXPECT_TRUE(header.claims(0xc02fffff));
  EXPECT_FALSE(header.claims(0xc0300000));
  EXPECT_FALSE(header.claims(0x40000fffff));
  EXPECT_TRUE(header.claims(0x4000100000));
  EXPECT_TRUE(header.claims(0x41002fffff));
  EXPECT_FALSE(header.claims(0x4100300000));
  space.write(Type1Header::memory_base, 4, 0xc010c020);  // base above limit: closed
  EXPECT_FALSE(header.claims(0xc0180000));
}

}  // namespace
}  // namespace pcie
