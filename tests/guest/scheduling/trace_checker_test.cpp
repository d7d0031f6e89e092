// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "tests/guest/scheduling/trace_test.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t limit = 100'000;

/// A task runs, is preempted for another, and goes on on another CPU. Decisions are refused, one of
/// them is withdrawn, and a task loses a CPU before it runs there.
TraceBuilder good() {
  TraceBuilder builder;
  builder.at(100).busy(1).at(110).busy(2).at(120).task_new(a).at(130).task_new(b);
  builder.at(200).idle(1).at(210).idle(2).at(300).wakeup(a).at(400).run(1, a, 300);
  builder.at(500).wakeup(b).at(510).busy(2);
  builder.at(520).claim(2, b, 500).end(2, GHOST_CPU_UNAVAIL);
  builder.at(600).claim(1, b, 510).end(1).at(610).preempt(a, 1, 100).on_cpu(b, 1);
  builder.at(700).idle(2).at(750).affinity(a, 0x4);
  builder.at(760).claim(2, a, 610, 4).end(2, GHOST_TARGET_STALE);
  builder.at(800).claim(2, a, 750).end(2).at(8010).left(a, 2, 100, true).at(8100).run(2, a, 8010);
  builder.at(8950).stopping(a, 2).affinity(a, 0x6, 2).on_cpu(a, 2);  // it goes on
  builder.at(9000).blocked(b, 1).at(9010).look(1).at(9020).blocked(a, 2, 300);
  builder.at(9100).dead(b, 1).at(9110).idle(2).at(9120).dead(a, 2);
  return builder;
}

std::vector<std::string> mistakes(const Trace& trace) {
  return Checker(trace, limit).mistakes();
}

TEST(Checker, AccountsForEachDecision) {
  const Trace trace = good().trace();
  const Checker checker(trace, limit);
  EXPECT_THAT(checker.mistakes(), IsEmpty());
  const Accounts& accounts = checker.accounts();
  EXPECT_EQ(accounts.ran, 3u);
  EXPECT_EQ(accounts.taken_back, 1u);
  EXPECT_EQ(accounts.ended[ghost_outcome_index(GHOST_COMPLETE)], 4u);
  EXPECT_EQ(accounts.ended[ghost_outcome_index(GHOST_TARGET_STALE)], 1u);
  EXPECT_EQ(accounts.ended[ghost_outcome_index(GHOST_CPU_UNAVAIL)], 1u);
  EXPECT_EQ(accounts.looks, 5u);
  EXPECT_EQ(accounts.longest_wait, 101u);  // from 300 to 401, when a decision gave it a CPU
}

TEST(Checker, WithdrawnDecisionsLeaveGapsInTheNumbers) {
  Trace trace = good().trace();
  for (auto& record : trace.records)
    if (record.cpu == 1 && (record.kind == OAE_SCHED_ENDED || record.state == 1))
      record.number += 3;
  trace.head.agent.written += 3;
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("decisions withdrawn: 3 in the trace")));
  trace.head.agent.outcomes[ghost_outcome_index(GHOST_ABORTED)] = 3;
  EXPECT_THAT(mistakes(trace), IsEmpty());
  EXPECT_EQ(Checker(trace, limit).accounts().withdrawn, 3u);
  trace.head.agent.outcomes[ghost_outcome_index(GHOST_ABORTED)] = --trace.head.agent.written - 6;
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("have claimed more than")));
}

TEST(Checker, FindsEachDamage) {
  for (const Trace& trace : {good().trace(), good().ports(2, 1, 5).trace()}) {
    const DamageResult result = damage_everywhere(trace, 1000, limit);
    EXPECT_THAT(result.missed, IsEmpty()) << trace.head.transport;
    EXPECT_GT(result.done, 500u);
    expect_refusals_to_change_nothing(trace);
  }
}

