// SPDX-License-Identifier: Apache-2.0
// Joined ports of two cells: hosts swap, and no firmware takes part once the link is up.
#include <fmt/format.h>

#include <vector>

#include "tests/rtl/bridge/cells.h"

namespace bridge {
namespace {

class Bridge : public Cells {
 protected:
  Bridge() { bring_up(); }
};

TEST_F(Bridge, TheFirstSwapIsAnsweredByAnEmptySlot) {
  Host host = open(*a, 1);
  EXPECT_EQ(exchange(host, 7), 0u);
  EXPECT_FALSE(swap(host, 8)) << "the other host has not sent a slot";
}

TEST_F(Bridge, SlotsGoToTheOtherHostInTheirOrder) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  std::uint64_t sent_here = 100;
  std::uint64_t sent_there = 200;
  for (unsigned round = 0; round < 40; ++round) {
    EXPECT_EQ(exchange(here, sent_here + 1), round == 0 ? 0 : sent_there);
    rest();
    EXPECT_EQ(exchange(there, sent_there + 1), round == 0 ? 0 : sent_here);
    rest();
    ++sent_here;
    ++sent_there;
  }
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 40u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_BROUGHT), 40u);
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_STRAY), 0u);
}

TEST_F(Bridge, LimitsHoldWhileTheTimeGoesAround) {
  constexpr std::uint64_t around = std::uint64_t{1} << 32;
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  rest();
  now = around - 2000;  // Nothing moves, and the clocks may stop until then.
  tend(*a);
  tend(*b);
  exchange(here, 1);
  exchange(there, 2);
  rest();
  ASSERT_LT(now, around - 100);
  clock(static_cast<unsigned>(around - now - 100));
  EXPECT_TRUE(is_up());
  cables[0].forth.cut();
  until([this] { return *b->left.phase == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_GE(now, around + 200);
  EXPECT_LT(now, around + 300);
  cables[0].forth.join();
  tend_until_up();
  EXPECT_EQ(exchange(here, 3), 2u);
  EXPECT_EQ(exchange(there, 4), 1u);
}

TEST_F(Bridge, EachPortIsJoinedWithThatOfItsNumber) {
  Host here[ports];
  Host there[ports];
  for (unsigned port = 0; port < ports; ++port) {
    here[port] = open(*a, port);
    there[port] = open(*b, port);
    EXPECT_EQ(exchange(here[port], 10 + port), 0u);
    EXPECT_EQ(exchange(there[port], 20 + port), 0u);
  }
  rest();
  for (unsigned port = 0; port < ports; ++port) {
    EXPECT_EQ(exchange(here[port], 30 + port), 20u + port);
    EXPECT_EQ(exchange(there[port], 40 + port), 10u + port);
  }
}

/// From the edge at which the slot is committed at its host's port until the edge at which the
/// other cell's port has stored it
TEST_F(Bridge, OneHopTakesLessThanAHundredNanoseconds) {
  Host here = open(*a, 1);
  ASSERT_EQ(swap(here, 7), 0u);
  const std::uint64_t word = confirmation(Header{1, here.epoch, 0, 0, 0, here.sequence}.word());
  here.cell->post_write(2, OAE_PORT_SIZE + OAE_PORT_CONFIRM, &word, 8);
  std::uint64_t committed = 0;
  std::uint64_t brought = 0;
  until([&] {
    if (a->top.trace_valid_o && a->top.trace_to_o == OAE_PORT_STATE_COMMITTED) committed = now;
    if (b->top.left_brings_o) brought = now;
    return brought != 0;
  });
  ASSERT_NE(committed, 0u);
  const double ns = static_cast<double>(brought - committed) * clock_ns;
  RecordProperty("hop_ns", fmt::format("{:.2f}", ns));
  EXPECT_LT(ns, 100);
  rest();
  Host there = open(*b, 1);
  EXPECT_EQ(exchange(there, 8), 0u);
  EXPECT_EQ(exchange(there, 9), 7u);
}

TEST_F(Bridge, AReversedSwapLeavesItsSlotToTheNextOne) {
  Host here = open(*a, 0);
  Host there = open(*b, 0);
  exchange(here, 1);
  rest();
  ASSERT_EQ(swap(there, 11), 0u);
  reverse(there);
  EXPECT_EQ(exchange(there, 12), 0u) << "the empty slot is not used up";
  ASSERT_EQ(swap(there, 13), 1u);
  EXPECT_EQ(waiting(there), 1u);
  reverse(there);
  ASSERT_EQ(swap(there, 14), 1u);
  confirm(there);
  EXPECT_EQ(waiting(there), 0u);
  rest();
  EXPECT_EQ(exchange(here, 2), 12u) << "what was reversed was not passed on";
  rest();
  EXPECT_EQ(exchange(here, 3), 14u);
}

TEST_F(Bridge, ANewEpochOfTheHostChangesNothing) {
  Host here = open(*a, 2);
  Host there = open(*b, 2);
  exchange(here, 1);
  rest();
  exchange(there, 11);
  ASSERT_EQ(swap(there, 12), 1u);
  close(there);  // which commits it
  rest();
  exchange(here, 2);
  rest();
  there = open(*b, 2);
  EXPECT_EQ(there.epoch, 2);
  EXPECT_EQ(exchange(there, 13), 2u);
  rest();
  EXPECT_EQ(exchange(here, 3), 12u);
  rest();
  EXPECT_EQ(exchange(here, 4), 13u);
}

// SEND needs no answer, so only the room of the other port bounds it.
TEST_F(Bridge, NoMoreSlotsArePassedOnThanTheOtherPortHasRoomFor) {
  Host here = open(*a, 3);
  Host there = open(*b, 3);
  for (unsigned number = 1; number <= 4; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND)) << number;
    confirm(here);
    rest();
    EXPECT_EQ(room(here), number < 2 ? 1u : 0u);
  }
  EXPECT_FALSE(swap(here, 5, OAE_VERB_SEND)) << "two wait there, and two here";
  EXPECT_EQ(waiting(there), 2u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 2u);
  EXPECT_EQ(exchange(there, 11), 0u) << "the empty slot gives no room";
  rest();
  EXPECT_EQ(room(here), 0u);
  for (unsigned number = 1; number <= 2; ++number) {
    EXPECT_EQ(exchange(there, 11 + number), number);
    rest();
    EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 2 + number) << "one used up, one more";
  }
  EXPECT_EQ(waiting(there), 2u);
  EXPECT_EQ(waiting(here), 2u) << "whose host has sent, and asked for nothing";
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_STRAY), 0u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_STRAY), 0u);
}

