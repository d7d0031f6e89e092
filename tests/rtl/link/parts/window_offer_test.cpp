// SPDX-License-Identifier: Apache-2.0
// Offers of a firmware and of a relay, and how they are taken back
#include "tests/rtl/link/parts/window.h"

namespace window {
namespace {

TEST_F(Offered, AnOfferIsBetweenWhatIsSentAndTheEndOfTheRing) {
  begin(8, 5);
  say(Answer().answered(2).credit(10).digest(digest(2)));
  confirm();
  say(Answer().answered(2).done(2).credit(10).digest(digest(2)));
  const auto refuses = [this](std::uint32_t number) {
    refused = 0;
    const std::uint32_t before = top_.offered_o;
    offer(number);
    EXPECT_EQ(top_.offered_o, refused != 0 ? before : number);
    return refused != 0;
  };
  EXPECT_TRUE(refuses(1));
  EXPECT_TRUE(refuses(4));
  EXPECT_TRUE(refuses(2 + ring));
  EXPECT_TRUE(refuses(0xffff'ffff));
  EXPECT_FALSE(refuses(1 + ring));
  EXPECT_FALSE(refuses(5));
  EXPECT_FALSE(top_.slot_valid_o);
  // A number that is no offer
  refused = 0;
  for (const unsigned number : {9, 99}) {
    top_.offer_number_i = number;
    clock(3);
  }
  EXPECT_EQ(top_.offered_o, 5u);
  EXPECT_EQ(refused, 0u);
}

// An index at the pins that is not an offer
TEST_F(Offered, OnlyAnOfferTakesSlotsBack) {
  come_up();
  say(Answer().credit(10));
  offer(5);
  top_.offer_number_i = 0;
  clock(2);
  EXPECT_TRUE(top_.slot_valid_o);
}

TEST_F(Offered, AnOfferOfMoreDelaysNothing) {
  come_up();
  say(Answer().credit(10));
  offer(2);
  top_.offer_i = 1;
  top_.offer_number_i = 5;
  for (unsigned i = 0; i < 3; ++i) {
    top_.eval();
    EXPECT_TRUE(top_.slot_valid_o) << i;
    clock();
  }
  EXPECT_EQ(top_.offered_o, 5u);
}

TEST_F(Offered, NothingLeavesInTheClockAfterAnOfferIsTakenBack) {
  come_up();
  say(Answer().credit(20));
  std::uint32_t last = 0;
  for (const bool drops : {false, true}) {
    offer(last + 5);
    send(2);
    last += 2;
    EXPECT_TRUE(top_.slot_valid_o);
    top_.drop_i = drops;
    top_.offer_i = !drops;
    top_.offer_number_i = last;
    top_.eval();
    EXPECT_FALSE(top_.slot_valid_o);
    clock();
    EXPECT_EQ(top_.offered_o, last);
    for (unsigned i = 0; i < 3; ++i) {
      EXPECT_FALSE(top_.slot_valid_o) << i;
      clock();
    }
  }
}

TEST_F(Offered, ARelaysPinsDoNotMatter) {
  begin(3, 1);
  grant(0);
  top_.relay_i[1] = 0;
  for (unsigned i = 0; i < 3; ++i) {
    top_.relay_i[2] = 1;
    top_.eval();
    EXPECT_TRUE(top_.slot_valid_o);
    clock();
  }
  EXPECT_EQ(top_.offered_o, 3u);
  EXPECT_EQ(top_.sent_o, 1u);
}

TEST_F(Relayed, ARelayAsksForACreditBeforeItIsOfferedAnything) {
  come_up();
  EXPECT_TRUE(waits());
  until(silences, 1);
  EXPECT_TRUE(top_.ask_o);
  say(Answer().credit(2));
  EXPECT_FALSE(waits());
  clock(3 * limit);
  EXPECT_EQ(silences, 1u);
}

TEST_F(Relayed, NobodyWaitsForWhatIsNotGranted) {
  come_up();
  say(Answer().credit(10));
  grant(1);
  offer(3);
  send(3);
  EXPECT_TRUE(waits());
  say(Answer().answered(3).credit(10).digest(digest(3)));
  EXPECT_TRUE(top_.confirm_due_o);
  EXPECT_EQ(top_.confirm_o, 1u);
  confirm();
  EXPECT_FALSE(top_.confirm_due_o);
  EXPECT_EQ(top_.confirmed_o, 1u);
  say(Answer().answered(3).done(1).credit(10).digest(digest(3)));
  EXPECT_FALSE(waits());
  grant(9);
  EXPECT_EQ(top_.confirm_o, 3u);
  EXPECT_TRUE(waits());
}

// What it takes back has not left, has left, or is answered already.
TEST_F(Relayed, ARelayTakesSlotsBack) {
  come_up();
  say(Answer().credit(10));
  grant(0);
  offer(6);
  send(4);
  say(Answer().answered(3).credit(10).digest(digest(3)));
  retract(5);
  EXPECT_EQ(top_.offered_o, 5u);
  EXPECT_EQ(top_.sent_o, 4u);
  EXPECT_EQ(top_.generation_o, 0u);
  retract(4);
  EXPECT_EQ(top_.generation_o, 0u) << "nothing that has left";
  retract(3);
  EXPECT_EQ(top_.sent_o, 3u);
  EXPECT_EQ(top_.answered_o, 3u);
  EXPECT_EQ(top_.generation_o, 1u);
  grant(1);
  confirm();
  say(Answer().answered(3).credit(10).generation(1).wanted(1).digest(digest(3)));
  retract(2);
  EXPECT_EQ(top_.sent_o, 1u);
  EXPECT_EQ(top_.answered_o, 1u) << "what is confirmed remains";
  EXPECT_EQ(top_.generation_o, 2u);
  EXPECT_EQ(top_.restart_o, std::uint64_t{2} << 48 | std::uint64_t{1} << 16 | digest(1));
}

// Answered and granted slots, whose confirmation has not left
TEST_F(Relayed, WhatIsNotConfirmedIsTakenBack) {
  come_up();
  say(Answer().credit(10));
  grant(2);
  offer(3);
  send(3);
  say(Answer().answered(3).credit(10).digest(digest(3)));
  retract(0);
  EXPECT_EQ(top_.answered_o, 0u);
  EXPECT_EQ(top_.restart_o, std::uint64_t{1} << 48) << "the digest of nothing";
}

TEST_F(Relayed, WhatIsTakenBackDoesNotLeave) {
  come_up();
  say(Answer().credit(10));
  offer(3);
  EXPECT_TRUE(top_.slot_valid_o);
  top_.relay_i[1] = 0;
  top_.relay_i[2] = 1;
  top_.eval();
  EXPECT_FALSE(top_.slot_valid_o);
  clock();
  EXPECT_FALSE(top_.slot_valid_o);
}

// After a join, digests begin anew. A return that confirms nothing more changes nothing.
TEST_F(Relayed, TheDigestOfWhatIsConfirmedBeginsAnewWithAJoin) {
  begin(3, 3);
  say(Answer().answered(3).credit(10).digest(digest(3)));
  confirm();
  EXPECT_EQ(top_.confirmed_o, 3u);
  cut();
  come_up(3);
  EXPECT_EQ(top_.settled_o, 3u);
  say(Answer().answered(3).done(3).credit(13));
  grant(3);
  confirm();
  offer(6);
  send(3);
  say(Answer().answered(6).done(3).credit(13).digest(digest(6, 3)));
  confirm();
  EXPECT_EQ(top_.confirmed_o, 3u);
  retract(3);
  EXPECT_EQ(top_.answered_o, 3u);
  EXPECT_EQ(top_.restart_o, std::uint64_t{1} << 48 | std::uint64_t{3} << 16);
}

TEST_F(Relayed, ARelayWaitsUntilItsGenerationIsShown) {
  begin(3, 2);
  say(Answer().credit(10).wanted(1));
  take_restart();
  clock(3);
  EXPECT_FALSE(top_.slot_valid_o);
  EXPECT_FALSE(top_.busy_o);
  say(Answer().credit(10).generation(1).wanted(1));
  clock();
  EXPECT_TRUE(top_.slot_valid_o);
}

}  // namespace
}  // namespace window
