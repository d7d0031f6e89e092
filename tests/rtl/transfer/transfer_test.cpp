// SPDX-License-Identifier: Apache-2.0
// What an end makes of frames that come late, twice, or at an unfortunate moment.
#include <gtest/gtest.h>

#include "tests/rtl/transfer/ends/by_hand.h"

namespace {

class LinkTransfer : public LinkByHand {
 protected:
  void SetUp() override {
    bring_up();
    event(a);
    event(b);
    forget();
  }
  /// Fills the receive buffer of B.
  void fill_receiver() {
    EXPECT_EQ(send(a, slots(1, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(send(a, slots(1, 2), true), unsigned{OAE_OUTCOME_COMMITTED});
  }
  /// Fills the path of `end` to its wire, which is held back, so that whatever comes next has to
  /// wait.
  void occupy(LinkEnd& end) {
    for (unsigned i = 0; i < 4; ++i) put(end, OAE_LINK_LIVENESS, i);
  }
  static unsigned count(const LinkWire& wire, unsigned protocol) {
    unsigned found = 0;
    for (const Frame& each : wire.frames) {
      found += OAE_GET(each[0], OAE_FRAME_HEADER_PROTOCOL) == protocol;
    }
    return found;
  }
  std::uint64_t journal(LinkEnd& end) { return get(end, OAE_LINK_JOURNAL); }
  static std::uint64_t committed(unsigned number) {
    return std::uint64_t{number} << 32 | OAE_OUTCOME_COMMITTED;
  }
};

// ---- The sender ----

TEST_F(LinkTransfer, OnlyPacketsCountAsFramesThatHaveLeft) {
  EXPECT_EQ(send(a, slots(4, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  rest();
  EXPECT_EQ(get(a, OAE_LINK_SENT) >> 8 & 0xff, 4u);
}

TEST_F(LinkTransfer, ABadSlotDoesNotLeave) {
  std::vector<Slot> sent = slots(4, 1);
  sent[2][3] ^= 1;
  EXPECT_EQ(send(a, sent), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(count(to_b, OAE_PROTOCOL_PACKET), 2u);
}

// Answers to the transfer before do not settle this one, nor do other frames that have its number.
TEST_F(LinkTransfer, OnlyTheAnswerToThisTransferSettlesIt) {
  EXPECT_EQ(send(a, slots(1, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
  take(b);
  lose(to_b, 0, 1);
  fill(a, slots(1, 2));
  command(a, flow);
  for (const std::uint64_t each :
       {header(OAE_PROTOCOL_DONE, 1), header(OAE_PROTOCOL_ANSWER, 1, true),
        header(OAE_PROTOCOL_PACKET, 2), header(OAE_PROTOCOL_ALIVE, 2)}) {
    insert(to_a, frame(each));
    clock(60);
    EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_COMMITTING}) << std::hex << each;
  }
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 0u);
}

// The other side has committed the transfer before, and nothing of this one has arrived.
TEST_F(LinkTransfer, TheJournalOfTheTransferBeforeCommitsNothing) {
  EXPECT_EQ(send(a, slots(1, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
  take(b);
  lose(to_b, 0, 1);
  fill(a, slots(1, 2));
  command(a, flow);
  clock(30);
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_COMMITTING});
  take_down();
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
  to_b.forgive();
  bring_up();
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 0u);
}

TEST_F(LinkTransfer, WithoutADoubtThereIsNothingToSettle) {
  take_down();
  event(a);
  for (const unsigned verb : {OAE_LINK_COMMAND_SETTLE_COMMITTED, OAE_LINK_COMMAND_SETTLE_REVERSED,
                              OAE_LINK_COMMAND_SETTLE_LOST}) {
    command(a, verb);
    EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_REFUSED_MASK});
  }
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_NONE});
}

TEST_F(LinkTransfer, NothingOfATransferLeavesAfterTheLinkWentDown) {
  fill(a, slots(64, 1));
  command(a, flow, OAE_BEATS_OF_64);
  clock(10);
  ASSERT_LT(to_b.frames.size(), 64u);
  take_down();
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
  clock(20);
  EXPECT_FALSE(a.top.busy);
  forget();
  bring_up();
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(count(to_b, OAE_PROTOCOL_FLOW), 0u);
}

// B has refused the transfer before A's withdrawal can leave.
TEST_F(LinkTransfer, AWithdrawalIsForgottenWithItsTransfer) {
  fill_receiver();
  fill(a, slots(1, 3));
  command(a, packet);
  hold_to_a = true;
  clock(60);
  hold_to_b = true;
  occupy(a);
  command(a, OAE_LINK_COMMAND_WITHDRAW);
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_REVERSING});
  hold_to_a = false;
  until([this] { return a.sender() == OAE_LINK_STATE_IDLE; });
  hold_to_b = false;
  rest();
  EXPECT_EQ(count(to_b, OAE_PROTOCOL_CONFIRM), 0u);
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_REVERSED});
}