/// The same by the rule of the owner: a task is changed while it waits, and its decision counts.
TraceBuilder owned() {
  TraceBuilder builder(POLICY_FIFO_CENTRAL, 0x6, RULE_OWNER);
  builder.at(100).busy(1).at(110).busy(2).at(120).task_new(a).at(130).task_new(b);
  builder.at(200).idle(1).at(300).wakeup(a);  // its number is 2
  builder.at(350).affinity(a, 0x2).at(360).wakeup(a);
  builder.at(400).claim(1, a, 300, 2).end(1).on_cpu(a, 1);
  builder.at(500).wakeup(b).at(550).preempt(a, 1, 100);
  builder.at(600).claim(1, b, 500).end(1).on_cpu(b, 1);
  builder.at(650).affinity(a, 0x4).at(660).wakeup(a).at(670).idle(2);
  builder.at(700).blocked(b, 1).at(710).claim(1, a, 550, 6).end(1, GHOST_INVALID_TARGET);
  builder.at(720).idle(1).at(800).claim(2, a, 550, 6).end(2);
  builder.at(8000).affinity(a, 0x6).at(8010).left(a, 2, 100, true);  // it is taken back
  builder.at(8050).claim(2, a, 660, 8).end(2, GHOST_TARGET_STALE);
  builder.at(8100).run(2, a, 8010).at(9000).blocked(a, 2, 200);
  builder.at(9100).dead(b, 1).at(9110).look(2).dead(a, 2);
  return builder;
}

TEST(Checker, AnOwnersDecisionCountsAlthoughItsTaskWasChanged) {
  Trace trace = owned().trace();
  const Checker checker(trace, limit);
  EXPECT_THAT(checker.mistakes(), IsEmpty());
  EXPECT_EQ(checker.accounts().ran, 3u);
  EXPECT_EQ(checker.accounts().taken_back, 1u);
  trace.head.rule = RULE_BARRIER;
  EXPECT_THAT(mistakes(trace), Contains(HasSubstr("a message about the task came before it")));
}

TEST(Checker, AnOwnersTaskCanBeTakenBackWhileItsDecisionIsCarriedOut) {
  TraceBuilder builder(POLICY_FIFO_CENTRAL, 0x6, RULE_OWNER);
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a).at(400).claim(1, a, 300);
  builder.at(402).affinity(a, 0x2).at(403).left(a, 1, 0, true).at(405).end(1);
  builder.at(500).run(1, a, 403).at(600).blocked(a, 1).dead(a);
  const Checker checker(builder.trace(), limit);
  EXPECT_THAT(checker.mistakes(), IsEmpty());
  EXPECT_EQ(checker.accounts().taken_back, 1u);
}

TEST(Checker, FindsADecisionFromBeforeTheOwnerHadTheTask) {
  TraceBuilder builder(POLICY_FIFO_CENTRAL, 0x6, RULE_OWNER);
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a).at(400).run(1, a, 300);
  builder.at(500).blocked(a, 1).at(510).idle(1).at(520).wakeup(a);
  builder.at(600).claim(1, a, 300, 2).end(1).on_cpu(a, 1).at(700).blocked(a, 1).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), ElementsAre(HasSubstr("was not the agent's since")));
}

/// The task was changed while CPU 1 had a decision for it. CPU 2 has a newer one.
TraceBuilder contended(bool first_ends) {
  TraceBuilder builder(POLICY_FIFO_CENTRAL, 0x6);
  builder.at(100).task_new(a).at(200).idle(1).at(210).idle(2).at(300).wakeup(a);
  builder.at(400).claim(1, a, 300).at(410).affinity(a, 0x4).at(420).claim(2, a, 410);
  if (first_ends) builder.at(430).end(1, GHOST_TARGET_STALE);
  return builder;
}

