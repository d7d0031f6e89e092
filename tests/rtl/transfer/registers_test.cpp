// SPDX-License-Identifier: Apache-2.0
// The firmware's accesses to the registers of a link: what each changes, and when.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

class LinkRegisters : public LinkByHand {
 protected:
  void SetUp() override { bring_up(); }
  /// The firmware of A has two transfers to take.
  void receive_two() {
    for (unsigned i = 0; i < 2; ++i) {
      ASSERT_EQ(send(b, slots(1, i)), unsigned{OAE_OUTCOME_COMMITTED});
    }
    ASSERT_EQ(transfers(a), 2u);
  }
  unsigned clocks_of_a_read() {
    const std::uint64_t before = now;
    get(a, OAE_LINK_ID);
    return now - before;
  }
};

TEST_F(LinkRegisters, EveryPageHasItsWords) {
  ASSERT_EQ(send(b, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  get(a, OAE_LINK_ID);
  EXPECT_FALSE(a.error);
  EXPECT_EQ(get(a, OAE_LINK_RECEIVE), slots(1, 1)[0][0]);
  EXPECT_FALSE(a.error);
  EXPECT_EQ(get(a, OAE_LINK_SEND), 0u) << "it cannot be read";
  EXPECT_FALSE(a.error);
  EXPECT_EQ(get(a, 0x3000), 0u);
  EXPECT_TRUE(a.error);
}

TEST_F(LinkRegisters, WritesOfOtherPagesChangeNoRegister) {
  receive_two();
  const std::uint64_t limits = get(a, OAE_LINK_LIMITS);
  event(a);
  for (const unsigned page : {0x1000u, 0x2000u, 0x3000u, 0x1'0000u}) {
    put(a, page + OAE_LINK_LIMITS, 0x12'3456'7890);
    put(a, page + OAE_LINK_COMMAND, OAE_LINK_COMMAND_TAKE);
    put(a, page + OAE_LINK_COMMAND, OAE_LINK_COMMAND_WITHDRAW);
    put(a, page + OAE_LINK_CONTROL, 0);
  }
  EXPECT_EQ(get(a, OAE_LINK_LIMITS), limits);
  EXPECT_EQ(transfers(a), 2u);
  EXPECT_EQ(event(a), 0u);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
}

// What the pins of the write channel hold does not matter meanwhile.
TEST_F(LinkRegisters, ReadsChangeNothing) {
  receive_two();
  command(a, OAE_LINK_COMMAND_TAKE);
  get(a, OAE_LINK_COMMAND);
  EXPECT_EQ(transfers(a), 1u);
  const std::uint64_t limits = get(a, OAE_LINK_LIMITS);
  put(a, OAE_LINK_IRQ_ENABLE, 0x5a);
  for (unsigned word = 0; word <= OAE_LINK_SESSION; word += 8) get(a, word);
  EXPECT_EQ(get(a, OAE_LINK_LIMITS), limits);
  EXPECT_EQ(get(a, OAE_LINK_IRQ_ENABLE), 0x5au);
  EXPECT_TRUE(get(a, OAE_LINK_EVENT) & OAE_LINK_EVENT_RECEIVED_MASK);
  fill(a, slots(1, 1));
  get(a, OAE_LINK_SEND);
  command(a, packet);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(LinkRegisters, OnlyACommandToTakeTakes) {
  receive_two();
  for (const unsigned verb : {unsigned{OAE_LINK_COMMAND_NONE}, unsigned{OAE_LINK_COMMAND_WITHDRAW},
                              unsigned{OAE_LINK_COMMAND_SETTLE_LOST}, 0x84u}) {
    command(a, verb);
  }
  put(a, OAE_LINK_LIVENESS, OAE_LINK_COMMAND_TAKE);
  put(a, OAE_LINK_COMMAND, OAE_LINK_COMMAND_TAKE, 0xfe);
  EXPECT_EQ(transfers(a), 2u);
}

TEST_F(LinkRegisters, ACommandOfOneByteIsForOneSlot) {
  fill(a, slots(4, 1));
  put(a, OAE_LINK_COMMAND, packet | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_4), 0x01);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(1, 1));
}

TEST_F(LinkRegisters, OnlyAWriteToThemClearsEvents) {
  const std::uint64_t events = get(a, OAE_LINK_EVENT);
  ASSERT_NE(events, 0u);
  put(a, OAE_LINK_EVENT, 0xff, 0xfe);
  put(a, OAE_LINK_LIVENESS, 0xff);
  EXPECT_EQ(get(a, OAE_LINK_EVENT), events);
  put(a, OAE_LINK_EVENT, 0xff);
  EXPECT_EQ(get(a, OAE_LINK_EVENT), 0u);
  // The address and the data of a write stay on the pins.
  put(a, OAE_LINK_EVENT, 0xff);
  EXPECT_EQ(send(b, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(get(a, OAE_LINK_EVENT), unsigned{OAE_LINK_EVENT_RECEIVED_MASK});
}

TEST_F(LinkRegisters, EveryOutcomeIsAnEvent) {
  const auto is_event = [this] { return (event(a) & OAE_LINK_EVENT_SETTLED_MASK) != 0; };
  EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_TRUE(is_event());
  EXPECT_EQ(send(a, {Slot{}}), unsigned{OAE_OUTCOME_REVERSED}) << "without its CRC";
  EXPECT_TRUE(is_event());
  fill(a, slots(1, 1));
  a.post_put(OAE_LINK_COMMAND, flow);
  until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
  take_down();
  EXPECT_FALSE(is_event());
  command(a, OAE_LINK_COMMAND_SETTLE_LOST);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
  EXPECT_TRUE(is_event());
}

TEST_F(LinkRegisters, ALinkThatIsLostWaitsForItsFirmware) {
  to_a.cut();
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  to_a.join();
  const auto stays_down = [this] {
    clock(4);
    return a.phase() == OAE_LINK_STATE_DOWN;
  };
  EXPECT_TRUE(stays_down());
  get(a, OAE_LINK_CONTROL);
  EXPECT_TRUE(stays_down()) << "after a read of the control";
  put(a, OAE_LINK_IRQ_ENABLE, 0);
  EXPECT_TRUE(stays_down()) << "after another write";
  put(a, OAE_LINK_CONTROL, 0x101, 0xfe);
  EXPECT_TRUE(stays_down()) << "after a write of another byte";
  begin(a);
  EXPECT_FALSE(stays_down());
}

// The second access is on the pins while the response to the first one is still due.
TEST_F(LinkRegisters, ACommandThatWaitsIsCarriedOutOnce) {
  fill(a, slots(1, 1));
  event(a);
  a.hasty = true;
  a.post_put(OAE_LINK_IRQ_ENABLE, 0);
  a.post_put(OAE_LINK_COMMAND, packet);
  until([this] { return a.idle(); });
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_SETTLED_MASK});
}

TEST_F(LinkRegisters, AWriteThatWaitsChangesNothingYet) {
  a.hasty = true;
  a.top.axi_bready = 0;
  a.post_put(OAE_LINK_IRQ_ENABLE, 0xff);
  a.post_put(OAE_LINK_EVENT, 0xff);
  clock(10);
  EXPECT_TRUE(a.top.irq);
  a.top.axi_bready = 1;
  until([this] { return a.idle(); });
  EXPECT_FALSE(a.top.irq);
}

// The other side's frames come before commands, but do not hold up other accesses.
TEST_F(LinkRegisters, OnlyACommandWaitsForTheSender) {
  const unsigned usual = clocks_of_a_read();
  fill(a, slots(1, 1));
  for (unsigned delay = 0; delay < usual; ++delay) {
    a.post_put(OAE_LINK_COMMAND, packet);
    until([this] { return a.idle() && a.sender() == OAE_LINK_STATE_TENTATIVE; });
    clock(delay);
    while (a.sender() != OAE_LINK_STATE_IDLE) ASSERT_EQ(clocks_of_a_read(), usual);
    take(b);
  }
}

// The other side's answer comes in one of the clocks in which the firmware takes a transfer.
TEST_F(LinkRegisters, ATakeThatWaitsTakesOnce) {
  constexpr unsigned around = 5;
  fill(a, slots(1, 1));
  unsigned answered = 0;  // clocks after the frame
  for (unsigned round = 0; round <= around; ++round) {
    receive_two();
    a.post_put(OAE_LINK_COMMAND, packet);
    until([this] { return a.sender() == OAE_LINK_STATE_TENTATIVE; });
    if (round == 0) {
      for (; a.sender() == OAE_LINK_STATE_TENTATIVE; ++answered) clock();
    } else {
      clock(answered - round);
    }
    command(a, OAE_LINK_COMMAND_TAKE);
    EXPECT_EQ(transfers(a), 1u) << round;
    command(a, OAE_LINK_COMMAND_TAKE);
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
  }
}

}  // namespace
