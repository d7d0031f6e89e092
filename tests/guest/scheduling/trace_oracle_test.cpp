// SPDX-License-Identifier: Apache-2.0
// Traces made by hand, of which it is known what an agent without latency would have decided.
#include "guest/scheduling/trace/oracle.h"
#include "tests/guest/scheduling/trace_test.h"

namespace {

constexpr std::uint64_t c = 13;  // a further task

/// Tasks a, b and c exist and sleep, and CPUs 1 and 2 idle.
TraceBuilder begin(policy_kind policy = POLICY_FIFO_CENTRAL) {
  TraceBuilder builder(policy);
  builder.at(100).task_new(a).at(110).task_new(b).at(120).task_new(c);
  return builder.at(130).idle(1).at(140).idle(2);
}

/// Lets the tasks that run on these CPUs sleep, and all end.
Trace finish(TraceBuilder& builder, std::vector<std::pair<std::uint64_t, unsigned>> running,
             std::uint64_t time = 9000) {
  for (const auto& [gtid, cpu] : running) builder.at(time).blocked(gtid, cpu);
  builder.at(time + 10).dead(a).dead(b).dead(c);
  const Trace trace = builder.trace();
  EXPECT_EQ(Checker(trace, 100'000).mistakes(), std::vector<std::string>{});
  return trace;
}

TEST(Oracle, TheTaskThatCameFirstIsRight) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).wakeup(b);
  builder.at(1500).claim(1, a, 1100).at(1600).end(1).at(1700).on_cpu(a, 1);
  builder.at(1800).claim(2, b, 1100).at(1900).end(2).at(2000).on_cpu(b, 2);
  const Oracle oracle(finish(builder, {{a, 1}, {b, 2}}));
  EXPECT_EQ(oracle.right(), 2u);
  EXPECT_TRUE(oracle.stale().empty());
  EXPECT_EQ(oracle.ages(), (std::vector<std::uint64_t>{500, 800}));
  // From the first wake-up, since CPU 2 idles until the end of the second decision.
  EXPECT_EQ(oracle.idle_while_waiting(), 900u);
}

TEST(Oracle, AnotherTaskIsStaleAndTheFirstOneHasWaited) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).wakeup(b).at(1200).busy(2);
  builder.at(1500).claim(1, b, 1100).at(1600).end(1).at(1700).on_cpu(b, 1).at(2000).blocked(b, 1);
  builder.at(2500).claim(1, a, 2000).at(2600).end(1).at(2700).on_cpu(a, 1);
  const Trace trace = finish(builder, {{a, 1}});
  const Oracle oracle(trace);
  EXPECT_EQ(oracle.right(), 1u);
  ASSERT_EQ(oracle.stale().size(), 1u);
  EXPECT_EQ(trace.records[oracle.stale()[0].at].time, 1600u);
  EXPECT_EQ(oracle.stale()[0].better, a);
  EXPECT_EQ(oracle.stale()[0].waited, 1000u);  // until the end of the decision for it, at 2600
}

TEST(Oracle, AMessageThatTheAgentCouldNotKnowMakesADecisionStale) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).run(2, a, 1000);
  builder.at(2000).wakeup(b);
  // FIFO queues a task that lost its CPU at the front.
  builder.at(2100).claim(1, b, 2000).at(2150).preempt(a, 2).busy(2).at(2200).end(1);
  builder.at(2300).on_cpu(b, 1).at(2500).blocked(b, 1).at(2700).run(1, a, 2500);
  const Oracle oracle(finish(builder, {{a, 1}}));
  EXPECT_EQ(oracle.right(), 2u);
  ASSERT_EQ(oracle.stale().size(), 1u);
  EXPECT_EQ(oracle.stale()[0].better, a);
  EXPECT_EQ(oracle.stale()[0].waited, 501u);  // from 2200 to the end of the decision, at 2701
}

TEST(Oracle, ADecisionThatRestsOnNothingNewerIsMadeAlready) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).wakeup(b);
  builder.at(1500).run(2, b, 1100);  // since a was given CPU 1
  builder.at(1800).run(1, a, 1100);
  EXPECT_EQ(Oracle(finish(builder, {{a, 1}, {b, 2}})).right(), 2u);
}

