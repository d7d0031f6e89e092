// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/address_map.h"

#include <gtest/gtest.h>

namespace ipu {
namespace {

constexpr std::uint64_t top = ~std::uint64_t{0};

TEST(AddressMap, FindsRangesThatLieCompletelyInARegion) {
  AddressMap map;
  map.add(0x3000, 0x1000, 2);
  map.add(0x1000, 0x1000, 1);
  map.add(0x2000, 0x1000, 7);
  for (std::uint64_t base : {0x1000u, 0x2000u, 0x3000u}) {
    const unsigned port = base == 0x1000 ? 1 : base == 0x2000 ? 7 : 2;
    for (std::uint64_t offset : {0x0u, 0x1u, 0x7ffu, 0xff8u, 0xfffu}) {
      for (std::uint64_t length : {0u, 1u, 2u, 8u, 0x801u, 0x1000u, 0x1001u}) {
        const auto* region = map.find(base + offset, length);
        if (offset + std::max<std::uint64_t>(length, 1) <= 0x1000) {
          ASSERT_NE(region, nullptr) << base << "+" << offset << ", " << length;
          EXPECT_EQ(region->port, port);
          EXPECT_EQ(region->base, base);
        } else {
          EXPECT_EQ(region, nullptr) << base << "+" << offset << ", " << length;
        }
      }
    }
  }
  EXPECT_EQ(map.find(0, 1), nullptr);
  EXPECT_EQ(map.find(0xfff, 1), nullptr);
  EXPECT_EQ(map.find(0x4000, 1), nullptr);
  EXPECT_EQ(map.find(0x1fff, top), nullptr) << "a length that wraps";
}

TEST(AddressMap, ReachesTheLastByteOfTheAddressSpace) {
  AddressMap map;
  map.add(top - 0xfff, 0x1000, 0);
  EXPECT_NE(map.find(top, 1), nullptr);
  EXPECT_EQ(map.find(top, 2), nullptr);
  AddressMap whole;
  whole.add(0, top, 0);
  EXPECT_NE(whole.find(0, top), nullptr);
  EXPECT_EQ(whole.find(top, 1), nullptr);
}

TEST(AddressMap, RefusesMistakes) {
  AddressMap map;
  map.add(0x1000, 0x1000, 0);
  EXPECT_THROW(map.add(0x5000, 0, 1), MapMistake);
  EXPECT_THROW(map.add(top, 2, 1), MapMistake);
  EXPECT_THROW(map.add(0x1000, 0x1000, 1), MapMistake);
  EXPECT_THROW(map.add(0x0fff, 2, 1), MapMistake);
  EXPECT_THROW(map.add(0x1fff, 1, 1), MapMistake);
  EXPECT_THROW(map.add(0x0, 0x10000, 1), MapMistake);
  EXPECT_THROW(map.add(0x1800, 1, 1), MapMistake);
  map.add(0x0, 0x1000, 1);
  map.add(0x2000, 0x1000, 1);
}

}  // namespace
}  // namespace ipu
