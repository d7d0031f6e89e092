// SPDX-License-Identifier: Apache-2.0
// PRP entries and PRP lists (NVMe 1.4, 4.3).
#include "models/nvme/data_pointer.h"

#include <gtest/gtest.h>

#include <map>

namespace nvme {
namespace {

using Next = DataPointer::Next;

/// Host memory that holds lists, as 8-byte entries by address.
struct Lists {
  std::map<std::uint64_t, std::uint64_t> entries;
  unsigned reads = 0;

  /// Follows the lists to their end.
  Next follow(DataPointer& pointer, Next next) {
    while (next == Next::list) {
      const unsigned bytes = pointer.list_bytes();
      EXPECT_GE(bytes, 8u);
      EXPECT_LE(bytes, 4096u);
      std::vector<std::uint64_t> part(bytes / 8);
      for (std::size_t i = 0; i < part.size(); ++i) {
        part[i] = entries[pointer.list_address() + 8 * i];
      }
      if (++reads > 10'000) return Next::invalid;
      next = pointer.add(reinterpret_cast<const std::uint8_t*>(part.data()));
    }
    return next;
  }
};

TEST(DataPointer, OneOrTwoPagesNeedNoList) {
  DataPointer pointer;
  struct Case {
    std::uint64_t offset;
    unsigned bytes, first, second;
  };
  for (const Case& one :
       {Case{0, 1, 1, 0}, Case{0, 4096, 4096, 0}, Case{4, 4092, 4092, 0}, Case{4, 4093, 4092, 1},
        Case{4092, 4, 4, 0}, Case{4092, 5, 4, 1}, Case{0, 4097, 4096, 1}, Case{0, 8192, 4096, 4096},
        Case{2048, 6144, 2048, 4096}}) {
    EXPECT_EQ(pointer.start(0x7000 + one.offset, 0x9000, one.bytes, 4096), Next::complete);
    ASSERT_EQ(pointer.segments().size(), one.second == 0 ? 1u : 2u) << one.bytes;
    EXPECT_EQ(pointer.segments()[0].address, 0x7000 + one.offset);
    EXPECT_EQ(pointer.segments()[0].bytes, one.first);
    if (one.second == 0) continue;
    EXPECT_EQ(pointer.segments()[1].address, 0x9000u);
    EXPECT_EQ(pointer.segments()[1].bytes, one.second);
  }
}

TEST(DataPointer, OffsetsThatMustNotBe) {
  DataPointer pointer;
  for (const std::uint64_t offset : {1u, 2u, 3u, 5u}) {
    EXPECT_EQ(pointer.start(0x7000 + offset, 0, 8, 4096), Next::invalid) << offset;
  }
  EXPECT_EQ(pointer.start(0x7000, 0x9004, 8192, 4096), Next::invalid) << "the second page";
  EXPECT_EQ(pointer.start(0x7000, 0x9004, 4096, 4096), Next::complete) << "it is not used";
  EXPECT_EQ(pointer.start(0x7000, 0x9004, 8193, 4096), Next::invalid) << "a list";
  EXPECT_EQ(pointer.start(0x7000, 0x9008, 8193, 4096), Next::list);
  Lists lists;
  lists.entries = {{0x9008, 0xa000}, {0x9010, 0xb200}};
  EXPECT_EQ(lists.follow(pointer, Next::list), Next::invalid) << "an entry of a list";
  // The last entry of a page leads to another list, which begins at a page.
  EXPECT_EQ(pointer.start(0x7000, 0x9ff0, 5 * 4096, 4096), Next::list);
  lists.entries = {{0x9ff0, 0xa000}, {0x9ff8, 0xc008}};
  EXPECT_EQ(lists.follow(pointer, Next::list), Next::invalid) << "a link";
}

// Every length around each boundary, for a list at every place of its page that matters.
TEST(DataPointer, ListsOfEveryLengthLinkAtTheEndOfAPage) {
  for (const unsigned page : {4096u, 8192u, 65536u}) {
    const unsigned most = page / 8;
    for (const unsigned room : {1u, 2u, 3u, most - 1, most}) {
      for (const std::uint64_t offset : {0u, 4u, 2048u}) {
        for (const unsigned pages : {2u, 3u, room, room + 1, room + 2, most + room, 2 * most + 3}) {
          if (pages < 2) continue;
          Lists lists;
          const std::uint64_t bytes = (page - offset) + std::uint64_t{page} * (pages - 1) + 1;
          // `pages` entries follow PRP 1: full pages, and one with a single byte.
          std::vector<std::uint64_t> data;
          std::uint64_t list = 0x10'0000'0000 + page - 8 * room, next_list = 0x20'0000'0000;
          for (unsigned i = 0; i < pages; ++i) {
            if (list % page == page - 8 && i + 1 < pages) {
              lists.entries[list] = next_list;
              list = next_list;
              next_list += 0x1'0000'0000;
            }
            data.push_back(0x1000'0000ull + std::uint64_t{page} * 3 * i);
            lists.entries[list] = data.back();
            list += 8;
          }
          DataPointer pointer;
          const Next next =
              pointer.start(0x5000'0000 + offset, 0x10'0000'0000 + page - 8 * room, bytes, page);
          ASSERT_EQ(next, Next::list);
          ASSERT_EQ(lists.follow(pointer, next), Next::complete)
              << page << ' ' << room << ' ' << pages;
          ASSERT_EQ(pointer.segments().size(), pages + 1);
          EXPECT_EQ(pointer.segments()[0].bytes, page - offset);
          for (unsigned i = 0; i < pages; ++i) {
            EXPECT_EQ(pointer.segments()[i + 1].address, data[i]);
            EXPECT_EQ(pointer.segments()[i + 1].bytes, i + 1 < pages ? page : 1);
          }
        }
      }
    }
  }
}

// A list that leads to itself ends when there is memory for all of the data.
TEST(DataPointer, ACircleOfListsEnds) {
  DataPointer pointer;
  Lists lists;
  for (unsigned i = 0; i < 511; ++i) lists.entries[0x9000 + 8 * i] = 0xa000;
  lists.entries[0x9ff8] = 0x9000;
  const Next next = pointer.start(0x7000, 0x9ff8, 8u << 20, 4096);
  EXPECT_EQ(lists.follow(pointer, next), Next::complete);
  EXPECT_LT(lists.reads, 10u);
}

}  // namespace
}  // namespace nvme
