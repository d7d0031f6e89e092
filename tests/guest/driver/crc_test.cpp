// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "tests/guest/driver/block.h"

extern "C" {
#include "guest/driver/oae_crc.h"
}

namespace guest_test {
namespace {

std::uint64_t crc(const Slot& slot) {
  __u64 words[8];
  for (int i = 0; i < 8; ++i) words[i] = slot[i];
  return oae_crc(words);
}

class Crc : public testing::Test {
 protected:
  void SetUp() override { oae_crc_init(); }
};

TEST_F(Crc, ReferenceHasTheCheckValueOfTheCatalogue) {
  constexpr std::string_view text = "123456789";
  EXPECT_EQ(crc64_xz(text.data(), text.size()), 0x995dc9bbdf1939fau);
}

TEST_F(Crc, EachBitCountsAsInTheReference) {
  for (int bit = 0; bit < 448; ++bit) {
    Slot slot{};
    slot[bit / 64] = std::uint64_t{1} << bit % 64;
    ASSERT_EQ(crc(slot), crc64_xz(slot.data(), 56)) << "bit " << bit;
  }
  EXPECT_EQ(crc({}), crc64_xz(Slot{}.data(), 56));
}

TEST_F(Crc, CombinationsOfBits) {
  std::uint64_t random = 1;
  for (int i = 0; i < 1000; ++i) {
    Slot slot;
    for (auto& slice : slot) slice = random = random * 6364136223846793005u + 1442695040888963407u;
    ASSERT_EQ(crc(slot), crc64_xz(slot.data(), 56)) << i;
  }
}

TEST_F(Crc, SliceSevenDoesNotCount) {
  Slot slot{1, 2, 3, 4, 5, 6, 7, 0}, other = slot;
  other[7] = ~std::uint64_t{0};
  EXPECT_EQ(crc(slot), crc(other));
}

}  // namespace
}  // namespace guest_test
