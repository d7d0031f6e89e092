// SPDX-License-Identifier: Apache-2.0
// Tests of the link, step by step.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/rtl/link_pair.h"

namespace {

constexpr unsigned packet = OAE_LINK_COMMAND_PACKET;
constexpr unsigned flow = OAE_LINK_COMMAND_FLOW;

std::uint64_t header(unsigned protocol, unsigned number, bool jam = false) {
  return OAE_PUT(OAE_FRAME_HEADER_PROTOCOL, protocol) | OAE_PUT(OAE_FRAME_HEADER_JAM, jam) |
         OAE_PUT(OAE_FRAME_HEADER_LIVENESS, number) | OAE_PUT(OAE_FRAME_HEADER_OPERAND, number);
}

class Link : public LinkPair {
 protected:
  /// Forgets the slices that the wires have carried.
  void forget() {
    to_a.frames.clear();
    to_b.frames.clear();
    to_a.reflections.clear();
    to_b.reflections.clear();
  }
  std::uint64_t event(LinkEnd& end) {
    const std::uint64_t events = get(end, OAE_LINK_EVENT);
    put(end, OAE_LINK_EVENT, events);
    return events;
  }
  unsigned state(LinkEnd& end, unsigned shift) { return get(end, OAE_LINK_STATE) >> shift & 0xff; }
  void limit_silence(unsigned slices, unsigned trouble = 8) {
    for (LinkEnd* end : {&a, &b}) {
      put(*end, OAE_LINK_LIMITS,
          OAE_PUT(OAE_LINK_LIMITS_SILENCE, slices) | OAE_PUT(OAE_LINK_LIMITS_TROUBLE, trouble));
    }
  }
};

TEST_F(Link, SaysWhatItIs) {
  const std::uint64_t id = get(a, OAE_LINK_ID);
  EXPECT_EQ(OAE_GET(id, OAE_LINK_ID_MAGIC), 0x4c45'414fu);
  EXPECT_EQ(OAE_GET(id, OAE_LINK_ID_FRAMES), 64u);
  for (unsigned byte = 1; byte < 8; ++byte) EXPECT_EQ(get(a, OAE_LINK_ID + byte), id);
  EXPECT_EQ(state(a, 0), unsigned{OAE_LINK_STATE_DOWN});
  get(a, 0x0a8);
  EXPECT_TRUE(a.error);
  get(a, 0x3000);
  EXPECT_TRUE(a.error);
  for (const unsigned address : {unsigned{OAE_LINK_SIZE}, 0x8000u, 0x1'0000u, 0x1'fff8u}) {
    get(a, address);
    EXPECT_TRUE(a.error);
    put(a, address, 1);
    EXPECT_TRUE(a.error);
  }
  put(a, 0x1ff8, 1);
  EXPECT_FALSE(a.error);
}

TEST_F(Link, RegistersKeepWhatIsWritten) {
  put(a, OAE_LINK_LIMITS, 0x1234'5678'9abc);
  EXPECT_EQ(get(a, OAE_LINK_LIMITS), 0x34'5678'9abcu);
  put(a, OAE_LINK_LIMITS, ~std::uint64_t{0}, 0x02);
  EXPECT_EQ(get(a, OAE_LINK_LIMITS), 0x34'5678'ffbcu);
  for (const std::uint64_t limits : {0xff'ffff'ffffull, 0ull, 0x55'aaaa'aaaaull}) {
    put(a, OAE_LINK_LIMITS, limits);
    EXPECT_EQ(get(a, OAE_LINK_LIMITS), limits);
  }
  put(a, OAE_LINK_IRQ_ENABLE, 0x1ff);
  EXPECT_EQ(get(a, OAE_LINK_IRQ_ENABLE), 0xffu);
  put(a, OAE_LINK_CONTROL, 0x301);
  EXPECT_EQ(get(a, OAE_LINK_CONTROL), 0x301u);
}

TEST_F(Link, OneSideAloneWaitsWithoutAClock) {
  put(a, OAE_LINK_CONTROL, 1);
  clock(50);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  EXPECT_FALSE(a.top.busy);
  EXPECT_FALSE(a.top.deadline_valid);
  EXPECT_TRUE(to_b.frames.empty());
  put(b, OAE_LINK_CONTROL, 1);
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  rest();
  EXPECT_FALSE(a.top.deadline_valid);
  EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_UP_MASK | OAE_LINK_EVENT_ALIVE_MASK});
}

TEST_F(Link, BothJournalsAreToldAtTheBeginning) {
  bring_up();
  ASSERT_GE(to_b.frames.size(), 2u);
  const Frame& first = to_b.frames[0];
  EXPECT_EQ(OAE_GET(first[0], OAE_FRAME_HEADER_PROTOCOL), unsigned{OAE_PROTOCOL_INITIALISE});
  EXPECT_EQ(OAE_GET(first[1], OAE_FRAME_SESSION_OWN), 1u);
  EXPECT_EQ(OAE_GET(first[2], OAE_FRAME_JOURNAL_NEXT), 1u);
  EXPECT_EQ(OAE_GET(first[2], OAE_FRAME_JOURNAL_EXPECTED), 1u);
  EXPECT_EQ(first[3], 0u);
  EXPECT_EQ(first[7], crc64(first.data(), 56));
}

