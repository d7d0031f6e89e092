// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/sr_iov.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr std::uint64_t KiB = 1024;

SrIovConfig config() {
  SrIovConfig config;
  config.functions = 8;
  config.device = 0x0ae1;
  config.bars = {BarConfig::prefetchable_64(0, 16 * KiB), BarConfig::memory_32(2, 128)};
  config.number = 1;
  config.first_offset = 3;
  config.first_offset_without_ari = 255;
  return config;
}

TEST(SrIov, EveryByte) {
  struct {
    unsigned offset;
    std::uint32_t reset;
    std::uint32_t writable;
    std::uint32_t kept = 0;  // by a function level reset
  } const dwords[] = {
      {0x04, 0x00000002, 0},      // ARI Capable Hierarchy Preserved
      {0x08, 0, 0x0019, 0x0010},  // VF enable, memory space, ARI
      {0x0c, 0x00080008, 0},      // TotalVFs, InitialVFs
      {0x10, 0x00010000, 0},      // itself; more than 8 functions are not taken
      {0x14, 0x000100ff, 0},      // stride, offset
      {0x18, 0x0ae10000, 0},
      {0x1c, 0x00000553, 0},
      {0x20, 0x00000001, 0},  // all ones is no page size
      {0x24, 0x0000000c, 0xffffc000},
      {0x28, 0, 0xffffffff},
      {0x2c, 0, 0xfffff000},  // a page at least
      {0x30, 0, 0},
      {0x34, 0, 0},
      {0x38, 0, 0},
      {0x3c, 0, 0},
  };
  for (const auto& dword : dwords) {
    ConfigSpace space;
    SrIov sr_iov(space, config(), nullptr);
    EXPECT_EQ(space.read(sr_iov.offset(), 4), 0x00010010u);
    const unsigned at = sr_iov.offset() + dword.offset;
    EXPECT_EQ(space.read(at, 4), dword.reset) << std::hex << dword.offset;
    space.write(at, 4, ~0u);
    EXPECT_EQ(space.read(at, 4), dword.reset | dword.writable) << std::hex << dword.offset;
    space.reset(Reset::function);
    EXPECT_EQ(space.read(at, 4), dword.reset | dword.kept) << std::hex << dword.offset;
    space.reset(Reset::hot);
    EXPECT_EQ(space.read(at, 4), dword.reset) << std::hex << dword.offset;
  }
}

TEST(SrIov, NumVfsCountsWhileEnabled) {
  for (unsigned number = 0; number <= 10; ++number) {
    ConfigSpace space;
    SrIov sr_iov(space, config(), nullptr);
    const unsigned at = sr_iov.offset();
    space.write(at + SrIov::num_vfs, 2, 2);
    space.write(at + SrIov::num_vfs, 2, number);
    EXPECT_EQ(space.read(at + SrIov::num_vfs, 2), number <= 8 ? number : 2);
    EXPECT_EQ(sr_iov.count(), 0u);
    space.write(at + SrIov::control, 2, SrIov::ControlBit::vf_enable);
    EXPECT_EQ(sr_iov.count(), number <= 8 ? number : 2);
    const unsigned before = sr_iov.count();
    space.write(at + SrIov::num_vfs, 2, 5);
    EXPECT_EQ(sr_iov.count(), before) << "not while enabled";
    space.write(at + SrIov::control, 2, 0);
    space.write(at + SrIov::num_vfs, 2, 5);
    EXPECT_EQ(space.read(at + SrIov::num_vfs, 2), 5u);
  }
}

TEST(SrIov, IdsFollowOffsetAndAri) {
  ConfigSpace space;
  SrIov sr_iov(space, config(), nullptr);
  const unsigned at = sr_iov.offset();
  const Id physical = 0x0101;
  space.write(at + SrIov::num_vfs, 2, 8);
  for (const bool ari : {false, true, false}) {
    space.write(at + SrIov::control, 2, 0);
    space.write(at + SrIov::control, 2, ari ? SrIov::ControlBit::ari_capable : 0);
    EXPECT_EQ(space.read(at + SrIov::first_vf_offset, 2), ari ? 3u : 255u);
    space.write(at + SrIov::control, 2,
                ari ? SrIov::ControlBit::vf_enable | SrIov::ControlBit::ari_capable
                    : SrIov::ControlBit::vf_enable);
    const Id first = ari ? 0x0104 : 0x0200;
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(sr_iov.id_of(physical, i), first + i);
      EXPECT_EQ(sr_iov.index_of(physical, first + i), i);
    }
    for (const unsigned id : {first + 8u, first - 1u, 0u, 0x101u, 0x100u, 0xffffu}) {
      EXPECT_EQ(sr_iov.index_of(physical, id), 8u) << id;
    }
    space.write(at + SrIov::control, 2,
                ari ? SrIov::ControlBit::vf_enable
                    : SrIov::ControlBit::vf_enable | SrIov::ControlBit::ari_capable);
    EXPECT_EQ(space.read(at + SrIov::first_vf_offset, 2), ari ? 3u : 255u) << "not while enabled";
  }
}

