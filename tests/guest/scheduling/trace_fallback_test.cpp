// SPDX-License-Identifier: Apache-2.0
// Traces made by hand of agents that are given up, and of those that begin anew.
#include "guest/scheduling/trace/figures/looks.h"
#include "guest/scheduling/trace/figures/switches.h"
#include "tests/guest/scheduling/trace_test.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t limit = 40'000, patience = 50'000;

/// An agent has decided once, and hangs while a task waits.
TraceBuilder hung(const char* transport = "queue") {
  TraceBuilder builder;
  builder.watched(transport, patience).at(100).task_new(a).at(110).task_new(b);
  builder.at(200).idle(1).at(210).idle(2).at(300).wakeup(a).at(400).run(1, a, 300);
  return builder.at(500).wakeup(b, 1);
}

/// It is given up. Tasks take turns, and a decision has stood for one of them.
TraceBuilder fallen(const char* transport = "queue") {
  TraceBuilder builder = hung(transport);
  builder.at(60'000).given_up().at(60'100).on_cpu(b, 2);
  builder.at(61'000).left_nothing(0, 0).left_nothing(1, 1).left_one(2, 0, a, 300, 2);
  builder.at(62'000).blocked(b, 2).at(62'010).available(2).at(63'000).wakeup(b);
  return builder.at(63'010).preempt(a, 1).at(63'020).on_cpu(b, 1);
}

/// An agent begins anew and decides. The turn of a task that has waited since before that comes.
TraceBuilder anew(TraceBuilder builder) {
  builder.at(80'000).resumed(80'300).at(80'100).told(a, true).at(80'110).told(b, true);
  builder.at(80'120).told_on_cpu(b, 1).at(80'130).available(2).at(81'000).on_cpu(a, 2);
  builder.at(90'000).blocked(b, 1).at(90'010).idle(1).at(91'000).wakeup(b);
  return builder.at(91'100).run(1, b, 91'000);
}

TraceBuilder finish(TraceBuilder builder) {
  return builder.at(95'000).blocked(a, 2).dead(a).at(95'100).blocked(b, 1).dead(b);
}

std::vector<std::string> mistakes(const Trace& trace) {
  return Checker(trace, limit).mistakes();
}

TEST(Fallback, EachMessageAndDecisionIsInOnePlace) {
  auto lines = account(finish(anew(fallen())).trace(), limit);
  EXPECT_EQ(lines["decisions"], 3u);
  EXPECT_EQ(lines["ran"], 2u);
  EXPECT_EQ(lines["discarded"], 1u);
  EXPECT_EQ(lines["withdrawn"], 0u);
  EXPECT_EQ(lines["fallbacks"], 1u);
  EXPECT_EQ(lines["resumed"], 1u);
  EXPECT_EQ(lines["undelivered"], 1u);
  EXPECT_EQ(lines["undelivered_unknown"], 0u);
  EXPECT_EQ(lines["withheld"], 6u);
  EXPECT_EQ(lines["messages"], 20u);
  EXPECT_EQ(lines["turns"], 3u);
  EXPECT_EQ(lines["turns_ns"], 20'000u);
  EXPECT_EQ(lines["right"], 2u);
}

TEST(Fallback, FindsEachDamage) {
  for (const char* transport : {"queue", "port"}) {
    const Trace trace = finish(anew(fallen(transport))).trace();
    const DamageResult result = damage_everywhere(trace, 1000, limit);
    EXPECT_THAT(result.missed, IsEmpty()) << transport;
    EXPECT_GT(result.done, 800u);
    expect_refusals_to_change_nothing(trace);
  }
}

TEST(Fallback, ATaskThatIsEnqueuedAsAnAgentBeginsAnewMayTakeItsTurn) {
  TraceBuilder builder = fallen();
  builder.at(70'000).blocked(b, 1).at(70'010).available(1).at(80'000).resumed(80'300);
  builder.at(79'990).wakeup(b, 1).withheld().at(80'100).told(a, true).at(80'110).told(b, true);
  builder.at(80'120).available(1).available(2).at(81'000).on_cpu(b, 1).at(81'100).on_cpu(a, 2);
  Trace trace = finish(builder).trace();
  EXPECT_EQ(account(trace, limit)["turns"], 4u);
  for (oae_sched_record& record : trace.records) {
    if (record.time == 79'990) record.state = OAE_SCHED_ON_ITS_WAY;
  }
  EXPECT_THAT(mistakes(trace), Contains(HasSubstr("no decision has given the task this CPU")));
}

TEST(Fallback, AnAgentMayNeverBeginAnew) {
  TraceBuilder builder = fallen();
  builder.at(64'000).on_cpu(a, 2);
  const Trace trace = finish(builder).trace();
  EXPECT_EQ(trace.head.counted, 0u);
  auto lines = account(trace, limit);
  EXPECT_EQ(lines["decisions"], 2u);
  EXPECT_EQ(lines["discarded"], 1u);
  EXPECT_EQ(lines["undelivered"], 1u);
  EXPECT_EQ(lines["turns"], 3u);
  EXPECT_EQ(lines["turns_ns"], 95'100u - 60'000u);
}

TEST(Fallback, WhatWasLeftOfEachAgentAddsUp) {
  TraceBuilder builder = anew(fallen());
  builder.at(92'000).given_up().at(92'100).left_nothing(0, 0).left_one(1, 2, a, 80'100, 5);
  builder.left_nothing(2, 2).at(93'000).resumed(93'300).at(93'100).told(a, true).told_on_cpu(a, 2);
  builder.at(93'200).told(b, true).told_on_cpu(b, 1);
  auto lines = account(finish(builder).trace(), limit);
  EXPECT_EQ(lines["resumed"], 2u);
  EXPECT_EQ(lines["undelivered"], 1u + 4u);
  EXPECT_EQ(lines["undelivered_unknown"], 0u);
  EXPECT_EQ(lines["decisions"], 4u);
  EXPECT_EQ(lines["ran"], 2u);
  EXPECT_EQ(lines["discarded"], 2u);
  EXPECT_EQ(lines["withdrawn"], 0u);
}

TEST(Fallback, WhatWasLeftMayBeUnknown) {
  TraceBuilder builder = hung();
  builder.at(60'000).given_up(OAE_SCHED_REMOVAL).at(60'100).on_cpu(b, 2).at(62'000).blocked(b, 2);
  builder.dead(b).blocked(a, 1).dead(a);
  EXPECT_EQ(account(builder.trace(), limit)["undelivered_unknown"], 1u);
}

TEST(Fallback, AnAgentOnTheHostStillSaysWhatItHasCounted) {
  TraceBuilder builder = hung("memory");
  builder.at(60'000).given_up().at(60'100).on_cpu(b, 2).at(62'000).blocked(b, 2).dead(b);
  Trace trace = builder.blocked(a, 1).dead(a).trace();
  auto lines = account(trace, limit);
  EXPECT_EQ(lines["undelivered_unknown"], 0u);
  EXPECT_EQ(lines["decisions"], 1u);
  ++trace.head.agent.received[ghost_type_index(GHOST_WAKEUP)];
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("messages received: WAKEUP")));
}

TEST(Fallback, AnAgentThatSaysNothingHasToBeGivenUp) {
  TraceBuilder builder = hung();
  builder.at(600).run(2, b, 500).blocked(b, 2).dead(b).blocked(a, 1).dead(a);
  Trace trace = builder.trace();
  EXPECT_THAT(mistakes(trace), IsEmpty());
  trace.head.counted = 0;
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("has not said what it has counted")));
}

TEST(Fallback, FindsADecisionThatIsCarriedOutAfterIt) {
  TraceBuilder builder = hung();
  builder.at(60'000).given_up().at(70'000).claim(2, b, 500).end(2).on_cpu(b, 2);
  builder.at(71'000).blocked(b, 2).dead(b).blocked(a, 1).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), ElementsAre(HasSubstr("the agent was given up before")));
  // A CPU that runs a task of a higher class refuses its decision whenever it sees it.
  builder = hung();
  builder.at(60'000).given_up().at(69'990).busy(2).at(70'000).claim(2, b, 500);
  builder.end(2, GHOST_CPU_UNAVAIL).at(70'100).on_cpu(b, 2).at(71'000).blocked(b, 2).dead(b);
  EXPECT_THAT(mistakes(builder.blocked(a, 1).dead(a).trace()), IsEmpty());
}

TEST(Fallback, FindsADecisionThatIsCarriedOutAfterTheNextAgentHasBegun) {
  TraceBuilder builder = anew(fallen());
  builder.at(92'000).blocked(b, 1).at(92'010).idle(1).at(92'100).wakeup(b);
  builder.at(92'200).claim(1, b, 500, 2).end(1).on_cpu(b, 1);
  const auto found = mistakes(finish(builder).trace());
  EXPECT_THAT(found, Contains(HasSubstr("was sent no message at that time")));
  EXPECT_THAT(found, Contains(HasSubstr("was sent no message about the task with that number")));
}

TEST(Fallback, FindsATaskThatRunsTwiceWhenAnAgentBeginsAnew) {
  TraceBuilder builder = fallen();
  builder.at(80'000).resumed(80'300).at(80'100).told(a, true).at(80'110).told(b, true);
  builder.at(80'120).told_on_cpu(b, 1).at(80'130).on_cpu(b, 2);
  EXPECT_THAT(mistakes(builder.trace()), Contains(HasSubstr("the task runs on CPU 1")));
}

TEST(Fallback, FindsATaskWithoutATurn) {
  TraceBuilder builder = fallen();  // a has waited since before the agent begins anew, b has not
  builder.at(64'000).blocked(b, 1).at(64'010).available(1).at(80'000).resumed(80'300);
  builder.at(80'100).told(a, true).at(80'110).told(b, false).at(80'120).available(1).available(2);
  builder.at(81'000).on_cpu(a, 2).at(82'000).wakeup(b).at(82'100).on_cpu(b, 1);
  EXPECT_THAT(mistakes(finish(builder).trace()),
              ElementsAre(HasSubstr("no decision has given the task this CPU")));
}

TEST(Fallback, FindsATurnInsteadOfADecision) {
  const auto elsewhere = [](std::uint64_t given_up) {
    TraceBuilder builder(POLICY_FIFO_CENTRAL, 0xe);
    builder.watched("queue", patience).at(100).task_new(b, 0xe).at(200).idle(1).at(500).wakeup(b);
    builder.at(20'000).claim(1, b, 500).end(1).at(given_up).given_up();
    return builder.at(given_up + 1'000).on_cpu(b, 3).at(60'200).blocked(b, 3).dead(b);
  };
  EXPECT_THAT(mistakes(elsewhere(20'010).trace()), IsEmpty());  // at the same moment
  EXPECT_THAT(mistakes(elsewhere(30'000).trace()),
              ElementsAre(HasSubstr("a decision has given the task CPU 1")));
}

TEST(Fallback, FindsATurnWhereTheTaskMayNotRun) {
  TraceBuilder builder;
  builder.watched("queue", patience).at(100).task_new(a, 0x2).at(200).idle(2).at(300).wakeup(a);
  builder.at(60'000).given_up().at(60'100).on_cpu(a, 2).at(60'200).blocked(a, 2).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), ElementsAre(HasSubstr("the task may not run there")));
}

TEST(Fallback, FindsATaskOfWhichTheAgentIsNotTold) {
  TraceBuilder builder = fallen();
  builder.at(80'000).resumed(80'300).at(80'110).told(b, true).at(80'120).told_on_cpu(b, 1);
  builder.at(80'130).available(2).at(81'000).on_cpu(a, 2);
  EXPECT_THAT(mistakes(finish(builder).trace()), ElementsAre(HasSubstr("is not told of task 11")));
}

TEST(Fallback, AnAgentMayBeToldTwiceThatACpuIdles) {
  TraceBuilder builder = fallen();
  builder.at(80'000).resumed(80'300).at(80'100).told(a, true).at(80'110).told(b, true);
  builder.at(80'120).told_on_cpu(b, 1).at(80'130).available(2).available(2).at(81'000).on_cpu(a, 2);
  EXPECT_THAT(mistakes(finish(builder).trace()), IsEmpty());
}

TEST(Fallback, FindsAnIdleCpuOfWhichTheAgentIsNotTold) {
  TraceBuilder builder = fallen();
  builder.at(80'000).resumed(80'300).at(80'100).told(a, true).at(80'110).told(b, true);
  builder.at(80'120).told_on_cpu(b, 1).at(81'000).on_cpu(a, 2);
  EXPECT_THAT(mistakes(finish(builder).trace()),
              ElementsAre(HasSubstr("is not told that CPU 2 idles")));
}

TEST(Fallback, FindsADecisionThatRestsOnWhatAPortHasKept) {
  TraceBuilder builder = hung("port");
  builder.at(600).claim(2, b, 500).end(2, GHOST_CPU_UNAVAIL).at(60'000).given_up();
  builder.at(60'100).on_cpu(b, 2).left_nothing(0, 0).left_nothing(1, 1).left_nothing(2, 0);
  builder.at(61'000).resumed(61'200).told(a, true).told_on_cpu(a, 1).told(b, true);
  builder.told_on_cpu(b, 2).at(70'000).blocked(a, 1).dead(a).blocked(b, 2).dead(b);
  Trace trace = builder.trace();
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("rests on what the agent had not got")));
  std::strcpy(trace.head.transport, "queue");  // which gives an upper bound
  trace.head.ports = {};
  EXPECT_THAT(mistakes(trace), IsEmpty());
}

TEST(Fallback, TasksWaitUntilItIsNoticedThatAnAgentHangs) {
  const Trace trace = finish(anew(fallen())).trace();
  EXPECT_EQ(Checker(trace, limit).accounts().longest_wait, 60'000u - 500u);
  Trace impatient = trace;
  impatient.head.patience = 1'000;
  EXPECT_THAT(mistakes(impatient), ElementsAre(HasSubstr("task 12 waits since 500")));
  // Turns and the next agent have to come soon.
  TraceBuilder late = hung();
  late.at(60'000).given_up().at(60'001 + limit).on_cpu(b, 2).at(150'000).blocked(b, 2).dead(b);
  EXPECT_THAT(mistakes(late.blocked(a, 1).dead(a).trace()),
              ElementsAre(HasSubstr("task 12 waits since 60000")));
}

TEST(Fallback, CpusLookForNothing) {
  TraceBuilder builder = fallen();
  builder.at(63'100).look(2).at(64'000).on_cpu(a, 2);
  const Trace trace = finish(builder).trace();
  EXPECT_EQ(Checker(trace, limit).accounts().looks, 2u);
  EXPECT_EQ(Looks(trace).in_vain(), 2u);
}

TEST(Fallback, TurnsAreNoSwitches) {
  const Trace trace = finish(anew(fallen())).trace();
  const Switches switches(trace, nullptr);
  EXPECT_EQ(switches.turns(), 3u);
  EXPECT_EQ(switches.resumed() + switches.disturbed() + switches.awaited(), 2u);
}

TEST(Fallback, TheOracleBeginsAnewWithTheAgent) {
  TraceBuilder builder;  // a comes first, has its turn, and ends
  builder.watched("queue", patience).at(100).task_new(a).at(110).task_new(b);
  builder.at(200).busy(1).busy(2).at(300).wakeup(a).at(400).wakeup(b).at(60'000).given_up();
  builder.at(60'100).left_nothing(0, 0).left_nothing(1, 0).left_nothing(2, 0);
  builder.at(60'200).on_cpu(a, 1).at(60'300).blocked(a, 1).dead(a);
  builder.at(61'000).resumed(61'300).at(61'100).told(b, true);
  builder.at(62'000).run(1, b, 61'100).at(63'000).blocked(b, 1).dead(b);
  const Trace trace = builder.trace();
  EXPECT_THAT(mistakes(trace), IsEmpty());
  const Oracle oracle(trace);
  EXPECT_EQ(oracle.right(), 1u);
  EXPECT_EQ(oracle.idle_while_waiting(), 0u);
}

}  // namespace
