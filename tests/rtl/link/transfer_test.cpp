// SPDX-License-Identifier: Apache-2.0
// Slots over a link without faults.
#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Transfer : public Pair {};

TEST_F(Transfer, ASlotIsCommittedAtBothEnds) {
  bring_up();
  offer(*a, 1, 7);
  rest();
  EXPECT_EQ(settled(*a), 1u);
  EXPECT_EQ(done(*b), 1u);
  EXPECT_EQ(take(*b), std::vector<Slot>{slot(7)});
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 1u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_RECEIVED), 1u);
}

TEST_F(Transfer, SlotsArriveInTheirOrderManyTimesAroundTheRing) {
  bring_up();
  std::uint64_t seed = 1;
  for (unsigned round = 0; round < 9; ++round) {
    const unsigned count = round % 3 == 0 ? ring - 1 : 5 + round;
    offer(*a, count, seed);
    rest();
    const std::vector<Slot> taken = take(*b);
    ASSERT_EQ(taken.size(), count);
    for (const Slot& each : taken) ASSERT_EQ(each, slot(seed++));
  }
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
}

TEST_F(Transfer, BothWaysAtOnce) {
  bring_up();
  offer(*a, ring - 1, 1000);
  offer(*b, ring - 1, 2000);
  rest();
  EXPECT_EQ(settled(*a), ring - 1);
  EXPECT_EQ(settled(*b), ring - 1);
  EXPECT_EQ(take(*b).back(), slot(1000 + ring - 2));
  EXPECT_EQ(take(*a).back(), slot(2000 + ring - 2));
}

TEST_F(Transfer, WithoutRoomNothingIsSent) {
  bring_up();
  offer(*a, ring - 1, 1);
  rest();
  offer(*a, 10, ring);
  rest();
  EXPECT_EQ(settled(*a), ring);  // the receive ring is full
  clock(50'000);                 // longer than several silences
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_DOWN), 0u);
  EXPECT_EQ(take(*b).size(), ring);
  rest();
  EXPECT_EQ(settled(*a), ring + 9);
  EXPECT_EQ(take(*b).back(), slot(ring + 9));
}

// The firmware takes slots back while others leave, in every clock.
TEST_F(Transfer, WhatIsTakenBackDoesNotLeave) {
  bring_up();
  for (unsigned wait = 0; wait < 12; ++wait) {
    for (const bool drop : {false, true}) {
      for (unsigned kept = 1; kept < (drop ? 2 : 12); ++kept) {
        const std::uint32_t first = settled(*a);
        put(*a, OAE_WINDOW_OFFERED, first + ring - 1);
        clock(wait);
        if (drop) {
          command(*a, OAE_WINDOW_COMMAND_DROP);
        } else {
          put(*a, OAE_WINDOW_OFFERED, first + kept);  // refused if more have been sent
        }
        rest();
        ASSERT_EQ(settled(*a), offered(*a));
        take(*b);
      }
    }
  }
}

}  // namespace
}  // namespace window
