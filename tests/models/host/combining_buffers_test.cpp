// SPDX-License-Identifier: Apache-2.0
#include "models/host/combining_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::uint64_t base = 0x40'0000'0000;

/// The value that byte n of the address space is written with.
std::uint8_t pattern(std::uint64_t address) {
  return static_cast<std::uint8_t>(address * 7 + 1);
}

struct CombiningBuffersTest : testing::Test {
  std::vector<std::pair<std::uint64_t, unsigned>> writes;  // address from `base`, bytes
  std::map<std::uint64_t, std::uint8_t> memory;

  CombiningBuffers make(unsigned count) {
    return {count, [this](std::uint64_t address, const std::uint8_t* data, unsigned bytes) {
              writes.emplace_back(address - base, bytes);
              for (unsigned i = 0; i < bytes; ++i) {
                EXPECT_EQ(data[i], pattern(address + i - base)) << "byte " << address + i - base;
                EXPECT_EQ(memory.count(address + i - base), 0u) << "written twice";
                memory[address + i - base] = data[i];
              }
            }};
  }
  static void store(CombiningBuffers& buffers, std::uint64_t offset, unsigned bytes) {
    std::uint8_t data[line_size];
    for (unsigned i = 0; i < bytes; ++i) data[i] = pattern(offset + i);
    buffers.store(base + offset, data, bytes);
  }
};

TEST_F(CombiningBuffersTest, FullLineIsOneWriteInAnyOrderAndSize) {
  for (const unsigned size : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
    for (const bool backwards : {false, true}) {
      CombiningBuffers buffers = make(1);
      for (unsigned i = 0; i < line_size / size; ++i) {
        EXPECT_THAT(writes, IsEmpty());
        store(buffers, 0x1c0 + size * (backwards ? line_size / size - 1 - i : i), size);
      }
      EXPECT_THAT(writes, ElementsAre(Pair(0x1c0, 64))) << size;
      EXPECT_TRUE(buffers.empty());
      writes.clear();
      memory.clear();
    }
  }
}

// Tries every run of bytes in a line. It is written in as few chunks of 8 bytes as possible, each
// by one write, and nothing else is written.
TEST_F(CombiningBuffersTest, PartOfALineIsWrittenInChunksOfEight) {
  for (unsigned offset = 0; offset < line_size; ++offset) {
    for (unsigned bytes = 1; bytes <= std::min(line_size - offset, line_size - 1); ++bytes) {
      CombiningBuffers buffers = make(1);
      store(buffers, offset, bytes);
      EXPECT_THAT(writes, IsEmpty());
      EXPECT_FALSE(buffers.empty());
      buffers.drain();
      EXPECT_TRUE(buffers.empty());
      std::vector<std::pair<std::uint64_t, unsigned>> expected;
      for (unsigned at = offset, size; at < offset + bytes; at += size) {
        size = std::min(8 - at % 8, offset + bytes - at);
        expected.emplace_back(at, size);
      }
      EXPECT_EQ(writes, expected) << offset << " " << bytes;
      EXPECT_EQ(memory.size(), bytes);
      writes.clear();
      memory.clear();
    }
  }
}

TEST_F(CombiningBuffersTest, GapsAreNotWritten) {
  CombiningBuffers buffers = make(1);
  for (const unsigned at : {0u, 3u, 5u, 7u, 9u, 10u, 63u}) store(buffers, at, 1);
  buffers.drain();
  EXPECT_THAT(writes,
              ElementsAre(Pair(0, 1), Pair(3, 1), Pair(5, 1), Pair(7, 1), Pair(9, 2), Pair(63, 1)));
}

TEST_F(CombiningBuffersTest, LaterStoreWins) {
  std::vector<std::uint8_t> seen;
  CombiningBuffers buffers(2, [&](std::uint64_t, const std::uint8_t* data, unsigned bytes) {
    seen.assign(data, data + bytes);
  });
  const std::uint8_t first[] = {1, 2, 3, 4}, second[] = {9, 8};
  buffers.store(base, first, 4);
  buffers.store(base + 1, second, 2);
  buffers.drain();
  EXPECT_THAT(seen, ElementsAre(1, 9, 8, 4));
}

TEST_F(CombiningBuffersTest, TheLineThatWasBegunFirstIsEvicted) {
  for (unsigned count = 1; count <= 12; ++count) {
    CombiningBuffers buffers = make(count);
    for (unsigned i = 0; i < count; ++i) store(buffers, 64 * i, 4);
    store(buffers, 4, 4);  // writes the first line again, which does not change its age
    EXPECT_THAT(writes, IsEmpty()) << count;
    store(buffers, 64 * count, 8);
    EXPECT_THAT(writes, ElementsAre(Pair(0, 8))) << count;
    writes.clear();
    buffers.drain();
    std::vector<std::pair<std::uint64_t, unsigned>> expected;
    for (unsigned i = 1; i < count; ++i) expected.emplace_back(64 * i, 4);
    expected.emplace_back(64 * count, 8);
    EXPECT_EQ(writes, expected) << "in the order they were begun";
    writes.clear();
    memory.clear();
  }
}

TEST_F(CombiningBuffersTest, EvictsOneLine) {
  CombiningBuffers buffers = make(3);
  for (unsigned i = 0; i < 3; ++i) store(buffers, 64 * i, 8);
  buffers.evict(base + 64 + 63);
  EXPECT_THAT(writes, ElementsAre(Pair(64, 8)));
  buffers.evict(base + 64);
  buffers.evict(base + 0x1000);
  EXPECT_EQ(writes.size(), 1u);
  buffers.drain();
  EXPECT_THAT(writes, ElementsAre(Pair(64, 8), Pair(0, 8), Pair(128, 8)));
}

TEST_F(CombiningBuffersTest, ClearingDropsEverything) {
  CombiningBuffers buffers = make(2);
  store(buffers, 0, 8);
  buffers.clear();
  EXPECT_TRUE(buffers.empty());
  store(buffers, 8, 8);
  buffers.drain();
  EXPECT_THAT(writes, ElementsAre(Pair(8, 8)));
}

}  // namespace
}  // namespace host