TEST_F(Link, FourPhases) {
  bring_up();
  forget();
  const Slot sent = slot(5, 77, 1);
  EXPECT_EQ(send(a, {sent}), unsigned{OAE_OUTCOME_COMMITTED});
  rest();
  ASSERT_EQ(to_b.frames.size(), 2u);
  ASSERT_EQ(to_a.frames.size(), 2u);
  const Frame& first = to_b.frames[0];
  EXPECT_EQ(first[0],
            OAE_PUT(OAE_FRAME_HEADER_PROTOCOL, OAE_PROTOCOL_PACKET) |
                OAE_PUT(OAE_FRAME_HEADER_LIVENESS, 1) | OAE_PUT(OAE_FRAME_HEADER_STATE, 7) |
                OAE_PUT(OAE_FRAME_HEADER_TRANSITION, 0x11) | OAE_PUT(OAE_FRAME_HEADER_OPERAND, 5));
  for (unsigned i = 1; i < 7; ++i) EXPECT_EQ(first[i], sent[i]);
  EXPECT_EQ(first[7], crc64(first.data(), 56));
  EXPECT_EQ(to_a.frames[0][0], header(OAE_PROTOCOL_ANSWER, 1));
  EXPECT_EQ(to_b.frames[1][0], header(OAE_PROTOCOL_CONFIRM, 1));
  EXPECT_EQ(to_a.frames[1][0], header(OAE_PROTOCOL_DONE, 1));
  // Slice 0 came back unchanged.
  ASSERT_EQ(to_a.reflections.size(), 1u);
  EXPECT_EQ(to_a.reflections[0], first[0]);
  const LinkEnd::Received received = take(b);
  EXPECT_FALSE(received.flow);
  EXPECT_EQ(received.number, 1u);
  ASSERT_EQ(received.slots.size(), 1u);
  EXPECT_EQ(received.slots[0], sent);
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_EQ(get(b, OAE_LINK_RECEIVE), 0u);
  EXPECT_EQ(get(a, OAE_LINK_COUNT_COMMITTED), 1u);
  EXPECT_EQ(get(b, OAE_LINK_COUNT_RECEIVED), 1u);
  EXPECT_TRUE(event(a) & OAE_LINK_EVENT_SETTLED_MASK);
  EXPECT_TRUE(event(b) & OAE_LINK_EVENT_RECEIVED_MASK);
}

TEST_F(Link, NothingIsToldBeforeTheThirdPhase) {
  bring_up();
  to_b.fault(LinkWire::Fault::lose, 1);
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return b.receiver() == OAE_LINK_STATE_TENTATIVE; });
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_EQ(get(b, OAE_LINK_RECEIVE), 0u);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_TRUE(event(b) & OAE_LINK_EVENT_REVERSED_MASK);
  EXPECT_FALSE(event(b) & OAE_LINK_EVENT_RECEIVED_MASK);
}

TEST_F(Link, WhatTheLinkDoesNotCarryIsMadeAnew) {
  bring_up();
  Header header;
  header.attempt = 9;
  header.sequence = 3;
  EXPECT_EQ(send(a, {make_slot(header, 4)}), unsigned{OAE_OUTCOME_COMMITTED});
  header.attempt = 0;
  EXPECT_EQ(take(b).slots.at(0), make_slot(header, 4));
}

TEST_F(Link, OnePhaseFlow) {
  bring_up();
  forget();
  for (unsigned count : {1u, 4u, 16u, 64u}) {
    const std::vector<Slot> sent = slots(count, count);
    EXPECT_EQ(send(a, sent, true), unsigned{OAE_OUTCOME_COMMITTED});
    const LinkEnd::Received received = take(b);
    EXPECT_TRUE(received.flow);
    EXPECT_EQ(received.slots, sent);
  }
  EXPECT_EQ(to_b.frames.size(), 85u);
  EXPECT_EQ(to_a.frames.size(), 4u);
}