TEST_F(LinkTransfer, AFrameThatWaitsForTheWireIsNoSilence) {
  limit_silence(b, 0x10'0000);
  limit_silence(a, 400);
  fill(a, slots(64, 1));
  command(a, packet, OAE_BEATS_OF_64);
  hold_to_b = true;
  clock(1000);
  EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_TENTATIVE});
  EXPECT_FALSE(a.top.deadline_valid);
  command(a, OAE_LINK_COMMAND_WITHDRAW);
  clock(1000);
  EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_REVERSING});
  EXPECT_FALSE(a.top.deadline_valid);
  hold_to_b = false;
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 0u);
}

// ---- The receiver ----

TEST_F(LinkTransfer, RoomThatComesDuringATransferIsForTheNextOne) {
  fill_receiver();
  fill(a, slots(64, 3));
  command(a, flow, OAE_BEATS_OF_64);
  until([this] { return b.receiver() == OAE_LINK_STATE_REFLECTING; });
  clock(8);
  command(b, OAE_LINK_COMMAND_TAKE);
  ASSERT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_REFLECTING});
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 1u);
  EXPECT_EQ(send(a, slots(64, 4), true), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(LinkTransfer, OnlyTheNextPacketBeginsATransfer) {
  const struct {
    std::uint64_t head;
    bool begins;
  } heads[] = {{header(OAE_PROTOCOL_PACKET, 1), true},  {header(OAE_PROTOCOL_FLOW, 1), true},
               {header(OAE_PROTOCOL_PACKET, 2), false}, {header(OAE_PROTOCOL_PACKET, 0), false},
               {header(OAE_PROTOCOL_ALIVE, 1), false},  {header(OAE_PROTOCOL_CONFIRM, 1), false}};
  for (const auto& [head, begins] : heads) {
    align(to_b, slices - 1);
    insert(to_b, frame(head), 1);  // and no more of it
    bool begun = false;
    for (unsigned i = 0; i < 60; ++i) {
      clock();
      begun = begun || b.receiver() == OAE_LINK_STATE_REFLECTING;
    }
    EXPECT_EQ(begun, begins) << std::hex << head;
    EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_IDLE}) << "it is damaged";
  }
}

TEST_F(LinkTransfer, AGapEndsATransfer) {
  lose(to_b, 1, 2);
  fill(a, slots(4, 1));
  command(a, packet, OAE_BEATS_OF_4);
  clock(150);
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_TENTATIVE});
  EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_IDLE});
}

TEST_F(LinkTransfer, OldSignalsChangeNothing) {
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(send(a, slots(1, i)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
  }
  for (const std::uint64_t each :
       {header(OAE_PROTOCOL_CONFIRM, 1, true), header(OAE_PROTOCOL_CONFIRM, 2, true),
        header(OAE_PROTOCOL_CONFIRM, 4), header(OAE_PROTOCOL_CONFIRM, 4 + 64, true)}) {
    insert(to_b, frame(each));
    clock(60);
    EXPECT_EQ(journal(b), committed(3)) << std::hex << each;
  }
  EXPECT_EQ(send(a, slots(1, 4)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(LinkTransfer, OnlyTheConfirmationOfThisTransferCommitsIt) {
  lose(to_a, 0, 1);
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return b.receiver() == OAE_LINK_STATE_TENTATIVE; });
  for (const unsigned number : {0u, 2u}) {
    insert(to_b, frame(header(OAE_PROTOCOL_CONFIRM, number)));
    clock(60);
    EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_TENTATIVE}) << number;
  }
  insert(to_b, frame(header(OAE_PROTOCOL_CONFIRM, 1)));
  clock(60);
  EXPECT_EQ(journal(b), committed(1));
}

