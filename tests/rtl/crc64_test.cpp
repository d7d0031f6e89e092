// SPDX-License-Identifier: Apache-2.0
#include <Voae_crc64.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/rtl/slot.h"

namespace {

// The CRC network, verilated for nine bytes.
std::uint64_t hardware(const char (&text)[10], bool enable = true) {
  static VerilatedContext context;
  static Voae_crc64 crc{&context};
  std::memset(&crc.data, 0, sizeof crc.data);
  std::memcpy(crc.data.data(), text, 9);
  crc.enable = enable;
  crc.eval();
  return crc.crc;
}

TEST(Crc64, CheckValueOfItsCatalogueEntry) {
  EXPECT_EQ(crc64("123456789", 9), 0x995d'c9bb'df19'39fa);
  EXPECT_EQ(hardware("123456789"), 0x995d'c9bb'df19'39fa);
}

TEST(Crc64, EveryBitCounts) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    char text[10] = {};
    const std::uint64_t word = random();
    std::memcpy(text, &word, 8);
    text[8] = static_cast<char>(random());
    EXPECT_EQ(hardware(text), crc64(text, 9));
    if (i < 72) {
      const std::uint64_t before = hardware(text);
      text[i / 8] ^= static_cast<char>(1 << i % 8);
      EXPECT_NE(hardware(text), before);
    }
  }
}

TEST(Crc64, IsStillWhileNotEnabled) {
  EXPECT_EQ(hardware("123456789", false), 0u);
}

}  // namespace