TEST_F(Link, Beats) {
  bring_up();
  unsigned number = 0;
  for (unsigned count : {4u, 16u, 64u, 1u}) {
    forget();
    const std::vector<Slot> sent = slots(count, count);
    EXPECT_EQ(send(a, sent), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(to_b.frames.size(), count + 1);
    for (unsigned i = 0; i < count; ++i) {
      EXPECT_EQ(OAE_GET(to_b.frames[i][0], OAE_FRAME_HEADER_LIVENESS), (number + 1 + i) & 0xff);
    }
    number += count;
    const LinkEnd::Received received = take(b);
    EXPECT_EQ(received.number, number);
    EXPECT_EQ(received.slots, sent);
    EXPECT_EQ(get(a, OAE_LINK_SENT) >> 32, number);
    EXPECT_EQ(get(b, OAE_LINK_JOURNAL), std::uint64_t{number} << 32 | OAE_OUTCOME_COMMITTED);
  }
}

TEST_F(Link, SliceAcknowledgements) {
  bring_up();
  for (unsigned asked = 0; asked < 4; ++asked) {
    put(a, OAE_LINK_CONTROL, 1 | OAE_PUT(OAE_LINK_CONTROL_SLICE_ACK, asked));
    forget();
    EXPECT_EQ(send(a, slots(1, asked)), unsigned{OAE_OUTCOME_COMMITTED});
    rest();
    take(b);
    // A later reflection may replace an earlier one: several may fall into one clock.
    ASSERT_GE(to_a.reflections.size(), 1u);
    if (slices == 1) {
      EXPECT_EQ(to_a.reflections.size(), asked + 1);
    }
    unsigned last = 0;
    for (const std::uint64_t word : to_a.reflections) {
      EXPECT_GE(word & 3, last);
      last = word & 3;
      EXPECT_EQ(word & ~std::uint64_t{3}, to_b.frames[0][0] & ~std::uint64_t{3});
    }
    EXPECT_EQ(last, asked);
    EXPECT_EQ(get(a, OAE_LINK_SENT) >> 16 & 0xffff, 1u << asked);
    EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), 0u);
  }
}

TEST_F(Link, ReflectionComesBeforeTheRestOfTheFrame) {
  bring_up();
  forget();
  fill(a, slots(64, 1));
  command(a, packet, OAE_BEATS_OF_64);
  until([this] { return to_a.reflections.size() == 1; });
  EXPECT_LT(to_b.frames.size(), 8u);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(to_a.reflections.size(), 64u);
}

TEST_F(Link, BothWaysAtOnce) {
  bring_up();
  for (unsigned round = 0; round < 10; ++round) {
    const std::vector<Slot> from_a = slots(16, 2 * round + 1);
    const std::vector<Slot> from_b = slots(16, 2 * round + 2);
    fill(a, from_a);
    fill(b, from_b);
    a.post_put(OAE_LINK_COMMAND, packet | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_16));
    b.post_put(OAE_LINK_COMMAND, flow | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_16));
    clock(6);
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(settled(b), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, from_a);
    EXPECT_EQ(take(a).slots, from_b);
  }
  EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED) + get(b, OAE_LINK_COUNT_MISMATCHED), 0u);
  EXPECT_EQ(get(a, OAE_LINK_COUNT_DAMAGED) + get(b, OAE_LINK_COUNT_DAMAGED), 0u);
}

TEST_F(Link, WithoutRoomATransferIsRefused) {
  bring_up();
  EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(send(a, slots(4, 2), true), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(send(a, slots(1, 3)), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(send(a, slots(16, 4), true), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 2u);
  EXPECT_EQ(take(b).slots, slots(1, 1));
  EXPECT_EQ(send(a, slots(4, 5)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(4, 2));
  EXPECT_EQ(take(b).slots, slots(4, 5));
  EXPECT_EQ(get(a, OAE_LINK_COUNT_REVERSED), 2u);
}

TEST_F(Link, CommandsThatCannotBe) {
  command(a, packet);
  EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_REFUSED_MASK});
  bring_up();
  event(a);
  command(a, OAE_LINK_COMMAND_WITHDRAW);
  EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_REFUSED_MASK});
  command(a, OAE_LINK_COMMAND_SETTLE_COMMITTED);
  EXPECT_EQ(event(a), unsigned{OAE_LINK_EVENT_REFUSED_MASK});
  fill(a, slots(64, 1));
  command(a, packet, OAE_BEATS_OF_64);
  command(a, flow);
  EXPECT_TRUE(event(a) & OAE_LINK_EVENT_REFUSED_MASK);
  put(a, OAE_LINK_SEND_AT(63), 0);  // ignored
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(64, 1));
}

TEST_F(Link, ASlotWithoutItsCrcIsNotSent) {
  bring_up();
  for (const unsigned bad : {0u, 2u}) {
    for (const bool once : {false, true}) {
      std::vector<Slot> sent = slots(4, 9);
      sent[bad][3] ^= 1;
      EXPECT_EQ(send(a, sent, once), unsigned{OAE_OUTCOME_REVERSED});
      EXPECT_TRUE(event(a) & OAE_LINK_EVENT_REFUSED_MASK);
      EXPECT_EQ(transfers(b), 0u);
    }
  }
  EXPECT_EQ(send(a, slots(4, 9)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, ATentativeTransferCanBeWithdrawn) {
  bring_up();
  fill(a, slots(1, 1));
  a.post_put(OAE_LINK_COMMAND, packet);
  a.post_put(OAE_LINK_COMMAND, OAE_LINK_COMMAND_WITHDRAW);
  until([this] { return a.idle(); });
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, MissingSlicesAreCountedFromTheirFirst) {
  bring_up();
  now += 1'000'000;  // with the clock stopped
  to_a.cut();
  to_b.cut();
  clock(2);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
  EXPECT_TRUE(a.top.deadline_valid);
  EXPECT_NEAR((a.top.deadline - now) * slices, 0x1000, 4 * slices);
  now = a.top.deadline;
  clock(2);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_DOWN});
}