TEST(Oracle, ADecisionThatRestsOnSomethingNewerIsNotMadeYet) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).wakeup(b);
  builder.at(1500).run(2, b, 1100);
  builder.at(1600).wakeup(c).at(1800).run(1, a, 1600);
  builder.at(1900).blocked(b, 2).at(2000).run(2, c, 1900);
  const Oracle oracle(finish(builder, {{a, 1}, {c, 2}}));
  ASSERT_EQ(oracle.stale().size(), 1u);
  EXPECT_EQ(oracle.stale()[0].better, a);
  EXPECT_EQ(oracle.right(), 2u);
}

TEST(Oracle, ATaskThatMayNotRunThereIsPassedOver) {
  TraceBuilder builder = begin();
  builder.at(500).affinity(a, 0x4).at(1000).wakeup(a).at(1100).wakeup(b).at(1200).busy(2);
  builder.at(1500).run(1, b, 1100).at(2000).look(2).run(2, a, 1000);
  EXPECT_EQ(Oracle(finish(builder, {{b, 1}, {a, 2}})).right(), 2u);
}

TEST(Oracle, ATaskWhoseDecisionWasRefusedComesFirst) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).wakeup(b).at(1200).busy(1);
  builder.at(1300).claim(1, b, 1100).end(1, GHOST_CPU_UNAVAIL);
  builder.at(1400).run(2, b, 1200).at(2000).blocked(b, 2).at(2100).run(2, a, 2000);
  const Oracle oracle(finish(builder, {{a, 2}}));
  EXPECT_EQ(oracle.right(), 2u);
  EXPECT_EQ(oracle.ages().size(), 3u);
}

TEST(Oracle, AnOwnersTaskComesFirstAlthoughItWasChanged) {
  TraceBuilder builder = begin();
  builder.at(1000).wakeup(a).at(1100).wakeup(b).at(1150).affinity(b, 0x4).at(1160).wakeup(b);
  builder.at(1200).busy(1).at(1300).claim(1, b, 1100, 2).end(1, GHOST_CPU_UNAVAIL);
  builder.at(1400).run(2, b, 1200).at(2000).blocked(b, 2).at(2100).run(2, a, 2000);
  Trace trace = finish(builder, {{a, 2}});
  EXPECT_EQ(Oracle(trace).right(), 1u);  // the changes have come since the decision
  trace.head.rule = RULE_OWNER;
  EXPECT_EQ(Oracle(trace).right(), 2u);
}

TEST(Oracle, ABusyCpuThatTakesADecisionIsAvailable) {
  TraceBuilder builder = begin();
  builder.at(1000).busy(1).at(1010).busy(2).at(1100).wakeup(a).at(1200).run(1, a, 1100);
  EXPECT_EQ(Oracle(finish(builder, {{a, 1}})).right(), 1u);
}

TEST(Oracle, WithAQueueForEachCpuTheHomeIsWhereTheAgentHasPutTheTask) {
  TraceBuilder builder = begin(POLICY_FIFO_PER_CPU);
  builder.at(1000).wakeup(b).at(1100).wakeup(a);
  builder.at(1500).run(1, b, 1100).at(1600).run(2, a, 1100);  // NEW of b was read first
  EXPECT_EQ(Oracle(finish(builder, {{b, 1}, {a, 2}})).right(), 2u);
}

TEST(Oracle, TheVmPolicyChoosesTheTaskThatHasRunLeast) {
  TraceBuilder builder = begin(POLICY_VM);
  builder.at(1000).busy(2).at(1010).wakeup(a).at(1100).run(1, a, 1010);
  builder.at(1200).wakeup(b).at(2000).claim(1, b, 1200).end(1).preempt(a, 1, 900).on_cpu(b, 1);
  builder.at(2500).wakeup(c);  // has run less than a
  builder.at(3000).claim(1, a, 2500).end(1).preempt(b, 1, 400).on_cpu(a, 1);
  builder.at(4000).blocked(a, 1, 1800).at(4100).run(1, c, 4000).at(4500).blocked(c, 1, 10);
  builder.at(4600).run(1, b, 4500);
  TraceBuilder copy = builder;
  copy.at(9000).blocked(b, 1, 500);
  const Oracle oracle(finish(copy, {}));
  EXPECT_EQ(oracle.right(), 4u);
  ASSERT_EQ(oracle.stale().size(), 1u);
  EXPECT_EQ(oracle.stale()[0].better, c);
}

}  // namespace
