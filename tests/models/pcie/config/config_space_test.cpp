// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/config_space.h"

#include <gtest/gtest.h>

#include <utility>

#include "models/pcie/config/capabilities/serial_number.h"
#include "models/pcie/config/header_registers.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

TEST(ConfigSpace, UnknownSpaceReadsZeroAndIgnoresWrites) {
  ConfigSpace space;
  for (unsigned offset = 0; offset < ConfigSpace::size; offset += 4) {
    space.write(offset, 4, ~0u);
    EXPECT_EQ(space.read(offset, 4), 0u) << offset;
  }
}

TEST(ConfigSpace, EachBitKeepsToItsMask) {
  ConfigSpace space;
  space.define({0x10, 4, 0xf0f0f0f0, 0x00ffff00, 0xff000000});
  EXPECT_EQ(space.read(0x10, 4), 0xf0f0f0f0);
  space.write(0x10, 4, 0x0f00ff0f);
  EXPECT_EQ(space.read(0x10, 4), 0xf000fff0u);
  space.write(0x10, 4, 0xf0000000);
  EXPECT_EQ(space.read(0x10, 4), 0x000000f0u);
  space.reset();
  EXPECT_EQ(space.read(0x10, 4), 0xf0f0f0f0);
}

// Sticky bits survive all but a fundamental reset; others only one of the function itself.
TEST(ConfigSpace, ResetsKeepBitsByTheirStrength) {
  ConfigSpace space;
  space.define({0x12, 2, 0x1111, 0xffff});
  space.keep(Reset::hot, 0x12, 2, 0x00f0);
  space.keep(Reset::function, 0x12, 2, 0x0f00);
  const std::pair<Reset, std::uint32_t> kinds[] = {
      {Reset::function, 0x1ee1}, {Reset::hot, 0x11e1}, {Reset::fundamental, 0x1111}};
  for (const auto& [kind, left] : kinds) {
    space.write(0x12, 2, 0xeeee);
    space.reset(kind);
    EXPECT_EQ(space.read(0x12, 2), left);
    EXPECT_EQ(space.read(0x10, 2), 0u);
  }
}

// Every size at every offset of a DW touches its own bytes alone.
TEST(ConfigSpace, PartialAccesses) {
  for (unsigned offset = 0; offset < 4; ++offset) {
    for (unsigned bytes = 1; offset + bytes <= 4; ++bytes) {
      ConfigSpace space;
      space.define({0x20, 4, 0x44332211, ~0u});
      const std::uint32_t mask = (bytes == 4 ? ~0u : (1u << 8 * bytes) - 1) << 8 * offset;
      EXPECT_EQ(space.read(0x20 + offset, bytes), (0x44332211 & mask) >> 8 * offset);
      space.write(0x20 + offset, bytes, 0xddccbbaa >> 8 * offset);
      EXPECT_EQ(space.read(0x20, 4), (0x44332211 & ~mask) | (0xddccbbaa & mask));
    }
  }
}

TEST(ConfigSpace, AccessesOutsideOrAcrossAreHarmless) {
  ConfigSpace space;
  space.define({0xffc, 4, 0x12345678, ~0u});
  EXPECT_EQ(space.read(0x1000, 4), 0u);
  EXPECT_EQ(space.read(0xfff, 2), 0u);
  EXPECT_EQ(space.read(0xffffffff, 1), 0u);
  space.write(0xffe, 4, 0);
  space.write(0x1000, 4, 0);
  space.write(0xffc, 0, 0);
  EXPECT_EQ(space.read(0xffc, 4), 0x12345678u);
}

TEST(ConfigSpace, ObserverSeesTheValueBefore) {
  ConfigSpace space;
  space.define({0x06, 2, 0x1234, 0xffff});
  unsigned calls = 0;
  space.on_write(0x06, 2, [&](std::uint32_t before) {
    ++calls;
    EXPECT_EQ(before, 0x1234u);
    EXPECT_EQ(space.read(0x06, 2), 0xff34u);
  });
  space.write(0x04, 2, ~0u);
  EXPECT_EQ(calls, 0u);
  space.write(0x07, 1, 0xff);
  EXPECT_EQ(calls, 1u);
}

