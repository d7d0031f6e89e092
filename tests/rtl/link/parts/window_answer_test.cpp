// SPDX-License-Identifier: Apache-2.0
// What a return says, and the checks of slots with which it is compared
#include "tests/rtl/link/parts/window.h"

namespace window {
namespace {

TEST_F(Offered, AnAnswerMovesForwardUpToWhatWasSent) {
  begin(5, 3);
  say(Answer().answered(4).credit(10).digest(digest(4)));  // which was not sent
  say(Answer().answered(4).credit(10).digest(0x1234));
  EXPECT_EQ(top_.answered_o, 0u);
  say(Answer().answered(2).credit(10).digest(digest(2)));
  EXPECT_EQ(top_.answered_o, 2u);
  EXPECT_EQ(gains, 1u);
  say(Answer().answered(2).credit(10).digest(digest(2)));  // once more
  say(Answer().answered(1).credit(10).digest(digest(1)));  // late
  say(Answer().answered(2).credit(10).digest(0x1234));     // says nothing new
  EXPECT_EQ(top_.answered_o, 2u);
  EXPECT_EQ(gains, 1u);
  EXPECT_EQ(top_.generation_o, 0u) << "nothing is reversed by any of these";
  say(Answer().answered(3).credit(10).digest(0x1234));  // it holds what was not sent
  EXPECT_EQ(top_.generation_o, 1u);
  EXPECT_EQ(top_.sent_o, 2u);
}

TEST_F(Offered, OnlyWhatIsConfirmedIsSettled) {
  begin(5, 4);
  say(Answer().answered(3).credit(10).digest(digest(3)));
  confirm();
  EXPECT_EQ(top_.confirmed_o, 3u);
  say(Answer().answered(4).done(4).credit(10).digest(digest(4)));
  EXPECT_EQ(top_.settled_o, 0u);
  gains = 0;
  say(Answer().answered(4).done(2).credit(10).digest(digest(4)));
  say(Answer().answered(4).done(2).credit(10).digest(digest(4)));
  say(Answer().answered(4).done(1).credit(10).digest(digest(4)));
  EXPECT_EQ(top_.settled_o, 2u);
  EXPECT_EQ(gains, 1u);
  clock(2);
  EXPECT_EQ(commits, 2u);
}

// What it says of another generation is about slots that have been reversed.
TEST_F(Offered, AReturnOfAnotherGenerationAnswersNothing) {
  begin(3, 3);
  top_.withdraw_i = 1;
  clock(2);
  EXPECT_EQ(top_.generation_o, 1u);
  send(2);
  say(Answer().answered(2).done(0).credit(10).digest(digest(2)));
  EXPECT_EQ(top_.answered_o, 0u);
  say(Answer().answered(1).done(0).credit(10).digest(0x1234));
  EXPECT_EQ(top_.generation_o, 1u);
  EXPECT_TRUE(top_.restarting_o);
  say(Answer().answered(2).credit(10).generation(1).wanted(1).digest(digest(2)));
  EXPECT_FALSE(top_.restarting_o);
  EXPECT_EQ(top_.answered_o, 2u);
  say(Answer().answered(2).credit(10).generation(1).wanted(2).digest(digest(2)));
  EXPECT_EQ(top_.generation_o, 2u) << "a new one is wanted";
}

// The check of a slot is known some clocks after it has left, when it may be reversed already.
TEST_F(Offered, AReversedSlotLeavesNoDigest) {
  begin(3, 1);
  top_.slot_taken_i = 1;
  clock();
  top_.withdraw_i = 1;
  clock();
  top_.checked_i = 1;
  top_.checked_head_i = std::uint64_t{2} << 16 | check(2);
  clock();
  send(2);
  say(Answer().answered(2).credit(10).generation(1).wanted(1).digest(digest(2)));
  EXPECT_EQ(top_.answered_o, 2u);
  EXPECT_EQ(top_.generation_o, 1u);
}

// Frames that are no slots have a check, too.
TEST_F(Offered, OnlyTheCheckOfASlotCounts) {
  begin(3, 2);
  top_.checked_head_i = std::uint64_t{2} << 16 | 0x7777;
  clock(3);
  send(1);
  top_.checked_head_i = std::uint64_t{2} << 16 | 0x7777;
  clock(3);
  say(Answer().answered(2).credit(10).digest(digest(2)));
  say(Answer().answered(3).credit(10).digest(digest(3)));
  EXPECT_EQ(top_.answered_o, 3u);
}

TEST_F(Offered, AReturnInTheClockOfACutIsIgnored) {
  begin(1, 1);
  top_.cut_i = 1;
  come(Answer().credit(10).wanted(1));
  top_.up_i = 0;
  top_.down_i = 1;
  clock(4);
  EXPECT_FALSE(top_.restart_valid_o);
  EXPECT_EQ(top_.generation_o, 0u);
}

TEST_F(Offered, ACreditNeverShrinks) {
  come_up();
  say(Answer().credit(3));
  say(Answer().credit(2));
  EXPECT_EQ(top_.credit_o, 3u);
}

}  // namespace
}  // namespace window
