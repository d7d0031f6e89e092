// SPDX-License-Identifier: Apache-2.0
// The pins of the clock gate: when an end needs its clock, and when it will need it again.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

class LinkClock : public LinkByHand {
 protected:
  unsigned limit(unsigned silence) const { return silence / slices + 1; }
  /// A's journals wait for an answer, which B does not give.
  void begin_a(unsigned silence, unsigned first_lost) {
    limit_silence(a, silence);
    limit_silence(b, long_silence);
    lose(to_b, first_lost, 100);
    begin(a);
    begin(b);
    clock(100);
    until([this] { return !a.top.busy; });
  }
  /// A waits for exactly this time before it sends its journal once more.
  void expect_repetition(unsigned state) {
    ASSERT_EQ(a.phase(), state);
    ASSERT_TRUE(a.top.deadline_valid);
    const std::uint64_t deadline = a.top.deadline;
    clock(10);
    EXPECT_EQ(a.top.deadline, deadline) << "it does not move";
    EXPECT_GT(deadline, now);
    const std::size_t frames = to_b.frames.size();
    now = deadline - 2;
    clock();
    EXPECT_FALSE(a.top.busy);
    clock();
    EXPECT_TRUE(a.top.busy);
    clock(20);
    EXPECT_EQ(to_b.frames.size(), frames + 1);
    ASSERT_TRUE(a.top.deadline_valid);
    EXPECT_NEAR(a.top.deadline - deadline, limit(4000), 2);
  }
  /// The end needs its clock until the next frame is on its wire, and not beyond.
  void expect_clock_for_a_frame(LinkEnd& end, const LinkWire& wire) {
    const std::size_t frames = wire.frames.size();
    for (unsigned i = 0; wire.frames.size() == frames; ++i) {
      ASSERT_LT(i, 100u);
      ASSERT_TRUE(end.top.busy) << i;
      clock();
    }
    EXPECT_FALSE(end.top.busy);
  }
};

TEST_F(LinkClock, AJournalIsRepeatedAtTheDeadline) {
  begin_a(4000, 0);
  expect_repetition(OAE_LINK_STATE_INITIALISING);
}

TEST_F(LinkClock, ASideThatHasJoinedRepeatsItsJournalAtTheDeadline) {
  begin_a(4000, 1);
  expect_repetition(OAE_LINK_STATE_JOINED);
}

TEST_F(LinkClock, AJournalThatLeavesHasNoDeadline) {
  begin(b);
  clock(60);
  a.post_put(OAE_LINK_CONTROL, 1);
  until([this] { return a.phase() == OAE_LINK_STATE_INITIALISING; });
  EXPECT_TRUE(a.top.busy);
  EXPECT_FALSE(a.top.deadline_valid);
}

TEST_F(LinkClock, SlicesAreMissedFromTheClockInWhichTheyEnd) {
  bring_up();
  EXPECT_FALSE(a.top.busy);
  EXPECT_FALSE(a.top.deadline_valid);
  to_a.cut();
  settle(++now);
  EXPECT_FALSE(a.top.deadline_valid) << "before the edge that takes the time";
  rise();
  settle(++now);
  EXPECT_TRUE(a.top.deadline_valid);
  EXPECT_EQ(a.top.deadline, now - 1 + limit(0x1000));
  rise();
  to_a.join();
  settle(++now);
  EXPECT_FALSE(a.top.deadline_valid) << "they are back";
  rise();
}

TEST_F(LinkClock, ATransferHasADeadlineOnlyWhenItsFramesHaveLeft) {
  bring_up();
  fill(a, slots(1, 1));
  lose(to_b, 0, 1);
  a.post_put(OAE_LINK_COMMAND, OAE_LINK_COMMAND_PACKET);
  until([this] { return a.sender() == OAE_LINK_STATE_TENTATIVE; });
  EXPECT_TRUE(a.top.busy);
  EXPECT_FALSE(a.top.deadline_valid);
  until([this] { return !a.top.busy; });
  EXPECT_TRUE(a.top.deadline_valid);
}

