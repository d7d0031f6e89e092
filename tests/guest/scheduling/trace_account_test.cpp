// SPDX-License-Identifier: Apache-2.0
// What became of the decisions of traces made by hand, and what CPUs have found.
#include "guest/scheduling/trace/figures/looks.h"
#include "tests/guest/scheduling/trace_test.h"

namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t limit = 1'000'000;

TraceBuilder begin(policy_kind policy = POLICY_FIFO_CENTRAL) {
  TraceBuilder builder(policy);
  return builder.at(100).task_new(a).at(110).task_new(b).at(120).idle(1).at(130).busy(2);
}

/// Of four decisions, one is refused and one is taken back.
TraceBuilder some() {
  TraceBuilder builder = begin();
  builder.at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b);
  builder.at(500).claim(2, b, 400).end(2, GHOST_CPU_UNAVAIL);
  builder.at(600).blocked(a, 1).at(700).claim(1, b, 600).end(1).at(720).left(b, 1, 0, true);
  builder.at(800).run(1, b, 720).at(1'000'000'100).blocked(b, 1);
  return builder;
}

Trace finish(TraceBuilder& builder) {
  const Trace trace = builder.dead(a).dead(b).trace();
  EXPECT_THAT(Checker(trace, limit).mistakes(), IsEmpty());
  return trace;
}

Looks::First first(TraceBuilder& builder) {
  return Looks(finish(builder)).first();
}

TEST(Account, EachDecisionIsInOnePlace) {
  TraceBuilder builder = some();
  Trace trace = finish(builder);
  trace.head.agent.written += 2;
  trace.head.agent.outcomes[ghost_outcome_index(GHOST_ABORTED)] += 2;
  auto lines = account(trace, limit);
  EXPECT_EQ(lines["decisions"], 6u);
  EXPECT_EQ(lines["ran"], 2u);
  EXPECT_EQ(lines["taken_back"], 1u);
  EXPECT_EQ(lines["aborted CPU_UNAVAIL"], 1u);
  EXPECT_EQ(lines["withdrawn"], 2u);
  EXPECT_EQ(lines["unaccounted"], 0u);
  EXPECT_EQ(lines["right"] + lines["stale"], 3u);
  EXPECT_EQ(lines["lost"], 0u);
}

TEST(Account, RatesAreOfTheTimeFromTheFirstMessageToTheLast) {
  TraceBuilder builder = some();
  builder.dead(a).dead(b).at(3'000'000'000).look(1);
  auto lines = account(builder.trace(), limit);
  EXPECT_EQ(lines["ns"], 1'000'000'000u);
  EXPECT_EQ(lines["messages"], 13u);
  EXPECT_EQ(lines["messages_a_second"], 13u);
  EXPECT_EQ(lines["decisions_a_second"], 4u);
}

TEST(Account, ADecisionThatIsLostIsMissed) {
  TraceBuilder builder = some();
  const Trace trace = finish(builder);
  Accounts accounts = Checker(trace, limit).accounts();
  --accounts.ran;
  const Account found = account_of(trace, accounts, Oracle(trace));
  EXPECT_EQ(found.decisions, 4u);
  EXPECT_EQ(found.ends, 3u);
}

TEST(Account, WhatCrossesPortsIsCompared) {
  TraceBuilder builder = some().ports(3, 2, 5);
  const Trace trace = finish(builder);
  auto lines = account(trace, limit);
  EXPECT_EQ(lines["port taken"], 4u);
  EXPECT_EQ(lines["port swaps"], 9u);
  EXPECT_EQ(lines["port sends"], 13u + 4u - 3u - 2u);
  EXPECT_EQ(account(finish(begin().at(200)), limit).count("port taken"), 0u);

  const auto mistakes = [&](auto change) {
    Trace other = trace;
    change(other.head);
    return Checker(other, limit).mistakes();
  };
  const auto found = [&](auto change, const char* text) {
    EXPECT_THAT(mistakes(change), Contains(HasSubstr(text)));
  };
  found([](auto& head) { --head.ports.taken; }, "swaps that handed out a decision");
  found([](auto& head) { ++head.ports.swaps; }, "swaps with and without a decision");
  found([](auto& head) { ++head.ports.idle_taken; }, "swaps with and without a decision");
  found([](auto& head) { ++head.ports.revoked; }, "decisions revoked or reversed");
  found([](auto& head) { --head.ports.sends; }, "events that crossed a port");
  found([](auto& head) { std::strcpy(head.transport, "queue"); }, "there are none");
  // One side alone may have counted a swap in doubt.
  EXPECT_THAT(mistakes([](auto& head) { ++head.ports.doubts, ++head.ports.swaps; }), IsEmpty());
}

TEST(Looks, APrestagedDecisionIsThereWhenItsCpuLooks) {
  TraceBuilder builder = begin();
  builder.at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b);
  builder.at(600).blocked(a, 1).at(700).run(1, b, 400).at(900).blocked(b, 1);
  const Looks::First found = first(builder);
  EXPECT_EQ(found.prestaged, 1u);
  EXPECT_EQ(found.all(), 1u);
}

TEST(Looks, ADecisionThatRestsOnTheStopIsMadeAfterIt) {
  TraceBuilder builder = begin();
  builder.at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b);
  builder.at(600).blocked(a, 1).at(700).run(1, b, 600).at(900).blocked(b, 1).at(950).look(1);
  const Looks::First found = first(builder);
  EXPECT_EQ(found.in_time, 1u);
  EXPECT_EQ(found.nothing, 1u);
  EXPECT_EQ(found.all(), 2u);
}

TEST(Looks, ADecisionThatIsNotThereIsLateIfATaskWaits) {
  TraceBuilder builder = begin();
  builder.at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b);
  builder.at(600).blocked(a, 1).at(610).idle(1).at(700).run(1, b, 611).at(900).blocked(b, 1);
  const Trace trace = finish(builder);
  const Looks looks(trace);
  EXPECT_EQ(looks.first().late, 1u);
  EXPECT_EQ(looks.first().all(), 1u);
  EXPECT_EQ(looks.in_vain(), 2u);
  EXPECT_EQ(looks.missed(), 1u);
}

TEST(Looks, ATaskThatMayNotRunThereDoesNotWaitForTheCpu) {
  TraceBuilder builder = begin();
  builder.at(150).affinity(b, 0x4).at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b);
  builder.at(600).blocked(a, 1).at(610).idle(1).at(700).look(2).run(2, b, 400);
  builder.at(900).blocked(b, 2);
  EXPECT_EQ(first(builder).nothing, 1u);
  builder = begin(POLICY_FIFO_PER_CPU);
  builder.at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b);
  builder.at(600).blocked(a, 1).at(610).idle(1).at(700).look(2).run(2, b, 400);
  builder.at(900).blocked(b, 2);
  EXPECT_EQ(first(builder).nothing, 1u);
}

TEST(Looks, ARefusedDecisionIsNoHit) {
  TraceBuilder builder = begin();
  builder.at(200).wakeup(a).at(300).run(1, a, 200).at(400).wakeup(b).at(500).affinity(b, 0x2);
  builder.at(600).blocked(a, 1).at(700).claim(1, b, 400, 2).end(1, GHOST_TARGET_STALE);
  builder.at(800).run(1, b, 600).at(900).blocked(b, 1);
  const Looks::First found = first(builder);
  EXPECT_EQ(found.refused, 1u);
  EXPECT_EQ(found.all(), 1u);
}

}  // namespace