// All places of both ports are filled. What was used up there is told without a slot, or neither
// host could go on.
TEST_F(Bridge, ASlotThatWaitsForRoomDoesNotKeepBackWhatWasUsedUp) {
  Host here = open(*a, 3);
  Host there = open(*b, 3);
  for (unsigned number = 1; number <= 4; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND)) << number;
    confirm(here);
    rest();
  }
  EXPECT_FALSE(swap(here, 5)) << "it has no place";
  exchange(there, 11);
  for (unsigned number = 1; number <= 2; ++number) {
    rest();
    EXPECT_EQ(exchange(there, 11 + number), number);
  }
  rest();
  EXPECT_EQ(room(there), 0u);
  EXPECT_EQ(exchange(here, 5), 0u);
  rest();
  EXPECT_EQ(exchange(here, 6), 11u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_BROUGHT), 2u) << "an account is no slot";
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_PASSED), 2u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_STRAY), 0u);
}

TEST_F(Bridge, ASendDoesNotUseUpTheSlotThatWaits) {
  Host here = open(*a, 3);
  Host there = open(*b, 3);
  exchange(here, 1);
  exchange(there, 11);
  rest();
  ASSERT_TRUE(swap(here, 2, OAE_VERB_SEND));
  confirm(here);
  rest();
  EXPECT_EQ(waiting(here), 1u);
  EXPECT_EQ(exchange(here, 3), 11u);
}

TEST_F(Bridge, VerbsOnWordsPassNothingOn) {
  Host here = open(*a, 3);
  Header header;
  header.verb = OAE_VERB_FETCH_ADD;
  header.epoch = here.epoch;
  header.sequence = 1;
  Slot slot{header.word(), 5, 1};
  seal(slot);
  Slot answer{};
  here.cell->post_write(2, 3 * OAE_PORT_SIZE, slot.data(), 64);
  here.cell->post_read(2, 3 * OAE_PORT_SIZE, [&answer](const Slot& line) { answer = line; });
  until([&here] { return here.cell->idle(); });
  ASSERT_EQ(Header::of(answer[0]).status, OAE_STATUS_OK);
  here.sequence = 1;
  confirm(here);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 0u);
  EXPECT_EQ(exchange(here, 1), 0u) << "the empty slot is not used up";
}

