// SPDX-License-Identifier: Apache-2.0
// The agent's side of the swap ports, with the verilated block between it and a host.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/firmware/scheduling/port_channel_fixture.h"

namespace {

TEST_F(PortChannel, NothingIsOfferedAtFirst) {
  for (unsigned cpu = 0; cpu < cpus; ++cpu) {
    const auto offer = swap(cpu);
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->kind, PORT_NOTHING);
    EXPECT_EQ(offer->version, GHOST_VERSION);
    EXPECT_EQ(offer->run, control.request);
    EXPECT_EQ(offer->cpu, cpu);
    EXPECT_EQ(offer->number, 0u);
    EXPECT_EQ(offer->gtid, 0u);
  }
}

TEST_F(PortChannel, AnOfferStandsAgainAsSoonAsTheAgentLooks) {
  for (unsigned turn = 0; turn < 5; ++turn) {
    ASSERT_TRUE(swap(1));
    EXPECT_FALSE(swap(1)) << "nobody has looked";
    EXPECT_FALSE(receive(1));
  }
  EXPECT_EQ(channel.counts.idle_taken, 5u);
}

TEST_F(PortChannel, ADecisionIsHandedOutOnce) {
  for (const auto kind : {DECISION_RUN, DECISION_PREEMPT, DECISION_PRESTAGE}) {
    const std::uint64_t number = 1 + channel.cpu[2].written;
    decide({kind, 2, 0x1234'5678'9abc, 77, 4'000});
    const auto offer = swap(2);
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->kind, kind == DECISION_RUN       ? PORT_RUN
                           : kind == DECISION_PREEMPT ? PORT_PREEMPT
                                                      : PORT_PRESTAGE);
    EXPECT_EQ(offer->cpu, 2u);
    EXPECT_EQ(offer->barrier, 77u);
    EXPECT_EQ(offer->gtid, 0x1234'5678'9abcu);
    EXPECT_EQ(offer->newest, 4'000u);
    EXPECT_EQ(offer->decided, 5'000u);
    EXPECT_EQ(offer->number, number);
    EXPECT_FALSE(receive(2));
    EXPECT_EQ(swap(2)->kind, PORT_NOTHING);
    EXPECT_FALSE(receive(2));
    EXPECT_FALSE(ended(2));
    send_outcome(2, number, GHOST_COMPLETE, 9);
    EXPECT_FALSE(receive(2));
    EXPECT_TRUE(ended(2));
  }
  EXPECT_EQ(channel.counts.taken, 3u);
}

TEST_F(PortChannel, ADecisionEndsByTheOutcomeWithItsNumber) {
  for (std::uint64_t number = 1; number < 4; ++number) {
    decide({DECISION_RUN, 1, 5, 6, 7});
    ASSERT_TRUE(swap(1));
    send_outcome(1, number - 1, GHOST_CPU_UNAVAIL, 1);
    EXPECT_FALSE(receive(1));
    send_outcome(1, number + 1, GHOST_CPU_UNAVAIL, 2);
    EXPECT_FALSE(receive(1));
    EXPECT_FALSE(ended(1));
    send_outcome(1, number, GHOST_TARGET_STALE, 30 + number);
    EXPECT_FALSE(receive(1));
    ASSERT_TRUE(ended(1));
    EXPECT_EQ(state, GHOST_TARGET_STALE);
    EXPECT_EQ(time, 30 + number);
  }
}

TEST_F(PortChannel, ADecisionEndsByTheMessageThatItsTaskRuns) {
  const auto send_on_cpu = [this](std::uint64_t number, std::uint64_t when) {
    PortHost::Payload words;
    queue_entry entry = entry_of(GHOST_ON_CPU, 5);
    entry.message.on_cpu.commit_time = when;
    EXPECT_TRUE(port_pack(&entry, 50, words.data()));
    if (number) port_event_note(words.data(), port_end_note(number));
    EXPECT_TRUE(host.ask(port_of_events(first, 1), OAE_VERB_SEND, words));
    host.confirm(port_of_events(first, 1));
    ASSERT_TRUE(receive(1));
    EXPECT_EQ(message.header.type, GHOST_ON_CPU);
    EXPECT_EQ(message.on_cpu.commit_time, when);
  };
  for (std::uint64_t number = 1; number < 4; ++number) {
    decide({DECISION_RUN, 1, 5, 6, 7});
    ASSERT_TRUE(swap(1));
    for (const std::uint64_t other : {std::uint64_t{0}, number - 1, number + 1}) {
      send_on_cpu(other, 20);
      EXPECT_FALSE(ended(1)) << other;
    }
    send_on_cpu(number, 30 + number);
    ASSERT_TRUE(ended(1));
    EXPECT_EQ(state, GHOST_COMPLETE);
    EXPECT_EQ(time, 30 + number);
    send_outcome(1, number, GHOST_TARGET_STALE, 40);
    EXPECT_FALSE(receive(1));
    EXPECT_EQ(channel.cpu[1].state, GHOST_COMPLETE) << "a decision ends once";
    EXPECT_EQ(channel.counts.implied, number);
  }
}

TEST_F(PortChannel, ASwapBringsAMessage) {
  for (std::uint64_t gtid = 1; gtid < 4; ++gtid) {
    ASSERT_TRUE(swap(1, message_after(GHOST_BLOCKED, gtid, 0)));
    EXPECT_FALSE(receive(0));
    ASSERT_TRUE(receive(1));
    EXPECT_EQ(message.header.type, GHOST_BLOCKED);
    EXPECT_EQ(message.gtid, gtid);
    EXPECT_EQ(time, gtid);
    EXPECT_FALSE(receive(1));
    EXPECT_EQ(channel.counts.carried, gtid);
  }
}

TEST_F(PortChannel, ASwapBringsAMessageAlsoWhileItsOfferIsReplaced) {
  ASSERT_TRUE(swap(1, message_after(GHOST_BLOCKED, 7, 0)));
  decide({DECISION_RUN, 1, 5, 6, 7});  // too late for that swap
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message.gtid, 7u);
  ASSERT_TRUE(swap(1, message_after(GHOST_BLOCKED, 8, 0)));
  withdraw(1);
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message.gtid, 8u);
  EXPECT_FALSE(receive(1));
}

TEST_F(PortChannel, ASwapThatIsReversedBringsNothing) {
  ASSERT_TRUE(
      host.ask(port_of_decisions(first, 1), OAE_VERB_SWAP, message_after(GHOST_BLOCKED, 5, 0)));
  EXPECT_FALSE(receive(1));
  host.reverse_last(port_of_decisions(first, 1));
  EXPECT_FALSE(receive(1));
}

TEST_F(PortChannel, MessagesThatWereSentBeforeASwapAreReadBefore) {
  for (unsigned i = 0; i < 100; ++i) {
    const unsigned sent = 3 * i;
    ASSERT_TRUE(send(1, GHOST_WAKEUP, 1));
    ASSERT_TRUE(send(1, GHOST_WAKEUP, 2));
    ASSERT_TRUE(swap(1, message_after(GHOST_BLOCKED, 3, sent + 2)));
    ASSERT_TRUE(receive(1));
    ASSERT_EQ(message.gtid, 1u);
    ASSERT_TRUE(send(1, GHOST_ON_CPU, 4));
    for (const std::uint64_t gtid : {2u, 3u, 4u}) {
      ASSERT_TRUE(receive(1));
      ASSERT_EQ(message.gtid, gtid);
    }
    EXPECT_FALSE(receive(1));
  }
}

TEST_F(PortChannel, AMessageThatASwapBringsDoesNotWaitForWhatNeverComes) {
  ASSERT_TRUE(swap(1, message_after(GHOST_BLOCKED, 3, 7)));
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message.gtid, 3u);
  EXPECT_FALSE(receive(1));
}

