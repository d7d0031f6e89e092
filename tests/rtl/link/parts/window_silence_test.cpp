// SPDX-License-Identifier: Apache-2.0
// What a side waits for, and for how long. Its clock must run until it has acted.
#include "tests/rtl/link/parts/window.h"

namespace window {
namespace {

TEST_F(Offered, WhatASideWaitsFor) {
  come_up();
  EXPECT_FALSE(waits()) << "idle";
  offer(2);
  EXPECT_TRUE(waits()) << "a credit";
  say(Answer().credit(10));
  EXPECT_FALSE(waits()) << "slots that may leave";
  send(2);
  EXPECT_TRUE(waits()) << "an answer";
  say(Answer().answered(2).credit(10).digest(digest(2)));
  EXPECT_TRUE(waits()) << "a confirmation";
  EXPECT_EQ(top_.confirmed_o, 0u) << "which leaves with a return";
  confirm();
  EXPECT_TRUE(waits()) << "a settlement";
  say(Answer().answered(2).done(2).credit(10).digest(digest(2)));
  EXPECT_FALSE(waits()) << "idle again";
  clock(3 * limit);
  EXPECT_EQ(silences, 0u);
  say(Answer().credit(10).wanted(1));
  EXPECT_TRUE(waits()) << "to be shown the generation";
  cut();
  clock();
  EXPECT_FALSE(waits()) << "not up";
  EXPECT_FALSE(top_.in_doubt_o) << "all is settled";
  offer(4);
  clock(3 * limit);
  EXPECT_EQ(silences, 0u);
}

TEST_F(Offered, NobodyWaitsForSlotsInDoubtOfALinkThatIsDown) {
  begin(1, 1);
  say(Answer().answered(1).credit(10).digest(digest(1)));
  confirm();
  EXPECT_FALSE(top_.in_doubt_o) << "of a link that is up";
  cut();
  EXPECT_TRUE(top_.in_doubt_o);
  EXPECT_FALSE(waits());
  clock(3 * limit);
  EXPECT_EQ(silences, 0u);
}

TEST_F(Offered, HeldSlotsWaitForTheFirmwareOnly) {
  top_.again_i = 0;
  come_up();
  say(Answer().credit(1));
  offer(1);
  send(1);
  top_.withdraw_i = 1;
  clock(2);
  EXPECT_TRUE(top_.held_o);
  take_restart();
  say(Answer().credit(0).generation(1).wanted(1));
  top_.resume_i = 1;
  clock(3);
  EXPECT_FALSE(top_.held_o);
  send(1);
  top_.withdraw_i = 1;
  clock(2);
  take_restart();
  say(Answer().credit(0).generation(2).wanted(2));
  ASSERT_TRUE(top_.held_o);
  EXPECT_FALSE(top_.slot_valid_o);
  cut();
  come_up();
  ASSERT_TRUE(top_.held_o);
  EXPECT_FALSE(waits()) << "for a credit";
  top_.drop_i = 1;
  clock();
  EXPECT_FALSE(top_.held_o);
  offer(1);
  EXPECT_TRUE(waits());
}

// A return without news ends no silence. What is not answered is reversed after the second one.
TEST_F(Offered, OnlyNewsEndASilence) {
  come_up();
  say(Answer().credit(2));
  offer(2);
  send(2);
  const std::uint32_t begun = top_.deadline_o - limit;
  until(silences, 1);
  EXPECT_EQ(now - begun, limit + 1);  // It is noticed at an edge, and acted on at the next one.
  EXPECT_TRUE(top_.ask_o);
  confirm();
  EXPECT_FALSE(top_.ask_o) << "it has asked";
  say(Answer().credit(2));
  EXPECT_EQ(doubts, 0u);
  until(silences, 2);
  EXPECT_EQ(doubts, 1u);
  EXPECT_EQ(top_.sent_o, 0u);
  EXPECT_EQ(top_.generation_o, 1u);
  // News are the end of it: after them, the next silence is a first one.
  clock();
  take_restart();
  say(Answer().credit(2).generation(1).wanted(1));
  send(2);
  until(silences, 3);
  EXPECT_EQ(doubts, 1u);
}

TEST_F(Offered, ASilenceIsNoticedWhileTheTimeGoesAround) {
  now = 0xffff'ffed;
  begin(2, 2);
  const std::uint32_t begun = top_.deadline_o - limit;
  ASSERT_GT(now, 0xffff'ff00) << "before the time goes around";
  ASSERT_LT(top_.deadline_o, limit);
  until(silences, 1);
  EXPECT_EQ(now - begun, limit + 1);
  EXPECT_TRUE(top_.ask_o);
}

TEST_F(Offered, EachKindOfNewsBeginsAnew) {
  come_up();
  offer(2);
  clock(limit / 2);
  say(Answer().credit(1));
  EXPECT_EQ(top_.deadline_o, now + limit) << "a credit, after none was left";
  send(1);
  clock(limit / 2);
  say(Answer().answered(1).credit(1).digest(digest(1)));
  EXPECT_EQ(top_.deadline_o, now + limit) << "an answer";
  confirm();
  clock(limit / 2);
  say(Answer().answered(1).done(1).credit(1).digest(digest(1)));
  EXPECT_EQ(top_.deadline_o, now + limit) << "a settlement";
  say(Answer().answered(1).done(1).credit(1).wanted(1).digest(digest(1)));
  clock(limit / 2);
  say(Answer().answered(1).done(1).credit(1).generation(1).wanted(1).digest(digest(1)));
  EXPECT_EQ(top_.deadline_o, now + limit) << "the generation is shown";
  const std::uint32_t before = top_.deadline_o;
  clock(limit / 2);
  say(Answer().answered(1).done(1).credit(1).generation(1).wanted(1).digest(digest(1)));
  EXPECT_EQ(top_.deadline_o, before) << "no news";
}

// Progress in any clock about the one in which a silence would be over
TEST_F(Offered, NewsInTimePreventASilence) {
  std::uint32_t last = 0;
  come_up();
  say(Answer().credit(1000));
  for (unsigned wait = limit - 6; wait < limit + 3; ++wait) {
    offer(++last);
    send(1);
    const std::uint32_t deadline = top_.deadline_o;
    silences = 0;
    clock(wait - 2);
    say(Answer().answered(last).done(last - 1).credit(1000).digest(digest(last)));
    clock(2);
    // In the clock of the deadline, the return has become news.
    EXPECT_EQ(silences, now - 2 > deadline ? 1u : 0u) << wait;
    confirm();
    say(Answer().answered(last).done(last).credit(1000).digest(digest(last)));
  }
}

// A drop, at any distance from the end of a silence, leaves nothing to wait for.
TEST_F(Offered, WhoNoLongerWaitsDoesNotAsk) {
  come_up();
  for (unsigned wait = limit - 4; wait < limit + 4; ++wait) {
    offer(3);
    clock(wait);
    top_.drop_i = 1;
    clock();
    const unsigned before = silences;
    clock(limit);
    EXPECT_EQ(silences, before) << wait;
    confirm();
  }
}

// Who lacks only a credit does not doubt while returns come.
TEST_F(Offered, WithoutRoomThereIsDoubtOnlyIfNobodyAnswers) {
  come_up();
  offer(1);
  for (unsigned i = 0; i < 4 * limit / 3; ++i) {
    say(Answer());
    clock();
  }
  EXPECT_GT(silences, 2u);
  silences = 4;
  EXPECT_EQ(doubts, 0u);
  until(silences, 6);
  EXPECT_EQ(doubts, 1u) << "the first return that is asked for has come";
  EXPECT_EQ(top_.generation_o, 0u) << "nothing was sent";
  EXPECT_FALSE(top_.restart_valid_o);
}

// A doubt about what is only not settled reverses nothing.
TEST_F(Offered, ADoubtReversesOnlyWhatIsNotAnswered) {
  begin(2, 2);
  say(Answer().answered(2).credit(10).digest(digest(2)));
  confirm();
  until(doubts, 2);
  clock();
  EXPECT_EQ(top_.generation_o, 0u);
  EXPECT_FALSE(top_.restarting_o);
  EXPECT_EQ(top_.confirmed_o, 2u);
}

// A restart that nobody answers is repeated, and is no reason for another generation.
TEST_F(Offered, ARestartIsRepeatedAfterASilence) {
  begin(2, 1);
  top_.withdraw_i = 1;
  clock();
  take_restart();
  EXPECT_FALSE(top_.restart_valid_o);
  send(1);
  for (unsigned i = 1; i < 4; ++i) {
    top_.withdraw_i = 1;  // once more
    until(silences, i);
    EXPECT_EQ(top_.generation_o, 1u);
    take_restart();
    clock();
    EXPECT_FALSE(top_.restart_valid_o);
  }
  EXPECT_EQ(doubts, 2u);
}

TEST_F(Offered, AWithdrawalOfNothingDoesNothing) {
  come_up();
  top_.withdraw_i = 1;
  clock(2);
  EXPECT_EQ(top_.generation_o, 0u);
  EXPECT_FALSE(top_.restart_valid_o);
}

// until it has acted on what has happened, and while something has to leave. In between it may
// stop.
TEST_F(Offered, ItIsBusyUntilItHasActed) {
  EXPECT_FALSE(top_.busy_o) << "down";
  top_.up_i = 1;
  top_.eval();
  EXPECT_TRUE(top_.busy_o) << "up, and slots may leave from the next clock on";
  top_.up_i = 0;
  come_up();
  EXPECT_FALSE(top_.busy_o);
  come(Answer());
  EXPECT_TRUE(top_.busy_o) << "a return";
  clock();
  EXPECT_FALSE(top_.busy_o);
  offer(2);
  say(Answer().credit(2));
  EXPECT_FALSE(top_.slot_valid_o);
  EXPECT_TRUE(top_.busy_o) << "a credit";
  clock();
  EXPECT_TRUE(top_.slot_valid_o);
  EXPECT_TRUE(top_.busy_o) << "slots that may leave";
  clock(3);
  EXPECT_TRUE(top_.busy_o);
  send(2);
  EXPECT_FALSE(top_.busy_o);
  ASSERT_LE(top_.deadline_o - now, limit);
  while (now != top_.deadline_o && silences == 0) {
    EXPECT_FALSE(top_.busy_o) << "waiting";
    clock();
  }
  EXPECT_TRUE(top_.busy_o) << "the end of the silence";
  clock();
  EXPECT_EQ(silences, 1u);
  clock(3);
  EXPECT_TRUE(top_.busy_o) << "a return has to ask";
  confirm();
  EXPECT_FALSE(top_.busy_o);
  top_.withdraw_i = 1;
  clock(4);
  top_.drop_i = 1;
  clock(4);
  EXPECT_TRUE(top_.busy_o) << "a restart";
  take_restart();
  EXPECT_FALSE(top_.busy_o);
  say(Answer().credit(2).generation(1).wanted(1));
  offer(1);
  send(1);
  say(Answer().answered(1).credit(2).generation(1).wanted(1).digest(digest(1)));
  clock(3);
  EXPECT_TRUE(top_.busy_o) << "a confirmation";
  confirm();
  EXPECT_FALSE(top_.busy_o);
  come(Answer().answered(1).done(1).credit(2).generation(1).wanted(1).digest(digest(1)));
  clock();
  EXPECT_TRUE(top_.busy_o) << "what is settled is counted";
  clock();
  EXPECT_EQ(commits, 1u);
  EXPECT_FALSE(top_.busy_o);
}

// An index that is refused looks like one that takes slots back, so that none leaves for a moment.
TEST_F(Offered, ItIsBusyWhenSlotsWaitForTheNextClock) {
  begin(5, 3);
  top_.withdraw_i = 1;
  clock(2);
  take_restart();
  send(2);
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(top_.restarting_o, i == 0);
    top_.offer_i = 1;
    top_.offer_number_i = 1;
    clock();
    EXPECT_EQ(top_.offered_o, 5u);
    EXPECT_FALSE(top_.slot_valid_o);
    EXPECT_TRUE(top_.busy_o);
    clock();
    EXPECT_TRUE(top_.slot_valid_o);
    say(Answer().credit(10).generation(1).wanted(1));
  }
}

TEST_F(Relayed, ItIsBusyWhenSlotsWaitForTheNextClock) {
  come_up();
  say(Answer().credit(10));
  offer(3);
  retract(3);  // takes nothing back
  EXPECT_FALSE(top_.slot_valid_o);
  EXPECT_TRUE(top_.busy_o);
  clock();
  EXPECT_TRUE(top_.slot_valid_o);
}

}  // namespace
}  // namespace window