TEST_F(Link, LivenessIsTold) {
  put(a, OAE_LINK_LIVENESS, 41);
  bring_up();
  EXPECT_EQ(get(b, OAE_LINK_ALIVE) & 0xffff'ffff, 41u);
  event(b);
  put(a, OAE_LINK_LIVENESS, 0xdead'beef);
  until([this] { return b.top.irq || (get(b, OAE_LINK_EVENT) & OAE_LINK_EVENT_ALIVE_MASK); });
  EXPECT_EQ(get(b, OAE_LINK_ALIVE) & 0xffff'ffff, 0xdead'beefu);
  const std::uint64_t age = get(b, OAE_LINK_ALIVE) >> 32;
  now += 1000;  // with the clock stopped
  EXPECT_GE(get(b, OAE_LINK_ALIVE) >> 32, age + 1000);
}

TEST_F(Link, InterruptIsALevel) {
  bring_up();
  event(b);
  EXPECT_FALSE(b.top.irq);
  put(b, OAE_LINK_IRQ_ENABLE, OAE_LINK_EVENT_RECEIVED_MASK);
  send(a, slots(1, 1));
  EXPECT_TRUE(b.top.irq);
  event(b);
  EXPECT_FALSE(b.top.irq);
}

// The effects of one fault of one frame, in any place.
struct Strike {
  LinkWire::Fault fault;
  unsigned frame;
  bool backward;  // on the wire opposite to the transfer
  bool once;      // one phase
};

std::vector<Strike> strikes() {
  std::vector<Strike> all;
  for (const auto fault :
       {LinkWire::Fault::lose, LinkWire::Fault::corrupt, LinkWire::Fault::duplicate}) {
    for (const bool once : {false, true}) {
      for (unsigned i = 0; i < (once ? 4 : 5); ++i) all.push_back({fault, i, false, once});
      for (unsigned i = 0; i < (once ? 1 : 2); ++i) all.push_back({fault, i, true, once});
    }
  }
  return all;
}

class OneFault : public Link, public testing::WithParamInterface<Strike> {};

TEST_P(OneFault, IsAgreedUponByBoth) {
  const auto [fault, frame, backward, once] = GetParam();
  bring_up();
  LinkWire& wire = backward ? to_a : to_b;
  for (unsigned bit = 0; bit < 512; bit += fault == LinkWire::Fault::corrupt ? 37 : 193) {
    wire.fault(fault, frame, bit);
    const std::vector<Slot> sent = slots(4, bit + 1);
    const unsigned result = send(a, sent, once);
    rest();
    if (result == OAE_OUTCOME_COMMITTED) {
      EXPECT_EQ(take(b).slots, sent);
    } else {
      EXPECT_EQ(result, unsigned{OAE_OUTCOME_REVERSED});
    }
    EXPECT_EQ(transfers(b), 0u);
    if (fault == LinkWire::Fault::duplicate) {
      EXPECT_EQ(result, unsigned{OAE_OUTCOME_COMMITTED});
    }
    // The loss of the third phase reverses the transfer, the loss of the fourth does not.
    if (fault == LinkWire::Fault::lose) {
      EXPECT_EQ(result == OAE_OUTCOME_COMMITTED, backward && frame == (once ? 0 : 1));
    }
    EXPECT_FALSE(wire.faulty());
    EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
    // The transfer leaves nothing behind.
    EXPECT_EQ(send(a, slots(1, 3)), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, slots(1, 3));
  }
}

INSTANTIATE_TEST_SUITE_P(Link, OneFault, testing::ValuesIn(strikes()));

TEST_F(Link, ADamagedReflectionReversesAtOnce) {
  bring_up();
  put(a, OAE_LINK_CONTROL, 1);
  forget();
  to_a.corrupt_reflection(40);
  fill(a, slots(64, 1));
  command(a, packet, OAE_BEATS_OF_64);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  // Most frames were not sent, none was sent after the reversal, and no silence was awaited.
  EXPECT_LT(to_b.frames.size(), 40u);
  EXPECT_EQ(to_b.frames.back()[0], header(OAE_PROTOCOL_CONFIRM, 64, true));
  EXPECT_EQ(get(a, OAE_LINK_COUNT_MISMATCHED), 1u);
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 0u);
  EXPECT_EQ(transfers(b), 0u);
}

TEST_F(Link, SilenceIsCountedInSlices) {
  bring_up();
  for (const unsigned limit : {800u, 2400u}) {
    limit_silence(limit);
    to_b.fault(LinkWire::Fault::lose);
    fill(a, slots(1, 1));
    a.post_put(OAE_LINK_COMMAND, packet);
    until([this] { return a.sender() == OAE_LINK_STATE_TENTATIVE; });
    const std::uint64_t begun = now;
    until([this] { return a.sender() == OAE_LINK_STATE_REVERSING; });
    EXPECT_NEAR((now - begun) * slices, limit, 4 * slices);
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  }
  EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 2u);
}

