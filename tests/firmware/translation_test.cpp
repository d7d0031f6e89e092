// SPDX-License-Identifier: Apache-2.0
#include "firmware/base/translation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr std::uint64_t read_only = 1ull << 7, pxn = 1ull << 53, uxn = 1ull << 54,
                        accessed = 1ull << 10;

struct TranslationTest : testing::Test {
  alignas(4096) std::uint64_t pages[6][TRANSLATION_ENTRIES] = {};
  translation tables;

  TranslationTest() { translation_init(&tables, pages, 6); }

  struct Leaf {
    std::uint64_t address;  // the address at which the walk ends
    std::uint64_t descriptor;
    unsigned level;
  };
  /// Walks the tables as a core does (Arm DDI 0487, D8.3): level 1 uses bits 38 to 30, and so on.
  std::optional<Leaf> walk(std::uint64_t address) const {
    const std::uint64_t* table = pages[0];
    for (unsigned level = 1; level <= 3; ++level) {
      const unsigned shift = 39 - 9 * level;
      const std::uint64_t entry = table[address >> shift & 511];
      if (!(entry & 1)) return std::nullopt;
      const bool bit1 = entry & 2;
      const std::uint64_t output = entry & 0x0000fffffffff000;
      if (level == 3 ? bit1 : !bit1) {
        const std::uint64_t within = (1ull << shift) - 1;
        EXPECT_EQ(output & within, 0u) << "a block must be aligned";
        return Leaf{output | (address & within), entry, level};
      }
      if (level == 3) return std::nullopt;  // reserved
      table = reinterpret_cast<const std::uint64_t*>(output);
    }
    return std::nullopt;
  }
  void expect_mapped(std::uint64_t base, std::uint64_t size) const {
    for (std::uint64_t address :
         {base, base + 1, base + size / 2, base + size - 4 * KiB, base + size - 1}) {
      const auto leaf = walk(address);
      ASSERT_TRUE(leaf) << std::hex << address;
      EXPECT_EQ(leaf->address, address);
      EXPECT_TRUE(leaf->descriptor & accessed);
    }
  }
};

TEST_F(TranslationTest, MapsToTheSameAddressAndNothingElse) {
  const std::pair<std::uint64_t, std::uint64_t> regions[] = {
      {0x0800'0000, 4 * MiB},
      {0x8000'0000, 4 * KiB},
      {0x8000'1000, 2 * MiB - 4 * KiB},
      {0x8020'0000, 126 * MiB + 12 * KiB},
      {4 * GiB, 2 * GiB},
      {512 * GiB - 2 * MiB, 2 * MiB},
  };
  for (auto [base, size] : regions) {
    ASSERT_TRUE(translation_map(&tables, base, size, TRANSLATION_KIND_DATA)) << std::hex << base;
  }
  for (auto [base, size] : regions) expect_mapped(base, size);
  for (std::uint64_t address :
       {std::uint64_t{0}, 0x07ff'ffff * 1ul, 0x0840'0000 * 1ul, 0x7fff'ffff * 1ul,
        0x8020'0000 + 126 * MiB + 12 * KiB, 4 * GiB - 1, 6 * GiB, 512 * GiB - 2 * MiB - 1}) {
    EXPECT_FALSE(walk(address)) << std::hex << address;
  }
}

TEST_F(TranslationTest, UsesTheLargestBlocks) {
  ASSERT_TRUE(translation_map(&tables, GiB - 2 * MiB - 4 * KiB, 2 * GiB, TRANSLATION_KIND_DATA));
  EXPECT_EQ(walk(GiB - 2 * MiB - 1)->level, 3u);
  EXPECT_EQ(walk(GiB - 2 * MiB)->level, 2u);
  EXPECT_EQ(walk(GiB)->level, 1u);
  EXPECT_EQ(walk(2 * GiB)->level, 2u);
  EXPECT_EQ(walk(3 * GiB - 2 * MiB - 4 * KiB - 1)->level, 3u);
  EXPECT_FALSE(walk(3 * GiB - 2 * MiB - 4 * KiB));
}

TEST_F(TranslationTest, GivesEachKindItsRights) {
  enum : unsigned { writable = 1, executable = 2, device = 4 };
  const struct {
    translation_kind kind;
    unsigned rights;
  } kinds[] = {{TRANSLATION_KIND_DEVICE, writable | device},
               {TRANSLATION_KIND_TEXT, executable},
               {TRANSLATION_KIND_CONSTANTS, 0},
               {TRANSLATION_KIND_DATA, writable}};
  std::uint64_t address = 0;
  for (const auto& expected : kinds) {
    ASSERT_TRUE(translation_map(&tables, address, 2 * MiB, expected.kind));
    const std::uint64_t descriptor = walk(address)->descriptor;
    EXPECT_EQ(!(descriptor & read_only), (expected.rights & writable) != 0);
    EXPECT_EQ(!(descriptor & pxn), (expected.rights & executable) != 0);
    EXPECT_TRUE(descriptor & uxn);
    EXPECT_EQ((descriptor >> 2 & 7) == TRANSLATION_DEVICE, (expected.rights & device) != 0);
    address += 2 * MiB;
  }
}

TEST_F(TranslationTest, RefusesWhatItCannotMap) {
  const auto map = [&](std::uint64_t base, std::uint64_t size) {
    return translation_map(&tables, base, size, TRANSLATION_KIND_DATA);
  };
  EXPECT_FALSE(map(1, 4 * KiB));
  EXPECT_FALSE(map(0, 4 * KiB + 1));
  EXPECT_FALSE(map(512 * GiB, 4 * KiB));
  EXPECT_FALSE(map(511 * GiB, 2 * GiB));
  EXPECT_FALSE(map(~std::uint64_t{0xfff}, 4 * KiB));
  EXPECT_TRUE(map(0, 0));
  EXPECT_EQ(tables.used, 1u);
  EXPECT_TRUE(map(512 * GiB - 4 * KiB, 4 * KiB));
  EXPECT_TRUE(map(GiB, GiB));
  EXPECT_FALSE(map(GiB, GiB)) << "mapped";
  EXPECT_FALSE(map(GiB + 4 * KiB, 4 * KiB)) << "within a block";
  EXPECT_FALSE(map(511 * GiB, GiB)) << "over a table";
}

TEST_F(TranslationTest, RunsOutOfPages) {
  for (std::uint64_t i = 0; i < 5; ++i) {
    const bool fits = translation_map(&tables, i * GiB, 4 * KiB, TRANSLATION_KIND_DATA);
    EXPECT_EQ(fits, i < 2) << "two tables each, of five";
  }
}

}  // namespace