TEST_F(Bridge, TheJournalNamesTheLastSlotThatWasPassedOn) {
  Host here = open(*a, 2);
  EXPECT_EQ(get(*a, Of::block, OAE_FIRMWARE_PASSED_AT(2)), 0u);
  exchange(here, 1);
  rest();
  EXPECT_EQ(get(*a, Of::block, OAE_FIRMWARE_PASSED_AT(2)), std::uint64_t{1} << 32 | 1u << 8);
  ASSERT_TRUE(swap(here, 2, OAE_VERB_SEND));
  rest();
  EXPECT_EQ(get(*a, Of::block, OAE_FIRMWARE_PASSED_AT(2)), std::uint64_t{1} << 32 | 1u << 8)
      << "not confirmed";
  confirm(here);
  rest();
  EXPECT_EQ(get(*a, Of::block, OAE_FIRMWARE_PASSED_AT(2)), std::uint64_t{2} << 32 | 1u << 8);
}

// Whatever a firmware does that has restarted, and does not know that the bridge has the ports.
TEST_F(Bridge, CommandsOfTheFirmwareHaveNoEffect) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  put(*a, Of::left, OAE_WINDOW_PORTS, 0);  // so that the slot stays in the port
  exchange(here, 1);
  rest();
  for (unsigned i = 0; i < 8; ++i) put(*a, Of::block, OAE_FIRMWARE_OFFER_AT(1) + 8 * i, ~i);
  put(*a, Of::block, OAE_FIRMWARE_COMMAND_AT(1),
      OAE_FIRMWARE_COMMAND_PUBLISH_MASK | OAE_FIRMWARE_COMMAND_TAKE_MASK |
          OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 1);
  // Not even an offer that the block would take from it
  Header header;
  header.epoch = here.epoch;
  header.sequence = 2;
  const Slot forged = make_slot(header, 5);
  for (unsigned i = 0; i < 8; ++i) put(*a, Of::block, OAE_FIRMWARE_OFFER_AT(1) + 8 * i, forged[i]);
  put(*a, Of::block, OAE_FIRMWARE_COMMAND_AT(1), OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  EXPECT_NE(status_of(here) & OAE_FIRMWARE_STATUS_COMMITTED_MASK, 0u);
  EXPECT_EQ(status_of(here) & OAE_FIRMWARE_STATUS_OFFERED_MASK, 0u);
  const std::uint64_t offered = get(*a, Of::left, OAE_WINDOW_OFFERED);
  put(*a, Of::left, OAE_WINDOW_OFFERED, offered + 3);
  put(*a, Of::left, OAE_WINDOW_TAKEN, 3);
  put(*a, Of::left, OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_DROP);
  EXPECT_NE(get(*a, Of::left, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_REFUSED_MASK, 0u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_OFFERED), offered);
  put(*a, Of::left, OAE_WINDOW_SEND_AT(1), ~std::uint64_t{0});
  put(*a, Of::left, OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK | OAE_WINDOW_CONTROL_AGAIN_MASK);
  put(*a, Of::left, OAE_WINDOW_PORTS, 2);
  rest();
  exchange(there, 11);
  rest();
  EXPECT_EQ(exchange(there, 12), 1u);
  // The same at a port that has an offer, whose slot must not be replaced
  put(*a, Of::block, OAE_FIRMWARE_COMMAND_AT(1),
      OAE_FIRMWARE_COMMAND_PUBLISH_MASK | OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
  EXPECT_NE(status_of(here) & OAE_FIRMWARE_STATUS_OFFERED_MASK, 0u);
  rest();
  EXPECT_EQ(exchange(here, 2), 0u) << "the link has lost the port and got it back";
  EXPECT_EQ(exchange(here, 3), 11u);
}

TEST_F(Bridge, APortThatIsNotJoinedIsTheFirmwares) {
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 0);
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  EXPECT_FALSE(swap(here, 1)) << "nobody offers a slot";
  rest();
  exchange(there, 11);
  rest();
  EXPECT_FALSE(linked(there)) << "the port that has left says so";
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_PASSED), 0u) << "its slot waits";
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_STRAY), 0u);
  EXPECT_EQ(join_of(here) & OAE_FIRMWARE_JOIN_JOINED_MASK, 0u);
  Header header;
  header.epoch = here.epoch;
  header.sequence = 1;
  const Slot slot = make_slot(header, 5);
  for (unsigned i = 0; i < 8; ++i) put(*a, Of::block, OAE_FIRMWARE_OFFER_AT(1) + 8 * i, slot[i]);
  put(*a, Of::block, OAE_FIRMWARE_COMMAND_AT(1), OAE_FIRMWARE_COMMAND_PUBLISH_MASK);
  EXPECT_NE(status_of(here) & OAE_FIRMWARE_STATUS_OFFERED_MASK, 0u);
  // Joining takes the offer back, and begins with the empty slot.
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 1);
  EXPECT_EQ(join_of(here) & 0xffff, OAE_FIRMWARE_JOIN_JOINED_MASK | OAE_FIRMWARE_JOIN_PRIMED_MASK |
                                        OAE_PUT(OAE_FIRMWARE_JOIN_ROOM, 2));
  EXPECT_EQ(exchange(here, 2), 0u);
  rest();
  EXPECT_EQ(exchange(here, 3), 11u) << "which was sent before the port came back";
}