TEST_F(PortChannel, WhatASwapGivesAndIsNoMessageIsIgnored) {
  queue_entry entry{};
  entry.outcome = {{QUEUE_OUTCOME, sizeof(queue_outcome), 0}, 1, GHOST_COMPLETE, 0, 9, 0};
  PortHost::Payload given;
  ASSERT_TRUE(port_pack(&entry, 9, given.data()));
  decide({DECISION_RUN, 1, 5, 6, 7});
  ASSERT_TRUE(swap(1, given));
  EXPECT_FALSE(receive(1));
  EXPECT_FALSE(ended(1));
  for (unsigned type = 1; type < 256; ++type) {
    if (port_event_length(type)) continue;
    ASSERT_TRUE(swap(1, {type}));
    EXPECT_FALSE(receive(1)) << type;
  }
}

TEST_F(PortChannel, ADecisionThatIsTakenBackInTimeHasEndedAtOnce) {
  decide({DECISION_PRESTAGE, 1, 5, 6, 7});
  own_time += 11;
  withdraw(1);
  ASSERT_TRUE(ended(1));
  EXPECT_EQ(state, GHOST_ABORTED);
  EXPECT_EQ(time, 5'011u);
  EXPECT_EQ(swap(1)->kind, PORT_NOTHING);
  withdraw(1);
  EXPECT_EQ(channel.counts.revoked, 1u);
  EXPECT_EQ(channel.counts.late, 0u);
  EXPECT_TRUE(interrupts.empty());
}

TEST_F(PortChannel, ADecisionThatIsTakenBackTooLateGoesOn) {
  decide({DECISION_PRESTAGE, 1, 5, 6, 7});
  ASSERT_EQ(swap(1)->gtid, 5u);
  withdraw(1);
  EXPECT_FALSE(ended(1));
  EXPECT_EQ(swap(1)->kind, PORT_NOTHING) << "which stands at once";
  withdraw(1);
  EXPECT_FALSE(receive(1));
  EXPECT_FALSE(ended(1));
  EXPECT_EQ(channel.counts.late, 1u);
  EXPECT_EQ(channel.counts.revoked, 0u);
  send_outcome(1, 1, GHOST_COMPLETE, 8);
  EXPECT_FALSE(receive(1));
  EXPECT_TRUE(ended(1));
}

TEST_F(PortChannel, ASwapThatTheHostReversesEndsItsDecision) {
  for (const bool seen : {false, true}) {
    decide({DECISION_RUN, 1, 5, 6, 7});
    ASSERT_TRUE(host.ask(port_of_decisions(first, 1), OAE_VERB_SWAP, {}));
    if (seen) {
      EXPECT_FALSE(receive(1));
    }
    EXPECT_FALSE(ended(1)) << "nobody knows yet";
    host.reverse_last(port_of_decisions(first, 1));
    EXPECT_FALSE(receive(1));
    ASSERT_TRUE(ended(1));
    EXPECT_EQ(state, GHOST_ABORTED);
    EXPECT_EQ(swap(1)->kind, PORT_NOTHING);
    EXPECT_FALSE(receive(1));
  }
  decide({DECISION_RUN, 1, 5, 6, 7});
  host.reverse_next(port_of_decisions(first, 1));
  EXPECT_FALSE(receive(1));
  EXPECT_TRUE(ended(1)) << "its offer is used up";
  EXPECT_EQ(channel.counts.reversed, 3u);
}

TEST_F(PortChannel, AnOfferOfNothingThatIsTakenWhileATaskWaitsIsCounted) {
  task_waits = true;
  ASSERT_TRUE(swap(1));
  EXPECT_FALSE(receive(1));
  EXPECT_EQ(channel.counts.idle_missed, 1u);
  task_waits = false;
  ASSERT_TRUE(swap(1));
  EXPECT_FALSE(receive(1));
  EXPECT_EQ(channel.counts.idle_missed, 1u);
  ASSERT_TRUE(swap(1));
  decide({DECISION_RUN, 1, 5, 6, 7});
  EXPECT_EQ(channel.counts.idle_missed, 2u) << "the decision has come just too late";
  EXPECT_EQ(channel.counts.idle_taken, 3u);
  EXPECT_EQ(swap(1)->gtid, 5u);
}

TEST_F(PortChannel, EventsArriveInOrderAndOnce) {
  for (unsigned i = 0; i < 100; ++i) {
    // One place is for what is committed, and one for what waits for that.
    ASSERT_TRUE(send(0, GHOST_WAKEUP, i));
    ASSERT_TRUE(send(0, GHOST_NEW, 1'000 + i));
    ASSERT_FALSE(send(0, GHOST_NEW, 9'999));
    EXPECT_FALSE(receive(1));
    ASSERT_TRUE(receive(0));
    EXPECT_EQ(message.gtid, i);
    EXPECT_EQ(message.header.type, GHOST_WAKEUP);
    EXPECT_EQ(time, i);
    ASSERT_TRUE(receive(0));
    EXPECT_EQ(message.gtid, 1'000 + i);
    EXPECT_EQ(message.header.type, GHOST_NEW);
    EXPECT_FALSE(receive(0));
  }
}

TEST_F(PortChannel, AnEventIsReadWhenItIsConfirmed) {
  const unsigned port = port_of_events(first, 1);
  PortHost::Payload payload;
  const queue_entry entry = entry_of(GHOST_DEAD, 3);
  ASSERT_TRUE(port_pack(&entry, 1, payload.data()));
  ASSERT_TRUE(host.ask(port, OAE_VERB_SEND, payload));
  EXPECT_FALSE(receive(1));
  EXPECT_TRUE(port_channel_busy(&channel)) << "it is on its way";
  host.confirm(port);
  EXPECT_TRUE(port_channel_busy(&channel));
  EXPECT_TRUE(receive(1));
  EXPECT_FALSE(port_channel_busy(&channel));
  ASSERT_TRUE(host.ask(port, OAE_VERB_SEND, payload));
  host.reverse_last(port);
  EXPECT_FALSE(receive(1));
  EXPECT_FALSE(port_channel_busy(&channel));
}

TEST_F(PortChannel, ALossIsKnownWhenItsMarkIsRead) {
  queue_entry mark{};
  mark.message.header = {QUEUE_LOST, sizeof(ghost_header), 0};
  ASSERT_TRUE(host.send(port_of_events(first, 1), mark, 1));
  ASSERT_TRUE(send(1, GHOST_DEAD, 7));
  EXPECT_FALSE(way.lost(way.context, 1));
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message.gtid, 7u);
  EXPECT_TRUE(way.lost(way.context, 1));
  EXPECT_FALSE(way.lost(way.context, 0));
}

TEST_F(PortChannel, WhatIsNoEventIsIgnored) {
  host.ask(port_of_events(first, 1), OAE_VERB_FETCH_ADD, {0, 1});
  host.confirm(port_of_events(first, 1));
  ASSERT_TRUE(send(1, GHOST_DEAD, 7));
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message.gtid, 7u);
}

TEST_F(PortChannel, ASendOnTheDecisionPortIsNoAnswer) {
  // It makes the offer void.
  decide({DECISION_RUN, 1, 5, 6, 7});
  ASSERT_TRUE(host.ask(port_of_decisions(first, 1), OAE_VERB_SEND, {}));
  host.confirm(port_of_decisions(first, 1));
  EXPECT_FALSE(receive(1));
  EXPECT_TRUE(ended(1));
  EXPECT_EQ(state, GHOST_ABORTED);
  EXPECT_EQ(swap(1)->kind, PORT_NOTHING);
}

TEST_F(PortChannel, APortInAnotherEpochIsLeftAlone) {
  host.open(port_of_decisions(first, 1));
  host.open(port_of_events(first, 1));
  ASSERT_TRUE(send(1, GHOST_DEAD, 7));
  EXPECT_FALSE(receive(1));
  decide({DECISION_RUN, 1, 5, 6, 7});
  EXPECT_FALSE(receive(1));
  EXPECT_FALSE(swap(1));
  withdraw(1);
  EXPECT_TRUE(ended(1)) << "it was never offered";
  ++control.request;
  ASSERT_TRUE(port_channel_init(&channel, &device, &control));
  EXPECT_EQ(swap(1)->run, control.request);
  EXPECT_FALSE(receive(1)) << "what was sent before the start is forgotten";
  ASSERT_TRUE(send(1, GHOST_DEAD, 8));
  ASSERT_TRUE(receive(1));
  EXPECT_EQ(message.gtid, 8u);
}

TEST_F(PortChannel, AnotherAgentKnowsNothingOfTheOneBefore) {
  decide({DECISION_RUN, 1, 5, 6, 7});
  ASSERT_TRUE(send(1, GHOST_DEAD, 7));
  ASSERT_TRUE(send(1, GHOST_DEAD, 8));
  ++control.request;
  ASSERT_TRUE(port_channel_init(&channel, &device, &control));
  EXPECT_FALSE(receive(1));
  const auto offer = swap(1);
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->kind, PORT_NOTHING);
  EXPECT_EQ(offer->run, control.request);
  EXPECT_EQ(channel.cpu[1].written, 0u);
  for (const unsigned port : {port_of_decisions(first, 1), port_of_events(first, 1)}) {
    EXPECT_FALSE(receive(1));
    ASSERT_TRUE(host.ask(port, OAE_VERB_SEND, {}));
    EXPECT_FALSE(port_channel_init(&channel, &device, &control)) << "it would come later";
    host.confirm(port);
    EXPECT_TRUE(port_channel_init(&channel, &device, &control));
  }
}

TEST_F(PortChannel, TheEndTakesAllOffersBack) {
  decide({DECISION_RUN, 1, 5, 6, 7});
  port_channel_end(&channel);
  for (unsigned cpu = 0; cpu < cpus; ++cpu) EXPECT_FALSE(swap(cpu)) << cpu;
}

TEST_F(PortChannel, AKickIsAnInterruptOfItsCpu) {
  EXPECT_TRUE(way.kick(way.context, 0b101, 0b100));
  EXPECT_EQ(interrupts, (std::vector<unsigned>{queue_vector(0, QUEUE_CALL_LOOK),
                                               queue_vector(2, QUEUE_CALL_PREEMPT)}));
}

TEST_F(PortChannel, TheClockFollowsTheKernels) {
  EXPECT_EQ(way.now(way.context), 5'000u);
  own_time += 50;
  EXPECT_EQ(way.now(way.context), 5'050u);
  ASSERT_TRUE(host.send(port_of_events(first, 0), entry_of(GHOST_DEAD, 1), 5'060));
  ASSERT_TRUE(receive(0));
  EXPECT_EQ(way.now(way.context), 5'060u);
  own_time += 20;
  EXPECT_EQ(way.now(way.context), 5'080u) << "what it was late by does not come back";
}

TEST_F(PortChannel, PortsThatThereAreNotAreRefused) {
  const auto ports = [this](unsigned host_cpus, unsigned first_port) {
    control.host_cpus = host_cpus;
    control.first_port = first_port;
    const std::uint64_t set = port_channel_ports(&device, &control);
    EXPECT_EQ(port_channel_init(&channel, &device, &control), set != 0);
    return set;
  };
  for (unsigned n = 0; n < PortHost::ports; ++n) host.open(n);
  EXPECT_EQ(ports(4, 0), 0xffu);
  EXPECT_EQ(ports(1, 0), 0x3u);
  EXPECT_EQ(ports(3, 2), 0xfcu);
  EXPECT_EQ(ports(1, 6), 0xc0u);
  EXPECT_EQ(ports(0, 0), 0u);
  EXPECT_EQ(ports(4, 1), 0u);
  EXPECT_EQ(ports(5, 0), 0u);
  EXPECT_EQ(ports(1, 7), 0u);
  EXPECT_EQ(ports(1, ~0u), 0u);
  EXPECT_EQ(ports(65, 0), 0u);
  EXPECT_EQ(ports(~0u, 0), 0u);
  control.host_cpus = 2;
  control.first_port = 0;
  for (unsigned n = 0; n < 4; ++n) {
    host.close(n);
    EXPECT_FALSE(port_channel_init(&channel, &device, &control)) << n;
    host.open(n);
    EXPECT_TRUE(port_channel_init(&channel, &device, &control)) << n;
  }
  device.ports = 64;
  EXPECT_EQ(port_channel_ports(&device, &control), 0xfu);
  control.host_cpus = 32;
  EXPECT_EQ(port_channel_ports(&device, &control), ~std::uint64_t{0});
  control.host_cpus = 33;
  EXPECT_EQ(port_channel_ports(&device, &control), 0u);
}

}  // namespace