TEST(Checker, ADecisionIsRefusedWhileAnotherCpuHasOneForItsTask) {
  for (const bool first_ends : {false, true}) {
    TraceBuilder builder = contended(first_ends);
    builder.at(440).end(2, GHOST_AGENT_STALE);
    if (!first_ends) builder.at(450).end(1, GHOST_TARGET_STALE);
    builder.at(500).run(2, a, 410).at(600).blocked(a, 2).dead(a);
    EXPECT_THAT(mistakes(builder.trace()), IsEmpty()) << first_ends;
  }
}

TEST(Checker, FindsARefusalForADecisionThatNoOtherCpuHas) {
  TraceBuilder builder = contended(true);
  builder.at(440).end(2).on_cpu(a, 2).at(500).preempt(a, 2);
  builder.at(20'000).claim(2, a, 500).end(2, GHOST_AGENT_STALE);
  builder.at(21'000).run(2, a, 500).at(22'000).blocked(a, 2).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), ElementsAre(HasSubstr("no other CPU had a decision")));
}

TEST(Checker, FindsAnOwnersDecisionThatIsRefusedForAMessage) {
  TraceBuilder builder(POLICY_FIFO_CENTRAL, 0x6, RULE_OWNER);
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a).at(310).affinity(a, 0x2);
  builder.at(320).wakeup(a).at(400).claim(1, a, 300, 2).end(1, GHOST_TARGET_STALE);
  builder.at(500).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), IsEmpty());  // it ends, which can be the reason
  builder = TraceBuilder(POLICY_FIFO_CENTRAL, 0x6, RULE_OWNER);
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a).at(310).affinity(a, 0x2);
  builder.at(320).wakeup(a).at(400).claim(1, a, 300, 2).end(1, GHOST_TARGET_STALE);
  Trace trace = builder.trace();
  EXPECT_THAT(mistakes(trace), Contains(HasSubstr("was the agent's all the time")));
  trace.head.rule = RULE_BARRIER;
  EXPECT_THAT(mistakes(trace), testing::Not(Contains(HasSubstr("was the agent's"))));
}

TEST(Checker, FindsEachDamageToAnOwnersTrace) {
  const Trace trace = owned().trace();
  const DamageResult result = damage_everywhere(trace, 1000, limit);
  EXPECT_THAT(result.missed, IsEmpty());
  EXPECT_GT(result.done, 400u);
  expect_refusals_to_change_nothing(trace);
}

TEST(Checker, FindsATaskThatRunsTwice) {
  TraceBuilder builder;
  builder.at(100).task_new(a).at(200).idle(1).at(210).idle(2).at(300).wakeup(a);
  builder.at(400).claim(1, a, 300).at(410).claim(2, a, 300).at(420).end(1).at(430).end(2);
  builder.at(500).on_cpu(a, 1).at(510).on_cpu(a, 2).at(600).blocked(a, 2).at(700).dead(a);
  const auto found = mistakes(builder.trace());
  EXPECT_THAT(found, Contains(HasSubstr("another CPU has the task")));
  EXPECT_THAT(found, Contains(HasSubstr("the task runs on CPU 1")));
}

TEST(Checker, FindsATaskThatWaitsWhileACpuIdles) {
  TraceBuilder builder;
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a);
  builder.at(200 + limit).run(1, a, 300).at(500 + limit).blocked(a, 1).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), IsEmpty());
  builder = TraceBuilder();
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a);
  builder.at(301 + limit).run(1, a, 300).at(500 + limit).blocked(a, 1).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), Contains(HasSubstr("task 11 waits since 300")));
}

TEST(Checker, TheKernelRunsTasksByItselfWhenTheSchedulerIsDetached) {
  TraceBuilder builder;
  builder.at(100).task_new(a).at(200).idle(1).at(300).wakeup(a);
  builder.at(2 * limit).on_cpu(a, 1).at(3 * limit).blocked(a, 1).dead(a);
  Trace trace = builder.trace();
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("waits since"), HasSubstr("no decision")));
  trace.head.detached = 2 * limit;
  EXPECT_THAT(mistakes(trace), ElementsAre(HasSubstr("waits since")));
  trace.head.detached = limit;
  EXPECT_THAT(mistakes(trace), IsEmpty());
}