TEST_F(Link, SilenceNeedsNoClock) {
  bring_up();
  to_b.fault(LinkWire::Fault::lose);
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return !a.top.busy; });
  ASSERT_TRUE(a.top.deadline_valid);
  EXPECT_GT(a.top.deadline, now + 100);
  now = a.top.deadline - 1;
  clock(2);
  EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_REVERSING});
}

TEST_F(Link, RepeatedTroubleTakesTheLinkDown) {
  bring_up();
  limit_silence(400, 3);
  for (unsigned i = 0; i < 3; ++i) to_b.fault(LinkWire::Fault::lose, i);
  fill(a, slots(1, 1));
  command(a, packet);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(state(a, OAE_LINK_STATE_REASON_SHIFT), unsigned{OAE_LINK_DOWN_TROUBLE});
  // Slices are missing at the other side.
  until([this] { return b.phase() == OAE_LINK_STATE_DOWN; });
  EXPECT_EQ(state(b, OAE_LINK_STATE_REASON_SHIFT), unsigned{OAE_LINK_DOWN_MISSING});
  EXPECT_EQ(get(b, OAE_LINK_COUNT_DOWN), 1u);
  bring_up();
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, CommittedTransfersEndTrouble) {
  bring_up();
  limit_silence(400, 3);
  for (unsigned i = 0; i < 6; ++i) {
    to_b.fault(LinkWire::Fault::lose);
    EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_REVERSED});
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
  }
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_IDLE});
}

// The link is cut after so many clocks of a transfer, and comes back.
class Cut : public Link, public testing::WithParamInterface<bool> {};

TEST_P(Cut, IsReconciledWhenTheLinkComesBack) {
  const bool once = GetParam();
  unsigned doubts = 0;
  unsigned committed = 0;
  for (unsigned moment = 1; moment < 60 * 8 / slices; moment += 1 + 3 / slices) {
    bring_up();
    limit_silence(400);
    const std::vector<Slot> sent = slots(4, moment);
    fill(a, sent);
    a.post_put(OAE_LINK_COMMAND,
               (once ? flow : packet) | OAE_PUT(OAE_LINK_COMMAND_BEATS, OAE_BEATS_OF_4));
    clock(moment);
    to_a.cut();
    to_b.cut();
    until([this] {
      return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN && a.idle();
    });
    if (a.sender() == OAE_LINK_STATE_IN_DOUBT) ++doubts;
    to_a.join();
    to_b.join();
    bring_up();
    const unsigned result = settled(a);
    EXPECT_EQ(transfers(b), result == OAE_OUTCOME_COMMITTED ? 1u : 0u) << moment;
    if (result == OAE_OUTCOME_COMMITTED) {
      ++committed;
      EXPECT_EQ(take(b).slots, sent);
    }
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    clock(100);
  }
  EXPECT_GT(doubts, 5u);
  EXPECT_GT(committed, 5u);
}

INSTANTIATE_TEST_SUITE_P(Link, Cut, testing::Bool());

TEST_F(Link, OneSideThatBeginsAnewTakesTheOtherAlong) {
  bring_up();
  fill(a, slots(1, 1));
  to_a.fault(LinkWire::Fault::lose);
  command(a, packet);
  until([this] { return b.receiver() == OAE_LINK_STATE_TENTATIVE; });
  put(a, OAE_LINK_CONTROL, 0);
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_REVERSED});
  put(a, OAE_LINK_CONTROL, 1);
  EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_TENTATIVE});
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  EXPECT_EQ(b.receiver(), unsigned{OAE_LINK_STATE_IDLE});
  EXPECT_EQ(get(b, OAE_LINK_JOURNAL), std::uint64_t{1} << 32 | OAE_OUTCOME_REVERSED);
  EXPECT_EQ(transfers(b), 0u);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, LostInitialisationIsRepeated) {
  limit_silence(400);
  for (unsigned i = 0; i < 5; ++i) {
    to_a.fault(LinkWire::Fault::lose, i);
    to_b.fault(LinkWire::Fault::lose, i);
  }
  bring_up();
  EXPECT_EQ(send(a, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(send(b, slots(1, 1)), unsigned{OAE_OUTCOME_COMMITTED});
}

TEST_F(Link, DoubtCanBeSettledByHearsayWhileTheLinkIsDown) {
  bring_up();
  limit_silence(400);
  for (const bool committed : {true, false}) {
    fill(a, slots(1, 1));
    to_b.fault(LinkWire::Fault::lose, committed ? 5 : 1);
    to_a.fault(LinkWire::Fault::lose, 1);
    command(a, packet);
    until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
    clock(120 / slices + 20);
    to_a.cut();
    to_b.cut();
    until([this] { return b.phase() == OAE_LINK_STATE_DOWN && a.phase() == OAE_LINK_STATE_DOWN; });
    ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    EXPECT_TRUE(event(a) & OAE_LINK_EVENT_IN_DOUBT_MASK);
    // The other side's journal, read by another route.
    const std::uint64_t journal = get(b, OAE_LINK_JOURNAL);
    EXPECT_EQ(journal >> 32, get(a, OAE_LINK_SENT) >> 32);
    EXPECT_EQ((journal & 0xff) == OAE_OUTCOME_COMMITTED, committed);
    command(a, committed ? OAE_LINK_COMMAND_SETTLE_COMMITTED : OAE_LINK_COMMAND_SETTLE_REVERSED);
    EXPECT_EQ(settled(a), journal & 0xff);
    if (committed) take(b);
    to_a.join();
    to_b.join();
    bring_up();
    rest();
    EXPECT_EQ(outcome(a), journal & 0xff);
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    while (to_b.faulty()) send(b, slots(1, 2)), take(a);
  }
}

// While the link is up, only the other side itself may be asked.
TEST_F(Link, DoubtIsNotSettledByHearsayWhileTheLinkIsUp) {
  bring_up();
  limit_silence(400);
  fill(a, slots(1, 1));
  for (unsigned i = 1; i < 4; ++i) to_b.fault(LinkWire::Fault::lose, i);
  command(a, packet);
  until([this] { return a.sender() == OAE_LINK_STATE_IN_DOUBT; });
  event(a);
  for (const unsigned verb : {OAE_LINK_COMMAND_SETTLE_COMMITTED, OAE_LINK_COMMAND_SETTLE_REVERSED,
                              OAE_LINK_COMMAND_SETTLE_LOST}) {
    command(a, verb);
    EXPECT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    EXPECT_TRUE(event(a) & OAE_LINK_EVENT_REFUSED_MASK);
  }
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_REVERSED});
  EXPECT_EQ(transfers(b), 0u);
}

