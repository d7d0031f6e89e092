// SPDX-License-Identifier: Apache-2.0
#include "firmware/services/crc64.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/firmware/crc64_reference.h"

namespace {

std::uint64_t reference(const std::string& bytes) {
  return crc64_reference(bytes.data(), bytes.size());
}

TEST(Crc64, ReferenceHasThePublishedCheckValue) {
  EXPECT_EQ(reference("123456789"), 0x995dc9bbdf1939fau);
}

TEST(Crc64, AgreesWithTheDefinition) {
  crc64_init();
  std::vector<std::uint64_t> words;
  std::string bytes;
  std::uint64_t word = 1;
  EXPECT_EQ(crc64_words(words.data(), 0), reference(""));
  for (unsigned count = 1; count <= 64; ++count) {
    word = word * 6364136223846793005 + 1442695040888963407;
    words.push_back(word);
    bytes.append(reinterpret_cast<const char*>(&word), 8);
    EXPECT_EQ(crc64_words(words.data(), words.size()), reference(bytes)) << count;
  }
}

TEST(Crc64, SeesEveryBit) {
  crc64_init();
  std::uint64_t words[7] = {};
  const std::uint64_t zero = crc64_words(words, 7);
  for (unsigned bit = 0; bit < 7 * 64; ++bit) {
    words[bit / 64] = std::uint64_t{1} << bit % 64;
    EXPECT_NE(crc64_words(words, 7), zero) << bit;
    words[bit / 64] = 0;
  }
}

}  // namespace