TEST_F(Bridge, ThePortThatWasTakenBackPassesNothingOn) {
  put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 0);
  Host here = open(*a, 1);
  ASSERT_TRUE(swap(here, 1, OAE_VERB_SEND));
  confirm(here);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 0u);
  EXPECT_NE(status_of(here) & OAE_FIRMWARE_STATUS_COMMITTED_MASK, 0u);
}

// The bridge may have chosen the port already.
TEST_F(Bridge, TheFirmwareTakesAPortBackAtAnyMoment) {
  Host here = open(*a, 1);
  const std::uint64_t committed = OAE_FIRMWARE_STATUS_COMMITTED_MASK;
  unsigned kept = 0;
  unsigned passed = 0;
  for (unsigned delay = 0; delay < 40; ++delay) {
    put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 1);
    rest();
    ASSERT_TRUE(swap(here, delay, OAE_VERB_SEND));
    const std::uint64_t word = confirmation(Header{1, here.epoch, 0, 0, 0, here.sequence}.word());
    a->post_write(2, OAE_PORT_SIZE + OAE_PORT_CONFIRM, &word, 8);
    clock(delay);
    put(*a, Of::block, OAE_FIRMWARE_JOIN_AT(1), 0);
    rest();
    const std::uint64_t now_passed = get(*a, Of::left, OAE_WINDOW_COUNT_PASSED);
    const bool stays = (status_of(here) & committed) != 0;
    EXPECT_EQ(now_passed, passed + (stays ? 0 : 1)) << "after " << delay;
    passed = static_cast<unsigned>(now_passed);
    if (stays) ++kept;
    EXPECT_EQ(fate_of(here, OAE_HOST_PORT_LOST_AT(1)), stays ? 0u : 1u);
    if (!stays) {
      EXPECT_EQ(fate_of(here, OAE_HOST_PORT_LOST_LAST_AT(1)) >> 32, here.sequence);
    }
    acknowledge(here);
    put(*a, Of::block, OAE_FIRMWARE_COMMAND_AT(1), OAE_FIRMWARE_COMMAND_TAKE_MASK);
  }
  EXPECT_GT(kept, 0u);
  EXPECT_GT(passed, 0u);
}

// Its link is not bridged, and its firmware sends what it likes.
class Stranger : public Cells {
 protected:
  /// Of what a port with the last bits of the label would take
  std::uint64_t head(unsigned label, unsigned uses, bool account = false) {
    const std::uint64_t of_port = head_for(label & 63 & (ports - 1));
    return (of_port & ~std::uint64_t{OAE_PASSAGE_HEAD_PORT_MASK}) |
           OAE_PUT(OAE_PASSAGE_HEAD_PORT, label) | OAE_PUT(OAE_PASSAGE_HEAD_USES, uses) |
           OAE_PUT(OAE_PASSAGE_HEAD_ACCOUNT, account ? 1 : 0);
  }
  Stranger() {
    for (Cell* cell : {a.get(), b.get()}) {
      put(*cell, Of::block, OAE_FIRMWARE_JOIN_AT(0), 1);
      put(*cell, Of::block, OAE_FIRMWARE_JOIN_AT(1), 1);
      put(*cell, Of::left, OAE_WINDOW_PORTS, ~std::uint64_t{0});
    }
    take_up_with_stranger();
  }
};

