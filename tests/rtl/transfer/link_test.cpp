// SPDX-License-Identifier: Apache-2.0
// Tests of the link, step by step.
#include <gtest/gtest.h>

#include <vector>

#include "tests/rtl/transfer/ends/fixture.h"

namespace {

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

TEST_F(Link, BothJournalsAreSentAtTheBeginning) {
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

TEST_F(Link, NothingIsReportedBeforeTheThirdPhase) {
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

TEST_F(Link, LivenessIsReported) {
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
