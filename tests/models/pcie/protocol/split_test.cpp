// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/split.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/pcie/protocol/outstanding.h"

namespace pcie {
namespace {

// Lengths and offsets around every boundary that matters.
std::vector<unsigned> around(std::initializer_list<unsigned> boundaries) {
  std::vector<unsigned> values;
  for (const unsigned boundary : boundaries) {
    for (int delta = -5; delta <= 5; ++delta) {
      const int value = static_cast<int>(boundary) + delta;
      if (value >= 0) values.push_back(value);
    }
  }
  return values;
}

TEST(Split, RequestsKeepToBoundaryAnd4KiB) {
  for (unsigned boundary = 128; boundary <= 4096; boundary *= 2) {
    for (const unsigned offset : around({0, 64, 128, 256, 4096 - 128, 4096})) {
      for (const unsigned length : around({1, 4, 64, 128, 256, 512, 4096})) {
        if (length == 0 || length > 4096) continue;
        std::uint64_t address = 0x10000 + offset;
        unsigned left = length;
        unsigned count = 0;
        while (left > 0) {
          const unsigned piece = request_piece(address, left, boundary);
          ASSERT_GE(piece, 1u);
          ASSERT_LE(piece, left);
          ASSERT_LE(address % 4096 + piece, 4096u);
          ASSERT_LE((address % 4 + piece + 3) / 4 * 4, boundary);
          address += piece;
          left -= piece;
          ++count;
        }
        ASSERT_LE(count, length / boundary + 2);
      }
    }
  }
}

// Any read, split into completions and put together again, gives the same bytes; and every
// completion keeps to MPS, to RCB, and to what 2.3.1.1 says of byte count and lower address.
TEST(Split, CompletionsOfAnyReadComeBackWhole) {
  std::vector<std::uint8_t> memory(8192);
  for (unsigned i = 0; i < memory.size(); ++i) memory[i] = i * 31 >> 2;
  for (const unsigned boundary : {64u, 128u}) {
    for (unsigned payload = 128; payload <= 4096; payload *= 2) {
      for (const unsigned offset : around({0, 64, 128, 256, 1024, 4096 - 64})) {
        for (const unsigned length : around({1, 64, 128, 256, 512, 4096})) {
          if (length == 0 || offset + length > 4096) continue;
          Outstanding<int> outstanding;
          const TlpPtr read = Tlp::memory_read(offset, length);
          read->header.requester = make_id(1, 0, 0);
          std::vector<std::uint8_t> into(length + 2, 0xee);
          outstanding.start(*read, {0, 32}, into.data() + 1);
          std::memcpy(read->data(), &memory[offset & ~3u], 4u * read->header.length);
          unsigned position = offset;
          unsigned finished = 0;
          complete_read(*read, make_id(0, 1, 0), {payload, boundary}, [&](TlpPtr completion) {
            const TlpHeader& header = completion->header;
            ASSERT_TRUE(well_formed(*completion, payload));
            ASSERT_EQ(header.byte_count, offset + length - position);
            ASSERT_EQ(header.lower_address, position & 0x7f);
            const unsigned bytes =
                std::min<unsigned>(4u * header.length - position % 4, header.byte_count);
            position += bytes;
            ASSERT_TRUE(position == offset + length || position % boundary == 0);
            const auto outcome = outstanding.complete(*completion);
            ASSERT_TRUE(outcome.expected);
            if (outcome.finished != nullptr) ++finished;
          });
          ASSERT_EQ(finished, 1u);
          ASSERT_EQ(position, offset + length);
          ASSERT_EQ(into.front(), 0xee);
          ASSERT_EQ(into.back(), 0xee);
          ASSERT_TRUE(std::equal(into.begin() + 1, into.end() - 1, memory.begin() + offset));
        }
      }
    }
  }
}

TEST(Split, ReadOfNothingIsCompletedWithOneDw) {
  const TlpPtr read = Tlp::memory_read(0x1000, 4);
  read->header.first_be = 0;
  unsigned count = 0;
  complete_read(*read, 0, {128, 64}, [&](TlpPtr completion) {
    ++count;
    EXPECT_EQ(completion->header.length, 1);
    EXPECT_EQ(completion->header.byte_count, 1);
  });
  EXPECT_EQ(count, 1u);
}

}  // namespace
}  // namespace pcie
