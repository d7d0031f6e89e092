// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/storage/overlay.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>

#include "tests/in_child.h"

namespace nvme {
namespace {

Overlay::Page page_of(unsigned seed) {
  Overlay::Page page;
  for (std::size_t i = 0; i < page.size(); ++i) {
    page[i] = static_cast<std::uint8_t>((i + seed) * 2654435761u >> 11);
  }
  return page;
}

// The first byte of a page, -1 if the overlay does not have it, or -2 if it is damaged.
int look(const Overlay& overlay, std::uint64_t page, unsigned seed) {
  Overlay::Page found;
  if (!overlay.read(page, found.data())) return -1;
  return found == page_of(seed) ? 1 : found == Overlay::Page{} ? 0 : -2;
}

// Against a map, with pages in memory, in a file and cleared, in any order.
TEST(Overlay, IsWhatWasWrittenLast) {
  for (const std::uint64_t pages_in_memory : {0u, 3u, 1000u}) {
    Overlay overlay(pages_in_memory * Overlay::page_size, "");
    std::map<std::uint64_t, unsigned> expected;  // 0 for zeros
    std::mt19937 random(7);
    for (unsigned step = 1; step < 2000; ++step) {
      const std::uint64_t page = random() % 40;
      switch (random() % 4) {
        case 0: {
          const std::uint64_t end = page + random() % 6;
          overlay.clear(page, end);
          for (std::uint64_t at = page; at < end; ++at) expected[at] = 0;
          break;
        }
        case 1:
          overlay.write(page, Overlay::Page{}.data());
          expected[page] = 0;
          break;
        default:
          overlay.write(page, page_of(step).data());
          expected[page] = step;
      }
      EXPECT_LE(overlay.bytes_in_memory(), pages_in_memory * Overlay::page_size);
    }
    for (std::uint64_t page = 0; page < 50; ++page) {
      const auto found = expected.find(page);
      const int now = look(overlay, page, found == expected.end() ? 0 : found->second);
      EXPECT_EQ(now, found == expected.end() ? -1 : found->second == 0 ? 0 : 1) << page;
    }
    EXPECT_EQ(overlay.spilled() > 0, pages_in_memory < 1000);
  }
}

TEST(Overlay, ZerosTakeNoMemory) {
  Overlay overlay(10 * Overlay::page_size, "");
  overlay.write(5, page_of(1).data());
  EXPECT_EQ(overlay.bytes_in_memory(), Overlay::page_size);
  overlay.write(5, Overlay::Page{}.data());
  EXPECT_EQ(overlay.bytes_in_memory(), 0u);
  overlay.clear(0, std::uint64_t{1} << 40);
  EXPECT_EQ(overlay.bytes_in_memory(), 0u);
  EXPECT_EQ(look(overlay, (std::uint64_t{1} << 40) - 1, 0), 0);
  EXPECT_EQ(look(overlay, std::uint64_t{1} << 40, 0), -1);
}

// After a fork, neither process changes a page of the other, in whatever order they write.
TEST(Overlay, AForkedProcessHasItsOwn) {
  for (const bool parent_first : {true, false}) {
    Overlay overlay(2 * Overlay::page_size, "");
    for (unsigned page = 0; page < 6; ++page) overlay.write(page, page_of(page + 1).data());
    // The parent of in_child() waits, so a second child plays the one that goes on.
    const auto change = [&overlay](unsigned seed) {
      for (unsigned page = 0; page < 6; page += 2) overlay.write(page, page_of(seed + page).data());
      overlay.clear(1, 2);
      overlay.write(7, page_of(seed + 7).data());
    };
    const auto intact = [&overlay](unsigned seed) {
      std::string wrong;
      for (unsigned page = 0; page < 6; ++page) {
        const bool changed = seed != 0 && page % 2 == 0;
        const int found = look(overlay, page, changed ? seed + page : page + 1);
        if (found != (seed != 0 && page == 1 ? 0 : 1)) wrong += std::to_string(page) + " ";
      }
      if (look(overlay, 7, seed + 7) != (seed != 0 ? 1 : -1)) wrong += "7";
      return wrong;
    };
    if (parent_first) {
      const std::string result = vp::in_child([&] {
        change(100);
        const std::string inner = vp::in_child([&] {
          const std::string before = intact(100);
          change(200);
          return before + intact(200);
        });
        return inner + intact(100);
      });
      EXPECT_EQ(result, "");
      EXPECT_EQ(intact(0), "");
      change(300);
      EXPECT_EQ(intact(300), "");
    } else {
      for (unsigned child = 1; child <= 3; ++child) {
        EXPECT_EQ(vp::in_child([&] {
                    const std::string before = intact(0);
                    change(100 * child);
                    return before + intact(100 * child);
                  }),
                  "");
        EXPECT_EQ(intact(0), "");
      }
    }
  }
}

// Both processes are alive: the child looks after its parent has written.
TEST(Overlay, ParentAndChildWriteAtTheSameTime) {
  Overlay overlay(0, "");
  overlay.write(0, page_of(1).data());
  int child_has_written[2], parent_has_written[2];
  ASSERT_EQ(::pipe(child_has_written), 0);
  ASSERT_EQ(::pipe(parent_has_written), 0);
  char token = 'x';
  const pid_t child = ::fork();
  if (child == 0) {
    overlay.write(1, page_of(2).data());
    const bool told = ::write(child_has_written[1], &token, 1) == 1;
    const bool heard = ::read(parent_has_written[0], &token, 1) == 1;
    ::_exit(told && heard && look(overlay, 1, 2) == 1 && look(overlay, 0, 1) == 1 ? 0 : 1);
  }
  ASSERT_EQ(::read(child_has_written[0], &token, 1), 1);
  overlay.write(1, page_of(3).data());
  ASSERT_EQ(::write(parent_has_written[1], &token, 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child's pages have changed";
  EXPECT_EQ(look(overlay, 1, 3), 1);
  EXPECT_EQ(look(overlay, 0, 1), 1);
}

TEST(Overlay, AFolderThatDoesNotExist) {
  Overlay overlay(Overlay::page_size, "/nonexistent/folder");
  overlay.write(1, page_of(1).data());
  try {
    overlay.write(2, page_of(2).data());
    ADD_FAILURE() << "nothing thrown";
  } catch (const SpillError& error) {
    EXPECT_NE(std::string(error.what()).find("/nonexistent/folder"), std::string::npos);
  }
  EXPECT_EQ(look(overlay, 1, 1), 1);
  EXPECT_EQ(look(overlay, 2, 2), -1);
}

}  // namespace
}  // namespace nvme