TEST_F(Stranger, SlotsForNoPortAreStray) {
  Host here = open(*a, 1);
  greet(1);
  for (const unsigned port : {5u, 63u, 0x41u, 0x81u, 0xc1u, 2u}) {
    const std::uint64_t before = strays();
    send(*b, head(port, 0), 7);
    EXPECT_EQ(strays(), before + 1) << port;
  }
  EXPECT_EQ(waiting(here), 0u);
  send(*b, head_for(1), 7);
  EXPECT_EQ(waiting(here), 1u);
}

TEST_F(Stranger, MoreSlotsThanHaveAPlaceAreStray) {
  Host here = open(*a, 1);
  greet(1);
  for (unsigned number = 1; number <= 4; ++number) send(*b, head_for(1), number);
  EXPECT_EQ(strays(), 2u);
  EXPECT_EQ(exchange(here, 11), 0u);
  EXPECT_EQ(exchange(here, 12), 1u);
  send(*b, head_for(1), 5);
  EXPECT_EQ(strays(), 2u);
}

TEST_F(Stranger, NoAccountGivesMoreRoomThanThereIs) {
  Host here = open(*a, 1);
  greet(1);
  send(*b, head(1, 3, true), 0);
  EXPECT_EQ(room(here), 2u);
  EXPECT_EQ(waiting(here), 0u);
  exchange(here, 1);
  rest();
  EXPECT_EQ(room(here), 1u);
  send(*b, head(1, 3), 7);
  EXPECT_EQ(room(here), 2u);
  exchange(here, 2);
  rest();
  EXPECT_EQ(room(here), 1u);
  send(*b, head(1, 1, true), 0);
  EXPECT_EQ(room(here), 2u);
  EXPECT_EQ(strays(), 0u);
}

TEST_F(Stranger, RingsThatAreNotBridgedAreTheFirmwares) {
  Host here = open(*a, 0);
  greet(0);
  const std::uint64_t sent = get(*b, Of::left, OAE_WINDOW_OFFERED);
  const std::uint64_t received = get(*b, Of::left, OAE_WINDOW_RECEIVED);
  exchange(here, 1);
  Host there = open(*b, 0);
  ASSERT_EQ(swap(there, 11), 0u);
  confirm(there);
  rest();
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_OFFERED), sent) << "the slot stays in its port";
  EXPECT_NE(status_of(there) & OAE_FIRMWARE_STATUS_COMMITTED_MASK, 0u);
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_RECEIVED), received + 1);
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_TAKEN), 0u) << "and the other one in its ring";
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_RECEIVE_AT(received) + 8), 1u);
  EXPECT_EQ(waiting(there), 0u);
}

// Nothing else keeps the clock running then.
TEST_F(Stranger, SlotsLeaveTheirRingWhenTheLinkGoesDown) {
  for (unsigned delay = 0; delay < 24; ++delay) {
    const auto last = static_cast<std::uint32_t>(get(*b, Of::left, OAE_WINDOW_OFFERED));
    const std::uint32_t done = a->top.left_done_o;
    unsigned left = 0;
    const auto count = [&] { left += a->top.left_brings_o || a->top.left_strays_o; };
    b->post_put(Of::left, OAE_WINDOW_OFFERED, last + 4);
    const auto wait = [&](unsigned clocks) {
      for (unsigned i = 0; i < clocks; ++i) {
        clock();
        count();
      }
    };
    while (a->top.left_done_o == done) wait(1);
    wait(delay);
    a->post_put(Of::left, OAE_WINDOW_CONTROL, 0);
    wait(300);
    EXPECT_EQ(left, a->top.left_done_o - done) << "after " << delay;
    until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
    take_up(*a);
    take_up(*b, false);
    until([this] { return is_up(); });
    put(*b, Of::left, OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_DROP);
    rest();
  }
}

// A port that joins again greets again, however many of its greetings are on their way.
TEST_F(Bridge, ARingThatIsFullLeavesTheSlotsInTheirPorts) {
  Host here = open(*a, 1);
  fill_ring(2);
  ASSERT_TRUE(swap(here, 1, OAE_VERB_SEND));
  confirm(here);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 0u);
  EXPECT_NE(status_of(here) & OAE_FIRMWARE_STATUS_COMMITTED_MASK, 0u);
}