TEST(SrIov, TheLowestFunctionEnablesAriForTheOthers) {
  ConfigSpace low, high;
  SrIov lowest(low, config(), nullptr);
  SrIovConfig second = config();
  second.first_offset = 10;
  second.first_offset_without_ari = 262;
  SrIov other(high, second, &lowest);
  high.write(other.offset() + SrIov::control, 2, SrIov::ControlBit::ari_capable);
  EXPECT_EQ(high.read(other.offset() + SrIov::control, 2), 0u) << "read-only here";
  EXPECT_EQ(high.read(other.offset() + SrIov::first_vf_offset, 2), 262u);
  low.write(lowest.offset() + SrIov::control, 2, SrIov::ControlBit::ari_capable);
  EXPECT_EQ(high.read(other.offset() + SrIov::first_vf_offset, 2), 10u);
  low.write(lowest.offset() + SrIov::control, 2, 0);
  EXPECT_EQ(high.read(other.offset() + SrIov::first_vf_offset, 2), 262u);
}

TEST(SrIov, PageSizesAreThoseThatAreSupported) {
  ConfigSpace space;
  SrIov sr_iov(space, config(), nullptr);
  const unsigned at = sr_iov.offset();
  std::uint32_t expected = 1;
  for (unsigned bit = 0; bit < 32; ++bit) {
    space.write(at + SrIov::system_page_size, 4, 1u << bit);
    if (0x553u >> bit & 1) expected = 1u << bit;
    EXPECT_EQ(space.read(at + SrIov::system_page_size, 4), expected);
    for (const std::uint32_t several : {0u, 3u, 0x553u}) {
      space.write(at + SrIov::system_page_size, 4, several);
      EXPECT_EQ(space.read(at + SrIov::system_page_size, 4), expected);
    }
    // Sizing shows what a function takes.
    const std::uint64_t page = std::uint64_t{expected} << 12;
    space.write(at + SrIov::vf_bar, 4, ~0u);
    space.write(at + SrIov::vf_bar + 8, 4, ~0u);
    EXPECT_EQ(space.read(at + SrIov::vf_bar, 4),
              static_cast<std::uint32_t>(0 - std::max(16 * KiB, page)) | 0xc);
    EXPECT_EQ(space.read(at + SrIov::vf_bar + 8, 4), static_cast<std::uint32_t>(0 - page));
  }
  space.write(at + SrIov::control, 2, SrIov::ControlBit::vf_enable);
  space.write(at + SrIov::system_page_size, 4, 1);
  EXPECT_EQ(space.read(at + SrIov::system_page_size, 4), 1u << 10) << "not while enabled";
}

TEST(SrIov, BarsFollowOneAnother) {
  ConfigSpace space;
  SrIov sr_iov(space, config(), nullptr);
  const unsigned at = sr_iov.offset();
  space.write(at + SrIov::vf_bar, 4, 0x10000000);
  space.write(at + SrIov::vf_bar + 4, 4, 0x40);
  space.write(at + SrIov::vf_bar + 8, 4, 0xc0000000);
  space.write(at + SrIov::num_vfs, 2, 3);
  for (const std::uint32_t page : {1u, 1u << 4}) {  // 4 and 64 KiB
    space.write(at + SrIov::control, 2, 0);
    space.write(at + SrIov::system_page_size, 4, page);
    space.write(at + SrIov::control, 2, SrIov::ControlBit::vf_enable);
    EXPECT_EQ(sr_iov.index_at(0xc0000000), 3u) << "memory space is off";
    space.write(at + SrIov::control, 2,
                SrIov::ControlBit::vf_enable | SrIov::ControlBit::vf_memory_space);
    const std::uint64_t large = page == 1 ? 16 * KiB : 64 * KiB;
    const std::uint64_t small = page == 1 ? 4 * KiB : 64 * KiB;
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_EQ(sr_iov.bar_address(sr_iov.bars()[0], i), 0x4010000000 + i * large);
      EXPECT_EQ(sr_iov.bar_address(sr_iov.bars()[1], i), 0xc0000000 + i * small);
      EXPECT_EQ(sr_iov.index_at(0x4010000000 + i * large), i);
      EXPECT_EQ(sr_iov.index_at(0x4010000000 + (i + 1) * large - 1), i);
      EXPECT_EQ(sr_iov.index_at(0xc0000000 + (i + 1) * small - 1), i);
    }
    EXPECT_EQ(sr_iov.index_at(0x4010000000 - 1), 3u);
    EXPECT_EQ(sr_iov.index_at(0x4010000000 + 3 * large), 3u);
    EXPECT_EQ(sr_iov.index_at(0xc0000000 - 1), 3u);
    EXPECT_EQ(sr_iov.index_at(0xc0000000 + 3 * small), 3u);
  }
}

TEST(SrIov, ImpossibleValues) {
  SrIovConfig none = config(), many = config(), bar = config();
  none.functions = 0;
  many.functions = 0x10000;
  bar.bars[0].size = 100;
  ConfigSpace a, b, c;
  EXPECT_THROW(SrIov(a, none, nullptr), ConfigurationError);
  EXPECT_THROW(SrIov(b, many, nullptr), ConfigurationError);
  EXPECT_THROW(SrIov(c, bar, nullptr), ConfigurationError);
}

}  // namespace
}  // namespace pcie