// B's numbers are ahead of A's, so that a reply to B seems to be a packet of the future if it is
// taken for one.
TEST_F(LinkTransfer, RepliesDoNotDisturbTheTransferThatArrives) {
  EXPECT_EQ(send(b, slots(64, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
  take(a);
  for (const bool once : {false, true}) {
    const std::vector<Slot> from_a = slots(64, 2);
    const std::vector<Slot> from_b = slots(4, 3);
    fill(a, from_a);
    fill(b, from_b);
    const unsigned verb = once ? flow : packet;
    a.post_put(OAE_LINK_COMMAND, verb | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_64));
    b.post_put(OAE_LINK_COMMAND, verb | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_4));
    until([this] { return a.idle() && b.idle(); });
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(settled(b), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, from_a);
    EXPECT_EQ(take(a).slots, from_b);
  }
}

TEST_F(LinkTransfer, AnEmptyBufferShowsNothing) {
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_EQ(send(a, slots(64, i), true), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    EXPECT_EQ(get(b, OAE_LINK_RECEIVED), 0u);
    EXPECT_EQ(get(b, OAE_LINK_RECEIVE), 0u);
  }
  command(b, OAE_LINK_COMMAND_TAKE);
  EXPECT_EQ(get(b, OAE_LINK_RECEIVED), 0u) << "nothing was taken";
  // Of a shorter transfer, it shows only that one.
  EXPECT_EQ(send(a, slots(1, 3), true), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_NE(get(b, OAE_LINK_RECEIVE), 0u);
  for (const unsigned slot : {1u, 4u, 63u}) EXPECT_EQ(get(b, OAE_LINK_RECEIVE_AT(slot)), 0u);
}

// B sends frame after frame when it has to reply.
TEST_F(LinkTransfer, AReplyWaitsForItsTurn) {
  limit_silence(0x10'0000);
  for (const unsigned percent : {0u, 50u}) {
    stall = percent;
    for (unsigned i = 0; i < 4; ++i) {
      fill(b, slots(64, i));
      command(b, flow, OAE_BEATS_OF_64);
      EXPECT_EQ(send(a, slots(1, i), i % 2 != 0), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_EQ(settled(b), unsigned{OAE_OUTCOME_COMMITTED});
      take(a);
      take(b);
    }
  }
}

TEST_F(LinkTransfer, AReplyDoesNotOutliveTheLink) {
  limit_silence(0x10'0000);
  hold_to_a = true;
  occupy(b);
  fill(a, slots(1, 1));
  command(a, flow);
  until([this] { return b.top.trace_received == OAE_OUTCOME_COMMITTED; });
  end(b);
  hold_to_a = false;
  end(a);
  clock(60);
  EXPECT_FALSE(b.top.busy);
  forget();
  bring_up();
  EXPECT_EQ(count(to_a, OAE_PROTOCOL_DONE), 0u);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
}

// ---- A sign of life ----

/// An alive frame whose check is zero, as that of a wire without a frame seems to be.
TEST_F(LinkTransfer, AFrameWithACheckOfZeroCountsOnce) {
  Frame zero = frame(header(OAE_PROTOCOL_ALIVE, 0) | std::uint64_t{7} << 32);
  const auto check = [&zero] { return crc64(zero.data(), 56); };
  // Each bit of slice 6 changes the check in its own way. Gauss's elimination finds those which
  // clear it.
  std::uint64_t change[64];
  std::uint64_t bits[64];
  const std::uint64_t target = check();
  for (unsigned i = 0; i < 64; ++i) {
    zero[6] = bits[i] = std::uint64_t{1} << i;
    change[i] = check() ^ target;
  }
  zero[6] = 0;
  std::uint64_t left = target;
  for (unsigned column = 0; column < 64; ++column) {
    const std::uint64_t bit = std::uint64_t{1} << column;
    unsigned pivot = column;
    while ((change[pivot] & bit) == 0) ++pivot;
    std::swap(change[pivot], change[column]);
    std::swap(bits[pivot], bits[column]);
    for (unsigned i = column + 1; i < 64; ++i) {
      if (change[i] & bit) change[i] ^= change[column], bits[i] ^= bits[column];
    }
    if (left & bit) left ^= change[column], zero[6] ^= bits[column];
  }
  ASSERT_EQ(check(), 0u);
  zero[7] = 0;
  insert(to_b, zero);
  clock(60);
  EXPECT_EQ(get(b, OAE_LINK_ALIVE) & 0xffff'ffff, 7u);
  EXPECT_EQ(event(b), unsigned{OAE_LINK_EVENT_ALIVE_MASK});
  clock(100);
  EXPECT_EQ(event(b), 0u);
  EXPECT_GT(get(b, OAE_LINK_ALIVE) >> 32, 100u);
}

}  // namespace