// The offer of the next swap confirms this one, so the next slot is offered by a write of the host.
TEST_F(Bridge, AnOfferThatConfirmsFindsTheNextSlotOffered) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  for (unsigned number = 1; number <= 2; ++number) {
    ASSERT_TRUE(swap(here, number, OAE_VERB_SEND));
    confirm(here);
  }
  rest();
  EXPECT_EQ(swap(there, 11, OAE_VERB_SWAP, OAE_FLAG_MORE), 0u);
  EXPECT_EQ(swap(there, 12, OAE_VERB_SWAP, OAE_FLAG_MORE), 1u);
  EXPECT_EQ(swap(there, 13), 2u);
  confirm(there);
}

TEST_F(Bridge, AHostThatWaitsForAnOfferIsInterruptedOnce) {
  Host here = open(*a, 1);
  Host there = open(*b, 1);
  exchange(there, 11);
  EXPECT_EQ(b->interrupts, 0u) << "it does not wait";
  const std::uint64_t armed = OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK | 3;
  b->post_write(0, OAE_HOST_PORT_EVENT_AT(1), &armed, 8);
  rest();
  EXPECT_EQ(b->interrupts, 0u);
  exchange(here, 1);
  rest();
  EXPECT_EQ(b->interrupts, 1u);
  EXPECT_EQ(exchange(there, 12), 1u);
  exchange(here, 2);
  rest();
  EXPECT_EQ(b->interrupts, 1u);
}

// The turn of the deadlines comes also if the bridge has had the last one.
TEST_F(Bridge, ADeadlineIsSeenAfterAnOperationOfTheBridge) {
  Host here = open(*a, 1);
  Host other = open(*a, 0);
  const std::uint64_t limit = 2000;
  const std::uint64_t event = OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | 5;
  a->post_write(0, OAE_HOST_PORT_TENTATIVE_LIMIT_AT(0), &limit, 8);
  a->post_write(0, OAE_HOST_PORT_EVENT_AT(0), &event, 8);
  ASSERT_EQ(swap(other, 11), 0u);
  exchange(here, 1);
  clock(4000);
  EXPECT_EQ(a->interrupts, 1u);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 1u);
  // Neither is it taken for an operation of the bridge, which has nothing to ask of a port that the
  // link has lost.
  rest();
  put(*a, Of::left, OAE_WINDOW_PORTS, 0);
  rest();
  const unsigned before = a->interrupts;
  clock(5000);
  EXPECT_GT(a->interrupts, before);
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 1u);
}

TEST_F(Bridge, ASlotOfAPortThatTheLinkDoesNotServeIsStray) {
  Host here = open(*a, 1);
  exchange(here, 1);
  b->post_put(Of::left, OAE_WINDOW_PORTS, 5);  // before the slot arrives
  rest();
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_STRAY), 1u);
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_LOST_AT(1)), 0u) << "the other port cannot say so";
  put(*b, Of::left, OAE_WINDOW_PORTS, 7);
  rest();
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_LOST_AT(1)), 1u);
  EXPECT_EQ(fate_of(here, OAE_HOST_PORT_LOST_LAST_AT(1)) >> 32, 1u);
  Host other = open(*a, 2);
  exchange(other, 2);
  rest();
  EXPECT_EQ(get(*b, Of::left, OAE_WINDOW_COUNT_BROUGHT), 1u);
}

// The firmware takes the link down with a write that does not ask for it.
TEST_F(Bridge, ReversedSlotsAreOfferedAgainWithoutTheFirmware) {
  Host here = open(*a, 0);
  Host there = open(*b, 0);
  cables[0].forth.tamper = [](std::vector<Group>& unit, bool) {
    for (Group& group : unit) group = {};
  };
  const std::uint32_t sent = a->top.left_sent_o;
  exchange(here, 1);
  until([&] { return a->top.left_sent_o == sent + 1; });
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  cables[0].forth.tamper = nullptr;
  until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_REVERSED), 1u);
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  exchange(there, 11);
  EXPECT_EQ(exchange(there, 12), 1u);
}

TEST_F(Bridge, SlotsWaitInTheirPortsAndRingsWhileTheLinkIsDown) {
  Host here = open(*a, 0);
  Host there = open(*b, 0);
  put(*a, Of::left, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->top.left_phase_o == OAE_WINDOW_PHASE_DOWN; });
  exchange(here, 1);
  rest();
  EXPECT_EQ(get(*a, Of::left, OAE_WINDOW_COUNT_PASSED), 1u);
  EXPECT_EQ(waiting(there), 0u);
  take_up(*a);
  take_up(*b);
  until([this] { return is_up(); });
  rest();
  exchange(there, 11);
  EXPECT_EQ(exchange(there, 12), 1u);
}

}  // namespace
}  // namespace bridge