TEST(Checker, ATaskMayWaitForACpuThatItMayUse) {
  TraceBuilder builder;
  builder.at(100).task_new(a, 0x4).at(150).busy(2).at(200).idle(1).at(300).wakeup(a);
  builder.at(300 + 2 * limit).look(2).run(2, a, 300).at(400 + 2 * limit).blocked(a, 2).dead(a);
  EXPECT_THAT(mistakes(builder.trace()), IsEmpty());
}

TEST(Checker, ComparesEachCount) {
  const Trace trace = good().trace();
  for (unsigned i = 0; i < GHOST_TYPES; ++i) {
    Trace other = trace;
    ++other.head.kernel.sent[i];
    EXPECT_EQ(mistakes(other).size(), 1u) << i;
    ++other.head.agent.received[i];
    EXPECT_EQ(mistakes(other).size(), 2u) << i;
  }
  for (unsigned i = 0; i < GHOST_OUTCOMES; ++i) {
    Trace other = trace;
    ++other.head.kernel.outcomes[i];
    EXPECT_EQ(mistakes(other).size(), 1u) << i;
    other = trace;
    ++other.head.agent.outcomes[i];
    EXPECT_EQ(mistakes(other).size(), 1u) << i;
  }
  Trace other = trace;
  ++other.head.kernel.lost;
  EXPECT_EQ(mistakes(other).size(), 1u);
}

class TraceFile : public testing::Test {
 protected:
  TraceFile() : trace(good().trace()) {}
  ~TraceFile() override { std::remove(name.c_str()); }

  std::string read_back(std::size_t cut = 0, const std::string& more = "") {
    std::string bytes = bytes_of(trace);
    bytes.resize(bytes.size() - cut);
    std::ofstream(name, std::ios::binary) << bytes << more;
    return read_trace(name, found);
  }

  Trace trace, found;
  std::string name = testing::TempDir() + "trace_" + std::to_string(::getpid());
};

TEST_F(TraceFile, ComesBackAsItWas) {
  EXPECT_EQ(read_back(), "");
  EXPECT_EQ(found.records.size(), trace.records.size());
  EXPECT_THAT(mistakes(found), IsEmpty());
}

TEST_F(TraceFile, HasToBeWhole) {
  for (const std::size_t cut : {std::size_t{1}, sizeof(oae_sched_record),
                                trace.records.size() * sizeof(oae_sched_record) + 1})
    EXPECT_EQ(read_back(cut), "it is too short");
  EXPECT_EQ(read_back(0, "x"), "it is too long");
  EXPECT_NE(read_trace(name + "/none", found), "");
  trace.head.overflow = 1;
  EXPECT_EQ(read_back(), "records are missing, for which there was no room");
}

TEST_F(TraceFile, HasToHaveAHeadThatMakesSense) {
  const trace_file_head head = trace.head;
  const auto reads = [&](const char* expected) {
    EXPECT_EQ(read_back(), expected);
    trace.head = head;
  };
  trace.head.magic[0] = 'o';
  reads("it is not a trace of scheduling");
  trace.head.head_bytes++;
  reads("another version of `schedule` has written it");
  trace.head.record_bytes--;
  reads("another version of `schedule` has written it");
  trace.head.policy = POLICY_VM + 1;
  reads("its head makes no sense");
  trace.head.cpus = 0;
  reads("its head makes no sense");
  trace.head.prestage = 101;
  reads("its head makes no sense");
  trace.head.rule = RULE_OWNER + 1;
  reads("its head makes no sense");
  trace.head.transport[15] = 'x';
  reads("its head makes no sense");
  trace.head.records = ~std::uint64_t{0};
  reads("its head makes no sense");
}

}  // namespace