TEST(ConfigSpace, RegistersDoNotOverlap) {
  ConfigSpace space;
  space.define({0x40, 4});
  EXPECT_THROW(space.define({0x42, 2}), ConfigurationError);
  EXPECT_THROW(space.define({0x51, 2}), ConfigurationError) << "not aligned";
  EXPECT_THROW(space.define({0x50, 3}), ConfigurationError);
  EXPECT_THROW(space.define({0x1000, 4}), ConfigurationError);
  EXPECT_THROW(space.add_capability(1, 8), ConfigurationError);
}

// Whatever their lengths, capabilities are chained in order, DW aligned, and do not overlap.
TEST(ConfigSpace, StandardCapabilities) {
  for (unsigned odd = 0; odd < 4; ++odd) {
    ConfigSpace space;
    std::vector<std::pair<unsigned, unsigned>> places;
    for (unsigned i = 0; i < 5; ++i) {
      places.push_back({space.add_capability(0x10 + i, 8 + odd + i), 8 + odd + i});
    }
    EXPECT_TRUE(space.read(HeaderRegisters::status, 2) &
                HeaderRegisters::StatusBit::capabilities_list);
    unsigned offset = space.read(HeaderRegisters::capabilities_pointer, 1);
    unsigned end = 0x40;
    for (unsigned i = 0; i < 5; ++i) {
      EXPECT_EQ(offset, places[i].first);
      EXPECT_EQ(offset % 4, 0u);
      EXPECT_GE(offset, end);
      EXPECT_EQ(space.read(offset, 1), 0x10 + i);
      end = offset + places[i].second;
      offset = space.read(offset + 1, 1);
    }
    EXPECT_EQ(offset, 0u);
    EXPECT_LE(end, 0x100u);
    space.reset();
    EXPECT_EQ(space.read(HeaderRegisters::capabilities_pointer, 1), 0x40u);
  }
}

TEST(ConfigSpace, StandardCapabilitiesEndBefore0x100) {
  ConfigSpace space;
  space.add_capability(1, 0xbc);
  EXPECT_THROW(space.add_capability(2, 8), ConfigurationError);
  EXPECT_EQ(space.add_capability(2, 4), 0xfcu);
  EXPECT_THROW(space.add_capability(3, 2), ConfigurationError);
}

TEST(ConfigSpace, ExtendedCapabilities) {
  ConfigSpace space;
  EXPECT_EQ(space.read(ConfigSpace::first_extended_capability, 4), 0u) << "no extended capability";
  const unsigned serial = add_serial_number(space, 0x0123456789abcdef);
  EXPECT_EQ(serial, 0x100u);
  const unsigned second = space.add_extended_capability(0x0001, 2, 0x45);
  const unsigned third = space.add_extended_capability(0x000e, 1, 8);
  EXPECT_EQ(space.read(ConfigSpace::first_extended_capability, 4), 0x00010003u | second << 20);
  EXPECT_EQ(space.read(serial + SerialNumber::lower, 4), 0x89abcdefu);
  EXPECT_EQ(space.read(serial + SerialNumber::upper, 4), 0x01234567u);
  EXPECT_EQ(space.read(second, 4), 0x00020001u | third << 20);
  EXPECT_EQ(space.read(third, 4), 0x0001000eu);
  EXPECT_EQ(second % 4, 0u);
  EXPECT_EQ(third % 4, 0u);
  EXPECT_GE(second, 0x10cu);
  EXPECT_GE(third, second + 0x45);
  EXPECT_THROW(space.add_extended_capability(2, 1, 0xf00), ConfigurationError);
}

}  // namespace
}  // namespace pcie