// A transfer of unknown fate can be settled as lost, and is not settled again then.
TEST_F(Link, DoubtCanBeSettledAsLost) {
  bring_up();
  fill(a, slots(1, 1));
  command(a, flow);
  until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
  to_a.cut();
  to_b.cut();
  put(a, OAE_LINK_CONTROL, 0);
  put(b, OAE_LINK_CONTROL, 0);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
  command(a, OAE_LINK_COMMAND_SETTLE_LOST);
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
  to_a.join();
  to_b.join();
  bring_up();
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_LOST});
  EXPECT_EQ(get(a, OAE_LINK_COUNT_REVERSED), 0u);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

// The other side has lost its power, and with it the fate of the transfer in doubt.
TEST_F(Link, ALostJournalIsTold) {
  for (const bool once : {true, false}) {
    bring_up();
    limit_silence(400);
    fill(a, slots(1, 1));
    command(a, once ? flow : packet);
    until([this] { return a.sender() == OAE_LINK_STATE_COMMITTING; });
    to_a.cut();
    to_b.cut();
    until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
    ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    b.top.reset = 1;
    clock();
    b.top.reset = 0;
    to_a.join();
    to_b.join();
    bring_up();
    EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
    EXPECT_EQ(transfers(b), 0u);
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, slots(1, 2));
  }
}

/// A has a transfer in doubt that B has committed. B then loses its power, and with it its journal.
class AfterPowerLoss : public Link {
 protected:
  void set_up_doubt() {
    bring_up();
    limit_silence(400);
    fill(a, slots(1, 1));
    command(a, flow);
    until([this] { return b.top.trace_received == OAE_OUTCOME_COMMITTED; });
    cut();
    ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
    EXPECT_EQ(take(b).slots, slots(1, 1));
    b.top.reset = 1;
    clock(20);
    b.top.reset = 0;
    limit_silence(400);
  }
  void cut() {
    to_a.cut();
    to_b.cut();
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    until([this] { return a.phase() == OAE_LINK_STATE_DOWN && b.phase() == OAE_LINK_STATE_DOWN; });
  }
  void begin() {
    to_a.join();
    to_b.join();
    put(a, OAE_LINK_CONTROL, 1);
    put(b, OAE_LINK_CONTROL, 1);
  }
  bool has_joined(const LinkEnd& end) {
    return end.phase() == OAE_LINK_STATE_JOINED || end.phase() == OAE_LINK_STATE_IDLE;
  }
};

// B joins, and the link is cut before A knows it. The journal that B sends next time must not count
// as history of the time before.
TEST_F(AfterPowerLoss, HistoryDoesNotBeginBeforeItBegan) {
  set_up_doubt();
  for (unsigned i = 1; i < 20; ++i) to_a.fault(LinkWire::Fault::lose, i);
  begin();
  until([this] { return has_joined(b); });
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  EXPECT_EQ(get(b, OAE_LINK_HISTORY), std::uint64_t{2} << 32 | OAE_LINK_HISTORY_KNOWN_MASK);
  cut();
  to_a.forgive();
  begin();
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_LOST});
  bring_up();
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(1, 2));
}

// The same holds whatever is lost at any time, and however often either side begins anew.
class AfterPowerLossAtRandom : public AfterPowerLoss, public testing::WithParamInterface<unsigned> {};