TEST_F(LinkClock, EachPhaseOfATransferKeepsTheClock) {
  bring_up();
  fill(a, slots(1, 1));
  a.post_put(OAE_LINK_COMMAND, packet);
  until([this] { return a.sender() == OAE_LINK_STATE_TENTATIVE; });
  expect_clock_for_a_frame(a, to_b);
  until([this] { return b.receiver() == OAE_LINK_STATE_TENTATIVE; });
  expect_clock_for_a_frame(b, to_a);
  until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
  expect_clock_for_a_frame(a, to_b);
  until([this] { return b.receiver() == OAE_LINK_STATE_IDLE; });
  expect_clock_for_a_frame(b, to_a);
}

TEST_F(LinkClock, ASignOfLifeKeepsTheClock) {
  come_up_after_joining();
  expect_clock_for_a_frame(a, to_b);
}

TEST_F(LinkClock, AnAccessKeepsTheClockUntilItsResponseIsTaken) {
  a.top.axi_rready = 0;
  a.post_get(OAE_LINK_ID, {});
  for (unsigned i = 0; i < 10; ++i) {
    clock();
    EXPECT_TRUE(a.top.busy) << i;
  }
  a.top.axi_rready = 1;
  clock();
  EXPECT_TRUE(a.idle());
  EXPECT_FALSE(a.top.busy);
}

TEST_F(LinkClock, TheDeadlineIsTheEarlierOne) {
  bring_up();
  to_a.cut();
  clock(2);
  ASSERT_TRUE(a.top.deadline_valid);
  const std::uint64_t missed = a.top.deadline;
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return !a.top.busy; });
  EXPECT_EQ(a.top.deadline, missed) << "that of the slices, not of the answer";
  to_a.join();
  settle(++now);
  ASSERT_TRUE(a.top.deadline_valid);
  EXPECT_GT(a.top.deadline, missed) << "that of the answer";
  rise();
}

TEST_F(LinkClock, AFrameThatArrivesKeepsTheClock) {
  bring_up();
  const unsigned lane = slices / 2;
  align(to_b, lane);
  insert(to_b, frame(header(OAE_PROTOCOL_ALIVE, 0)));
  until([this] { return b.top.rx_kind != 0; });
  for (unsigned arrived = slices - lane; arrived < 8; arrived += slices) {
    EXPECT_TRUE(b.top.busy) << arrived;
    clock();
  }
  EXPECT_TRUE(b.top.busy) << "to check it";
  clock();
  EXPECT_FALSE(b.top.busy);
}

TEST_F(LinkClock, DamageKeepsTheClock) {
  bring_up();
  insert(to_b, OAE_KIND_PAYLOAD, 1);
  until([this] { return b.top.rx_kind != 0; });
  EXPECT_TRUE(b.top.busy);
}

// An idle slice ends the damage, whether the clock runs for anything else or not.
TEST_F(LinkClock, StraySlicesKeepTheClockUntilTheWireIsIdle) {
  bring_up();
  align(to_b, 0);
  for (unsigned i = 0; i < 60 * slices; ++i) insert(to_b, OAE_KIND_PAYLOAD, i);
  until([this] { return b.top.rx_kind != 0; });
  clock(50);  // The report of the damage has left.
  ASSERT_NE(b.top.rx_kind, 0u);
  for (; b.top.rx_kind != 0; clock()) EXPECT_TRUE(b.top.busy);
  EXPECT_FALSE(b.top.busy);
}

// The link goes down while the beginning of a frame has arrived.
TEST_F(LinkClock, TheBeginningOfAFrameIsForgottenWithTheLink) {
  bring_up();
  align(to_b, slices == 8 ? 4 : 0);
  insert(to_b, frame(header(OAE_PROTOCOL_ALIVE, 0)), 4);
  clock(to_b.length() / slices);
  EXPECT_TRUE(b.top.busy);
  to_b.cut();
  end(b);
  end(a);
  clock(20);
  EXPECT_FALSE(b.top.busy);
  to_b.join();
  bring_up();
  EXPECT_EQ(get(b, OAE_LINK_COUNT_DAMAGED), 0u);
}

// The wire takes nothing, so that one frame waits behind another one.
TEST_F(LinkClock, FramesThatWaitAreForgottenWithTheLink) {
  bring_up();
  hold_to_b = true;
  for (unsigned i = 0; i < 3; ++i) put(a, OAE_LINK_LIVENESS, i);
  EXPECT_TRUE(a.top.busy);
  a.post_put(OAE_LINK_CONTROL, 0);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  clock();
  EXPECT_TRUE(a.idle());
  EXPECT_FALSE(a.top.busy);
}

}  // namespace
