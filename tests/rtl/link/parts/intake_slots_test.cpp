// SPDX-License-Identifier: Apache-2.0
// Which slots the intake holds, and what damage, gaps and restarts do to them
#include "tests/rtl/link/parts/intake.h"

namespace window {
namespace {

TEST_F(OwnRing, HoldsTheSlotThatIsExpected) {
  slot(1, 0, 0x9001);
  EXPECT_TRUE(held);
  EXPECT_EQ(top_.expected_o, 2u);
  EXPECT_EQ(top_.row_o, 1u);
  EXPECT_EQ(top_.due_o, 1u);
  EXPECT_EQ(top_.urgent_o, 0u);
  slot(2, 0, 0x1234);
  EXPECT_EQ(answered(), 2u);
  EXPECT_EQ(digest(), digest_of({0x9001, 0x1234}));
  EXPECT_EQ(done(), 0u);
  EXPECT_EQ(credit(), slots);
  EXPECT_EQ(top_.received_o, 0u);
  EXPECT_EQ(top_.jammed_o, 0u);
}

TEST_F(OwnRing, ADueReturnWaitsUntilItLeaves) {
  clock();
  EXPECT_EQ(top_.due_o, 0u);
  slot(1);
  clock();
  EXPECT_EQ(top_.due_o, 1u);
  leave();
  EXPECT_EQ(top_.due_o, 0u);
  damage();
  clock();
  EXPECT_EQ(top_.due_o, 1u);
  EXPECT_EQ(top_.urgent_o, 1u);
  leave();
  EXPECT_EQ(top_.due_o, 0u);
  EXPECT_EQ(top_.urgent_o, 0u);
  clock();
  EXPECT_EQ(top_.urgent_o, 0u);
}

TEST_F(OwnRing, OnlyGoodFramesWithAProtocolOfSlotsCount) {
  for (const unsigned protocol : {OAE_WIRE_PROTOCOL_JOIN, OAE_WIRE_PROTOCOL_ALIVE}) {
    set_frame(protocol, 1, 0);
    EXPECT_FALSE(next());
    clock();
    set_frame(protocol, 0, 1);
    clock();
    set_frame(protocol, 5, 1);
    clock();
  }
  for (const unsigned protocol : {OAE_WIRE_PROTOCOL_SLOT, OAE_WIRE_PROTOCOL_RESTART}) {
    for (const unsigned generation : {0, 1}) {
      for (const unsigned number : {0, 1, 2}) {
        set_frame(protocol, number, generation);
        top_.frame_good_i = 0;
        clock();
        EXPECT_FALSE(held || restarted);
      }
    }
  }
  EXPECT_EQ(top_.expected_o, 1u);
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(top_.jammed_o, 0u);
  EXPECT_EQ(top_.defect_o, 0u);
  EXPECT_EQ(top_.due_o, 0u);
}

TEST_F(OwnRing, NothingCountsOfALinkThatIsNotUp) {
  slots_to(2);
  leave();
  cut();
  slot(1);
  EXPECT_FALSE(held);
  slot(2);
  EXPECT_FALSE(jams);
  restart(0, 1);
  EXPECT_FALSE(restarted);
  restart(5, 1);
  EXPECT_EQ(top_.defect_o, 0u);
  damage();
  EXPECT_FALSE(jams);
  confirm(1);
  EXPECT_EQ(top_.defect_o, 0u);
  set_return(0, true);
  clock();
  EXPECT_EQ(top_.busy_o, 0u);
  EXPECT_EQ(top_.expected_o, 1u);
  EXPECT_EQ(top_.jammed_o, 0u);
  EXPECT_EQ(top_.due_o, 0u);
  EXPECT_EQ(generation(), 0u);
}

TEST_F(OwnRing, ASlotWithoutRoomIsNotHeld) {
  slots_to(slots);
  EXPECT_EQ(top_.room_o, 0u);
  slot(slots + 1);
  EXPECT_FALSE(held);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top_.expected_o, slots + 1);
}

TEST_F(OwnRing, TheFirstMissingSlotJamsAndNoLaterOne) {
  slots_to(2);
  leave();
  slot(4);
  EXPECT_TRUE(jams);
  EXPECT_FALSE(held);
  EXPECT_EQ(top_.jammed_o, 1u);
  EXPECT_EQ(wanted(), 1u);
  EXPECT_EQ(generation(), 0u);
  EXPECT_EQ(top_.due_o, 1u);
  EXPECT_EQ(top_.urgent_o, 1u);
  for (const unsigned number : {3, 5}) {
    slot(number);
    EXPECT_FALSE(held);
    EXPECT_FALSE(jams);
    EXPECT_FALSE(next());
  }
  damage();
  EXPECT_FALSE(jams);
  clock();
  EXPECT_FALSE(jams);
  EXPECT_EQ(wanted(), 1u);
  EXPECT_EQ(top_.expected_o, 3u);
}

TEST_F(OwnRing, DamageJams) {
  damage();
  EXPECT_TRUE(jams);
  EXPECT_EQ(wanted(), 1u);
  slot(1);
  EXPECT_FALSE(held);
}

TEST_F(OwnRing, ASlotWhoseRestartIsMissingJams) {
  slots_to(2);
  slot(3, 1);
  EXPECT_TRUE(jams);
  EXPECT_FALSE(held);
  EXPECT_EQ(wanted(), 2u);
  slot(3, 1);  // of a generation that it no longer waits for
  EXPECT_FALSE(jams);
  EXPECT_EQ(wanted(), 2u);
  slot(3, 2);  // The restart of the one that it wants is missing as well.
  EXPECT_TRUE(jams);
  EXPECT_EQ(wanted(), 3u);
  restart(2, 3);
  EXPECT_EQ(top_.jammed_o, 0u);
  slot(3, 2);  // of a generation before
  EXPECT_FALSE(jams || held);
  slot(3, 3);
  EXPECT_TRUE(held);
}

TEST_F(OwnRing, ARestartKeepsWhatItNames) {
  slot(1, 0, 0x1111);
  slot(2, 0, 0x2222);
  slot(3, 0, 0x3333);
  leave();
  restart(1, 1, 0x1111);
  EXPECT_TRUE(restarted);
  EXPECT_EQ(top_.expected_o, 2u);
  EXPECT_EQ(top_.row_o, 1u);
  EXPECT_EQ(generation(), 1u);
  EXPECT_EQ(wanted(), 1u);
  EXPECT_EQ(digest(), 0x1111u);
  EXPECT_EQ(top_.due_o, 1u);
  EXPECT_EQ(top_.defect_o, 0u);
  slot(2, 1, 0x4444);
  EXPECT_EQ(digest(), digest_of({0x1111, 0x4444}));
  confirm(1);
  restart(1, 2);  // nothing but what is committed
  EXPECT_EQ(top_.expected_o, 2u);
  slot(2, 2);
  restart(2, 3);  // all of it
  EXPECT_EQ(top_.expected_o, 3u);
  EXPECT_EQ(top_.defect_o, 0u);
}

TEST_F(OwnRing, ARestartThatComesAgainIsIgnored) {
  restart(0, 2);
  slot(1, 2);
  leave();
  for (const unsigned generation : {2, 1}) {
    restart(0, generation);
    EXPECT_FALSE(restarted);
    EXPECT_EQ(top_.expected_o, 2u);
    EXPECT_EQ(top_.defect_o, 0u);
    EXPECT_EQ(top_.due_o, 0u);
  }
}

TEST_F(OwnRing, ARestartThatKeepsWhatIsNotThereIsADefect) {
  slots_to(3);
  confirm(2);
  for (const unsigned number : {1, 4, 100}) {
    restart(number, 1);
    EXPECT_FALSE(restarted);
    EXPECT_EQ(top_.defect_o, 1u) << number;
    EXPECT_EQ(top_.expected_o, 4u);
    EXPECT_EQ(generation(), 0u);
    clock();
    EXPECT_EQ(top_.defect_o, 0u);
  }
}

}  // namespace
}  // namespace window