TEST_P(AfterPowerLossAtRandom, NobodyKnowsTheFate) {
  random.seed(GetParam());
  set_up_doubt();
  while (a.sender() == OAE_LINK_STATE_IN_DOUBT) {
    begin();
    for (unsigned i = 0; i < 8 && a.sender() == OAE_LINK_STATE_IN_DOUBT; ++i) {
      LinkEnd& end = random() % 2 == 0 ? a : b;
      LinkWire& wire = random() % 2 == 0 ? to_a : to_b;
      switch (random() % 4) {
        case 0:
          put(end, OAE_LINK_CONTROL, random() % 2);
          break;
        case 1:
          if (!wire.faulty()) wire.fault(LinkWire::Fault::lose, random() % 3);
          break;
        default:
          clock(random() % 40);
      }
    }
    if (random() % 2 == 0 && a.sender() == OAE_LINK_STATE_IN_DOUBT) cut();
  }
  EXPECT_EQ(outcome(a), unsigned{OAE_OUTCOME_LOST});
}

INSTANTIATE_TEST_SUITE_P(Link, AfterPowerLossAtRandom, testing::Range(1u, 101u));

// A has lost its power and counts from 1 again. B has committed a transfer of that number before. A
// begins, and the link is cut before B has joined. None of A's old numbers may count as new.
TEST_F(Link, NumbersOfAnotherLifeAreNotMistaken) {
  for (unsigned lost = 0; lost < 6; ++lost) {
    bring_up();
    limit_silence(400);
    EXPECT_EQ(send(a, slots(1, 1), true), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    a.top.reset = 1;
    clock(40);
    a.top.reset = 0;
    limit_silence(400);
    until([this] { return b.phase() != OAE_LINK_STATE_IDLE; });
    put(b, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 1);
    for (unsigned i = lost; i < 6; ++i) to_b.fault(LinkWire::Fault::lose, i);
    put(a, OAE_LINK_CONTROL, 1);
    fill(a, slots(1, 2));
    command(a, flow);
    clock(60);
    to_a.cut();
    to_b.cut();
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    clock(600);
    to_a.join();
    to_b.join();
    bring_up();
    EXPECT_EQ(outcome(a) == OAE_OUTCOME_COMMITTED, transfers(b) == 1) << lost;
    while (to_b.faulty()) send(a, slots(1, 3), true);
    while (transfers(b) != 0) take(b);
    EXPECT_EQ(send(a, slots(1, 4)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
    for (LinkEnd* end : {&a, &b}) {
      end->top.reset = 1;
      clock(40);
      end->top.reset = 0;
    }
  }
}

TEST_F(Link, OldJournalsAreNotBelieved) {
  bring_up();
  const Frame old = to_a.frames.front();
  ASSERT_EQ(OAE_GET(old[0], OAE_FRAME_HEADER_PROTOCOL), unsigned{OAE_PROTOCOL_INITIALISE});
  to_a.fault(LinkWire::Fault::lose);
  fill(a, slots(1, 1));
  command(a, flow);
  until([this] { return b.top.trace_received == OAE_OUTCOME_COMMITTED; });
  put(a, OAE_LINK_CONTROL, 0);
  until([this] { return a.phase() == OAE_LINK_STATE_DOWN; });
  ASSERT_EQ(a.sender(), unsigned{OAE_LINK_STATE_IN_DOUBT});
  put(a, OAE_LINK_CONTROL, 1);
  // It has been on the wire all the time, and says that nothing has arrived.
  for (unsigned i = 0; i < 8; ++i) {
    to_a.push({static_cast<std::uint8_t>(i == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD), old[i]});
  }
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE; });
  EXPECT_EQ(settled(a), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(take(b).slots, slots(1, 1));
}

// A has joined, but B does not know it. A waits however often B repeats its journal.
TEST_F(Link, NothingIsSentBeforeTheOtherSideHasJoined) {
  limit_silence(400);
  for (unsigned i = 1; i < 60; ++i) to_b.fault(LinkWire::Fault::lose, i);
  put(a, OAE_LINK_CONTROL, 1);
  put(b, OAE_LINK_CONTROL, 1);
  until([this] { return a.phase() == OAE_LINK_STATE_JOINED; });
  clock(2000);
  EXPECT_EQ(a.phase(), unsigned{OAE_LINK_STATE_JOINED});
  // B begins anew, and so does A, which had joined the session before.
  const std::uint64_t session = get(a, OAE_LINK_SESSION) & 0xffff'ffff;
  put(b, OAE_LINK_CONTROL, 0);
  put(b, OAE_LINK_CONTROL, 1);
  until([&] { return a.phase() == OAE_LINK_STATE_JOINED && b.top.tx_valid; });
  clock(500);
  EXPECT_GT(get(a, OAE_LINK_SESSION) & 0xffff'ffff, session);
  EXPECT_EQ(b.phase(), unsigned{OAE_LINK_STATE_INITIALISING});
  EXPECT_FALSE(event(a) & OAE_LINK_EVENT_UP_MASK);
  fill(a, slots(1, 1));
  command(a, flow);
  EXPECT_TRUE(event(a) & OAE_LINK_EVENT_REFUSED_MASK);
  to_b.forgive();
  until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
  EXPECT_TRUE(event(a) & OAE_LINK_EVENT_UP_MASK);
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

// The frame that tells a side that the other one has joined may be lost. The first transfer tells
// it as well.
TEST_F(Link, ATransferShowsThatTheOtherSideHasJoined) {
  unsigned times = 0;
  for (unsigned lost = 1; lost < 6; ++lost) {
    for (unsigned i = lost; i < 20; ++i) to_b.fault(LinkWire::Fault::lose, i);
    put(a, OAE_LINK_CONTROL, 1);
    put(b, OAE_LINK_CONTROL, 1);
    clock(200);
    to_b.forgive();
    if (a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_JOINED) {
      ++times;
      EXPECT_EQ(send(a, slots(1, lost)), unsigned{OAE_OUTCOME_COMMITTED});
      EXPECT_EQ(take(b).slots, slots(1, lost));
      EXPECT_EQ(get(a, OAE_LINK_COUNT_SILENT), 0u);
    }
    put(a, OAE_LINK_CONTROL, 0);
    put(b, OAE_LINK_CONTROL, 0);
    clock(100);
  }
  EXPECT_GT(times, 0u);
}

// A side that has joined repeats that until it knows that the other one has joined.
TEST_F(Link, ASideThatHasJoinedRepeatsItself) {
  limit_silence(400);
  for (unsigned i = 2; i < 12; ++i) to_a.fault(LinkWire::Fault::lose, i);
  bring_up();
  EXPECT_EQ(send(b, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
  EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
}

// A journal that names another session of either side begins a new session. A journal of both
// present sessions does not.
TEST_F(Link, AnotherSessionOfEitherSideBeginsAnew) {
  for (const unsigned other : {0u, 1u, 2u}) {
    bring_up();
    const std::uint64_t session = get(a, OAE_LINK_SESSION);
    Frame frame{};
    frame[0] = header(OAE_PROTOCOL_INITIALISE, 0);
    frame[1] = OAE_PUT(OAE_FRAME_SESSION_OWN, (session >> 32) + (other == 1)) |
               OAE_PUT(OAE_FRAME_SESSION_OTHER, (session & 0xffff'ffff) + (other == 2));
    frame[2] = OAE_PUT(OAE_FRAME_JOURNAL_NEXT, 1) | OAE_PUT(OAE_FRAME_JOURNAL_EXPECTED, 1);
    frame[3] = OAE_FRAME_HISTORY_AGREED_MASK | OAE_FRAME_HISTORY_MET_MASK;
    frame[7] = crc64(frame.data(), 56);
    for (unsigned i = 0; i < 8; ++i) {
      to_a.push(
          {static_cast<std::uint8_t>(i == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD), frame[i]});
    }
    bool left = false;
    for (unsigned i = 0; i < 200; ++i) {
      clock();
      left = left || a.phase() != OAE_LINK_STATE_IDLE;
    }
    EXPECT_EQ(left, other != 0) << other;
    until([this] { return a.phase() == OAE_LINK_STATE_IDLE && b.phase() == OAE_LINK_STATE_IDLE; });
    EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
    take(b);
  }
}

TEST_F(Link, NoKindInAnyPlaceDoesHarm) {
  bring_up();
  for (unsigned place = 0; place < 8; ++place) {
    for (unsigned kind = 0; kind < 4; ++kind) {
      to_b.fault(LinkWire::Fault::kind, 1, 64 * place + kind);
      const std::vector<Slot> sent = slots(4, 4 * place + kind);
      const unsigned result = send(a, sent);
      const bool sound = kind == (place == 0 ? OAE_KIND_SLICE_0 : OAE_KIND_PAYLOAD);
      EXPECT_EQ(result, sound ? unsigned{OAE_OUTCOME_COMMITTED} : unsigned{OAE_OUTCOME_REVERSED});
      if (sound) {
        EXPECT_EQ(take(b).slots, sent);
      }
      EXPECT_EQ(transfers(b), 0u);
      EXPECT_EQ(send(a, slots(1, 2)), unsigned{OAE_OUTCOME_COMMITTED});
      take(b);
    }
  }
}

TEST_F(Link, AWireThatHoldsBackLosesNothing) {
  stall = 60;
  bring_up();
  for (const unsigned count : {1u, 4u, 16u, 64u}) {
    EXPECT_EQ(send(a, slots(count, count)), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, slots(count, count));
  }
  EXPECT_EQ(get(b, OAE_LINK_COUNT_DAMAGED), 0u);
}

TEST_F(Link, NumbersWrapWithinTheirByte) {
  bring_up();
  for (unsigned i = 0; i < 9; ++i) {
    to_b.fault(LinkWire::Fault::duplicate, i);
    EXPECT_EQ(send(a, slots(64, i), true), unsigned{OAE_OUTCOME_COMMITTED});
    EXPECT_EQ(take(b).slots, slots(64, i));
  }
  EXPECT_EQ(get(b, OAE_LINK_JOURNAL) >> 32, 576u);
}

}  // namespace
