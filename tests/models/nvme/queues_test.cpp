// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/queues.h"

#include <gtest/gtest.h>

namespace nvme {
namespace {

SubmissionQueue submission(std::uint32_t size, std::uint32_t head, std::uint32_t tail) {
  SubmissionQueue queue;
  queue.size = size;
  queue.head = head;
  queue.tail = tail;
  return queue;
}
CompletionQueue completion(std::uint32_t size, std::uint32_t head, std::uint32_t tail) {
  CompletionQueue queue;
  queue.size = size;
  queue.head = head;
  queue.tail = tail;
  return queue;
}

// 4.1.2: a queue of n entries holds n - 1. Every doorbell value for every state of small queues.
TEST(SubmissionQueue, TakesWhatFitsAndNothingElse) {
  for (std::uint32_t size = 2; size <= 5; ++size) {
    for (std::uint32_t head = 0; head < size; ++head) {
      for (std::uint32_t held = 0; held < size; ++held) {
        for (std::uint32_t value = 0; value < size + 3; ++value) {
          SubmissionQueue queue = submission(size, head, (head + held) % size);
          ASSERT_EQ(queue.waiting(), held);
          // The new number of entries, if it is more than before.
          std::uint32_t then = 0;
          while (value < size && (head + then) % size != value) ++then;
          const bool good = value < size && then > held;
          EXPECT_EQ(queue.ring(value) == Doorbell::taken, good)
              << size << ' ' << head << ' ' << held << ' ' << value;
          EXPECT_EQ(queue.waiting(), good ? then : held);
        }
      }
    }
  }
}

TEST(CompletionQueue, GivesUpWhatItHasAndNothingElse) {
  for (std::uint32_t size = 2; size <= 5; ++size) {
    for (std::uint32_t head = 0; head < size; ++head) {
      for (std::uint32_t held = 0; held < size; ++held) {
        for (std::uint32_t value = 0; value < size + 3; ++value) {
          CompletionQueue queue = completion(size, head, (head + held) % size);
          ASSERT_EQ(queue.used(), held);
          EXPECT_EQ(queue.room(), size - 1 - held);
          std::uint32_t taken = 0;
          while (value < size && (head + taken) % size != value) ++taken;
          const bool good = value < size && taken >= 1 && taken <= held;
          EXPECT_EQ(queue.ring(value) == Doorbell::taken, good)
              << size << ' ' << head << ' ' << held << ' ' << value;
          EXPECT_EQ(queue.used(), good ? held - taken : held);
        }
      }
    }
  }
}

// 4.6: the phase tag is 1 in the first pass and changes with each further one.
TEST(CompletionQueue, PhaseTagChangesAtTheWrap) {
  CompletionQueue queue = completion(3, 0, 0);
  queue.base = 0x5000;
  for (unsigned i = 0; i < 12; ++i) {
    bool phase = false;
    queue.reserved = 1;
    EXPECT_EQ(queue.claim(phase), 0x5000 + 16 * (i % 3));
    EXPECT_EQ(phase, i / 3 % 2 == 0) << i;
    EXPECT_EQ(queue.ring((i + 1) % 3), Doorbell::taken);
  }
}

TEST(CompletionQueue, CommandsUnderWayHaveTheirPlaces) {
  CompletionQueue queue = completion(4, 1, 2);
  EXPECT_EQ(queue.room(), 2u);
  queue.reserved = 2;
  EXPECT_EQ(queue.room(), 0u);
  bool phase = false;
  queue.claim(phase);
  EXPECT_EQ(queue.room(), 0u);
  EXPECT_EQ(queue.reserved, 1u);
}

TEST(SubmissionQueue, HeadWraps) {
  SubmissionQueue queue = submission(3, 1, 0);
  EXPECT_EQ(queue.to_end(), 2u);
  queue.advance();
  EXPECT_EQ(queue.head, 2u);
  queue.advance();
  EXPECT_EQ(queue.head, 0u);
  EXPECT_EQ(queue.waiting(), 0u);
}

}  // namespace
}  // namespace nvme
