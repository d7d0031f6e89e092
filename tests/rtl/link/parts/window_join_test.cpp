// SPDX-License-Identifier: Apache-2.0
// Links that come up and go down, and what becomes of slots in doubt
#include "tests/rtl/link/parts/window.h"

namespace window {
namespace {

// Whatever a cut interrupts, nothing of it remains.
TEST_F(Offered, ACutForgetsTheGeneration) {
  for (const bool reverses : {false, true}) {
    come_up();
    const std::uint32_t first = top_.settled_o;
    say(Answer().credit(first + 10));
    offer(first + 3);
    send(2);
    top_.withdraw_i = reverses;
    if (!reverses) until(silences, silences + 1);
    top_.slot_taken_i = top_.slot_valid_o;
    clock();
    EXPECT_EQ(top_.restart_valid_o, reverses);
    EXPECT_EQ(top_.ask_o, !reverses);
    EXPECT_EQ(top_.restarting_o, reverses);
    cut();
    EXPECT_EQ(top_.sent_o, first);
    EXPECT_FALSE(top_.restart_valid_o);
    EXPECT_FALSE(top_.ask_o);
    EXPECT_FALSE(top_.restarting_o);
    EXPECT_EQ(top_.generation_o, 0u);
    EXPECT_FALSE(top_.slot_valid_o);
    // The check of the slot that left last
    top_.checked_i = 1;
    top_.checked_head_i = std::uint64_t{first + 3} << 16 | 0x1111;
    clock(4);
    EXPECT_FALSE(top_.slot_valid_o);
    come_up(first, true, 1);
    say(Answer().answered(first).done(first).credit(first + 10));
    send(3);
    say(Answer()
            .answered(first + 3)
            .done(first)
            .credit(first + 10)
            .digest(digest(first + 3, first)));
    EXPECT_EQ(top_.answered_o, first + 3);
    EXPECT_EQ(top_.generation_o, 0u);
    confirm();
    say(Answer()
            .answered(first + 3)
            .done(first + 3)
            .credit(first + 10)
            .digest(digest(first + 3, first)));
    EXPECT_EQ(top_.settled_o, first + 3);
    cut();
  }
}

// The credit of the time before is worth nothing.
TEST_F(Offered, ALinkThatComesUpHasNoCredit) {
  begin(6, 1);
  cut();
  come_up();
  clock(3);
  EXPECT_FALSE(top_.slot_valid_o);
  EXPECT_EQ(top_.sent_o, 0u);
  say(Answer().credit(2));
  send(2);
  clock(2);
  EXPECT_FALSE(top_.slot_valid_o);
}

// In the clock in which it comes up, and in which its numbers change
TEST_F(Offered, NoSlotLeavesWhileTheLinkJoins) {
  come_up();
  say(Answer().credit(10));
  offer(6);
  cut();
  clock(4);
  EXPECT_FALSE(top_.slot_valid_o);
  top_.down_i = 0;
  clock(4);
  EXPECT_FALSE(top_.slot_valid_o);
  top_.up_i = 1;
  top_.join_i = 1;
  top_.eval();
  EXPECT_FALSE(top_.slot_valid_o);
  join(0, true, 1, 0);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_FALSE(top_.slot_valid_o) << i;
    clock();
  }
}

class Doubtful : public Offered {
 protected:
  /// Three slots are confirmed and not settled, and a fourth one is answered.
  Doubtful() {
    begin(5, 4);
    say(Answer().answered(3).credit(10).digest(digest(3)));
    confirm();
    cut();
    clock(2);
    EXPECT_EQ(reverses, 1u);
    reverses = 0;
  }
  void expect(unsigned committed, unsigned reversed, unsigned lost_slots) {
    clock(2);
    EXPECT_EQ(commits, committed);
    EXPECT_EQ(reverses, reversed);
    EXPECT_EQ(losses, lost_slots);
    EXPECT_EQ(lost, lost_slots != 0 ? 1u : 0u);
    EXPECT_EQ(top_.settled_o, committed + lost_slots);
  }
};

TEST_F(Doubtful, AJournalSettlesAll) {
  come_up(2, true, 1);
  expect(2, 1, 0);
}
TEST_F(Doubtful, AJournalMayBeginWithTheFirstSlotInDoubt) {
  come_up(3, true, 1);
  expect(3, 0, 0);
}
TEST_F(Doubtful, AJournalThatBeganLaterIsWorthNothing) {
  come_up(3, true, 2);
  expect(0, 0, 3);
}
TEST_F(Doubtful, AnUnknownJournalIsWorthNothing) {
  come_up(2, false, 1);
  expect(0, 0, 3);
}
TEST_F(Doubtful, AJournalOfSlotsThatWereNotConfirmedIsWorthNothing) {
  come_up(4, true, 1);
  expect(0, 0, 3);
}
TEST_F(Doubtful, PendingSlotsRemainInDoubt) {
  come_up(1, true, 1, 1);
  expect(1, 1, 0);
  EXPECT_EQ(top_.confirmed_o, 2u);
}
TEST_F(Doubtful, MorePendingSlotsThanInDoubtAreWorthNothing) {
  come_up(1, true, 1, 3);
  expect(0, 0, 3);
}
TEST_F(Doubtful, AVerdictSettlesAll) {
  top_.peer_i[2] = 1 | 1u << 16;  // the journal that came last is no part of it
  top_.peer_i[0] = 3;
  give_verdict(true, 1);
  expect(1, 2, 0);
  EXPECT_EQ(top_.confirmed_o, 1u);
  EXPECT_EQ(refused, 0u);
}
TEST_F(Doubtful, AnUnknownVerdictIsALossWhateverItSays) {
  give_verdict(false, 99);
  expect(0, 0, 3);
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(strange, 1u);
}
// So that a relay says nothing of them to the side that has sent them
TEST_F(Doubtful, WhatIsLostIsReportedAClockLater) {
  give_verdict(false, 0);
  EXPECT_TRUE(top_.lost_o);
  EXPECT_EQ(top_.settled_o, 3u);
  EXPECT_EQ(top_.reported_o, 0u);
  clock();
  EXPECT_EQ(top_.reported_o, 3u);
}
TEST_F(Doubtful, WhatIsCommittedIsReportedAtOnce) {
  give_verdict(true, 2);
  EXPECT_EQ(top_.reported_o, 2u);
}
TEST_F(Doubtful, AVerdictThatCannotBeIsRefused) {
  give_verdict(true, 4);
  expect(0, 0, 0);
  EXPECT_EQ(refused, 1u);
}
TEST_F(Doubtful, AVerdictIsCountedBeforeTheClockMayStop) {
  give_verdict(true, 0);
  EXPECT_TRUE(top_.busy_o);
  clock();
  EXPECT_FALSE(top_.busy_o);
  expect(0, 3, 0);
}
TEST_F(Doubtful, AVerdictIsRefusedWhileTheLinkComesUp) {
  top_.down_i = 0;
  give_verdict(true, 1);
  expect(0, 0, 0);
  EXPECT_EQ(refused, 1u);
}
TEST_F(Doubtful, AVerdictOnNothingIsRefused) {
  give_verdict(true, 1);
  give_verdict(true, 1);
  expect(1, 2, 0);
  EXPECT_EQ(refused, 1u);
}
TEST_F(Doubtful, NothingInDoubtIsNothingLost) {
  give_verdict(true, 3);
  come_up(0, false, 0);
  expect(3, 0, 0);
}
TEST_F(Doubtful, AJournalOfASideThatIsAnewIsWorthNothing) {
  top_.was_up_i = 1;
  come_up(2, true, 1, 0, true);
  expect(0, 0, 3);
}
// This side was not up since its power came on, so it knows nothing that the other one may have
// forgotten.
TEST_F(Doubtful, TheFirstJoinBelievesTheJournal) {
  come_up(2, true, 1, 0, true);
  expect(2, 1, 0);
}
TEST_F(Doubtful, AVerdictIsBelievedWhateverTheLastJoinFrameHasSaid) {
  top_.was_up_i = 1;
  top_.peer_i[2] = 3u << 16;
  give_verdict(true, 1);
  expect(1, 2, 0);
}

// Of a bridge, which offers slots for the other side as it is, and not for a later life of it
template <typename Test>
void meets_a_side(Test& test, bool was_up, bool bridged, bool anew) {
  auto& top = test.top();
  top.was_up_i = was_up;
  top.bridged_i = bridged;
  test.begin(5, 2);
  test.cut();
  EXPECT_EQ(top.offered_o, 5u);
  test.come_up(0, true, 1, 0, anew);
  const bool is_told = was_up && anew;
  EXPECT_EQ(test.lost, is_told ? 1u : 0u) << "though nothing is in doubt";
  EXPECT_EQ(test.strange, anew ? 1u : 0u);
  EXPECT_EQ(test.losses, 0u);
  EXPECT_EQ(top.offered_o, is_told && bridged ? 0u : 5u);
}

class Bridged : public Offered, public testing::WithParamInterface<unsigned> {
 public:
  using Offered::begin, Offered::come_up, Offered::cut, Offered::lost, Offered::losses,
      Offered::strange;
  auto& top() { return top_; }
};
TEST_P(Bridged, AnEndForgetsWhatWaitsForASideThatIsAnew) {
  meets_a_side(*this, GetParam() & 1, GetParam() & 2, GetParam() & 4);
}
INSTANTIATE_TEST_SUITE_P(Cases, Bridged, testing::Range(0u, 8u));

// Not even if the other side gives credit in the clock of the join
TEST_F(Offered, NothingThatIsForgottenLeaves) {
  top_.was_up_i = top_.bridged_i = 1;
  begin(5, 2);
  cut();
  top_.down_i = 0;
  clock();
  top_.up_i = 1;
  top_.peer_i[0] = 0;
  top_.peer_i[1] = 1;
  top_.peer_i[2] = 3u << 16;
  top_.join_i = 1;
  come(Answer().credit(10));
  for (unsigned i = 0; i < 6; ++i) {
    EXPECT_FALSE(top_.slot_valid_o) << i;
    clock();
  }
  EXPECT_EQ(top_.offered_o, 0u);
  say(Answer().credit(10));
  offer(1);
  send(1);
  EXPECT_EQ(top_.sent_o, 1u);
}

}  // namespace
}  // namespace window
