// SPDX-License-Identifier: Apache-2.0
// The intake of a relay, which has no ring
#include "tests/rtl/link/parts/intake.h"

namespace window {
namespace {

/// With a relay. It says what has become of the slots that it has passed on.
class OfRelay : public Intake<Voae_link_intake_relay> {
 protected:
  static constexpr unsigned loses = 1, unrouted = 2, holds = 4;

  OfRelay() {
    top_.hold_i = holds;
    onward(0, 0, slots - 1);
    clock();
    leave();
  }
  void onward(std::uint32_t answered, std::uint32_t unsettled, std::uint32_t room) {
    top_.relay_i[0] = room;
    top_.relay_i[1] = unsettled;
    top_.relay_i[2] = answered;
    top_.relay_i[3] = 0;
  }
  /// So many slots are confirmed onward in a clock.
  void confirm_onward(std::uint32_t count) {
    top_.relay_i[3] = count;
    clock();
    top_.relay_i[3] = 0;
  }
};

TEST_F(OfRelay, ASlotIsHeldThatIsOnItsWay) {
  slot(1);
  EXPECT_TRUE(held);
  top_.hold_i = 0;
  slot(2);
  EXPECT_FALSE(held);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top_.defect_o, 0u);
}

TEST_F(OfRelay, OnlyTheSlotThatIsExpectedOpens) {
  slot(1);
  set_frame(OAE_WIRE_PROTOCOL_SLOT, 2, 0);
  EXPECT_TRUE(next());
  set_frame(OAE_WIRE_PROTOCOL_SLOT, 3, 0);
  EXPECT_FALSE(next());
  set_frame(OAE_WIRE_PROTOCOL_SLOT, 2, 1);
  EXPECT_FALSE(next());
  set_frame(OAE_WIRE_PROTOCOL_ALIVE, 2, 0);
  EXPECT_FALSE(next());
}

TEST_F(OfRelay, ASlotWithoutARouteIsADefect) {
  slot(1);
  top_.hold_i = unrouted;
  slot(2);
  EXPECT_TRUE(jams);
  EXPECT_EQ(top_.defect_o, 1u);
}

// The other side's own order does not matter to it, and a return follows only what the relay says.
TEST_F(OfRelay, ItAnswersWhatIsAnsweredOnward) {
  slot(1, 0, 0x1111);
  slot(2, 0, 0x2222);
  EXPECT_EQ(top_.due_o, 0u);
  EXPECT_EQ(answered(), 0u);
  EXPECT_EQ(credit(), slots - 1);
  onward(1, 0, slots - 1);
  top_.eval();
  EXPECT_EQ(top_.busy_o, 1u);
  clock();
  EXPECT_EQ(top_.busy_o, 0u);
  EXPECT_EQ(top_.due_o, 1u);
  EXPECT_EQ(answered(), 1u);
  EXPECT_EQ(digest(), 0x1111u);
  leave();
  EXPECT_EQ(top_.due_o, 0u);
  onward(2, 0, slots - 1);
  clock();
  EXPECT_EQ(digest(), digest_of({0x1111, 0x2222}));
}

TEST_F(OfRelay, ADueReturnIsStillDueAfterASlot) {
  set_return(0, true);
  clock();
  EXPECT_EQ(top_.due_o, 1u);
  slot(1);
  EXPECT_EQ(top_.due_o, 1u);
}

TEST_F(OfRelay, AConfirmationIsPassedOn) {
  slots_to(4);
  onward(4, 0, slots - 1);
  clock();
  confirm(3);
  EXPECT_EQ(granted, 3u);
  EXPECT_EQ(top_.done_o, 0u);
  confirm(2);  // one from before
  EXPECT_EQ(granted, 3u);
  confirm(3);
  EXPECT_EQ(top_.defect_o, 0u);
  onward(2, 2, slots - 3);
  confirm_onward(2);
  EXPECT_EQ(commits, 2u);
  EXPECT_EQ(top_.done_o, 2u);
  EXPECT_EQ(top_.received_o, 2u);
  EXPECT_EQ(top_.taken_o, 2u);
  EXPECT_EQ(granted, 1u);
  EXPECT_EQ(done(), 0u);
  confirm(1);  // one from before what is committed
  EXPECT_EQ(top_.defect_o, 0u);
  EXPECT_EQ(granted, 1u);
  confirm(5);
  EXPECT_EQ(top_.defect_o, 1u);
  EXPECT_EQ(granted, 1u);
}

TEST_F(OfRelay, NumbersGoAround) {
  join(0xffff'fffd, 0xffff'fffd);
  for (std::uint32_t number = 0xffff'fffe; number != 3; ++number) {
    slot(number, 0, 0x1000 + (number & 0xff));
    ASSERT_TRUE(held) << number;
  }
  onward(5, 0, slots - 1);
  clock();
  EXPECT_EQ(answered(), 2u);
  EXPECT_EQ(digest(), digest_of({0x10fe, 0x10ff, 0x1000, 0x1001, 0x1002}));
  confirm(1);
  EXPECT_EQ(granted, 4u);
  EXPECT_EQ(top_.done_o, 0xffff'fffdu);
  onward(2, 1, slots - 4);
  confirm_onward(3);
  EXPECT_EQ(top_.done_o, 0u);
  EXPECT_EQ(granted, 1u);
  EXPECT_EQ(done(), 0xffffu) << "one of them is not settled onward";
  confirm(0xffff);  // one from before what is committed
  EXPECT_EQ(top_.defect_o, 0u);
  EXPECT_EQ(granted, 1u);
  confirm(3);
  EXPECT_EQ(top_.defect_o, 1u) << "which it does not hold";
}

TEST_F(OfRelay, ARestartThatTakesBackAConfirmationIsADefect) {
  slots_to(3);
  confirm(2);
  restart(1, 1);
  EXPECT_EQ(top_.defect_o, 1u);
  EXPECT_FALSE(restarted);
  restart(2, 1);
  EXPECT_EQ(top_.defect_o, 0u);
  EXPECT_TRUE(restarted);
  EXPECT_EQ(top_.expected_o, 3u);
}

TEST_F(OfRelay, ACutTakesBackWhatIsNotConfirmedOnward) {
  slots_to(3);
  confirm(2);
  top_.cut_i = 1;
  clock();
  EXPECT_EQ(granted, 0u);
}

TEST_F(OfRelay, TheDigestAfterAJoinIsZero) {
  slot(1, 0, 0x1111);
  onward(1, 0, slots - 1);
  clock();
  confirm(1);
  onward(0, 1, slots - 2);
  confirm_onward(1);
  cut();
  EXPECT_EQ(digest(), 0x1111u);
  join(1, 1);
  EXPECT_EQ(answered(), 1u);
  EXPECT_EQ(digest(), 0u);
  top_.up_i = 1;
  slot(2, 0, 0x2222);
  onward(1, 1, slots - 2);
  clock();
  EXPECT_EQ(digest(), 0x2222u);
}

TEST_F(OfRelay, WithALossTheJournalIsNoLongerKnown) {
  join(0, 0);
  clock();
  EXPECT_EQ(top_.known_o, 1u);
  top_.hold_i = loses;
  clock();
  EXPECT_EQ(top_.known_o, 0u);
}

}  // namespace
}  // namespace window
