// SPDX-License-Identifier: Apache-2.0
// What outcomes do to a policy.
#include "tests/firmware/scheduling/policy_test_fixture.h"

namespace {

constexpr ghost_state target_states[] = {GHOST_TARGET_ONCPU, GHOST_TARGET_STALE,
                                         GHOST_TARGET_NOT_FOUND, GHOST_TARGET_NOT_RUNNABLE};
constexpr ghost_state cpu_states[] = {
    GHOST_CPU_UNAVAIL,         GHOST_CPU_OFFLINE, GHOST_NO_AGENT,
    GHOST_INVALID_FLAGS,       GHOST_INVALID_CPU, GHOST_NOT_PERMITTED,
    GHOST_UNSUPPORTED_VERSION, GHOST_POISONED};
constexpr ghost_state retry_states[] = {GHOST_ABORTED, GHOST_AGENT_STALE};

struct PolicyOutcomeTest : PolicyTest {
  /// Task 1 is chosen for CPU 0, and task 2 is queued behind it.
  void choose(policy_kind kind = POLICY_FIFO_CENTRAL, bool prestage = false) {
    start(kind, prestage, 1);
    create(1);
    create(2);
    available(0);
    expect_run(0, 1);
  }
};

TEST_F(PolicyOutcomeTest, ACompleteDecisionRunsTheTask) {
  choose();
  expect_nothing();
  end(0, 1, GHOST_COMPLETE);
  expect_nothing();
  tell(GHOST_BLOCKED, 1);
  expect_run(0, 2);
}

TEST_F(PolicyOutcomeTest, ACompletePrestagedDecisionBlocksTheTaskThatRanBefore) {
  choose(POLICY_FIFO_CENTRAL, true);
  end(0, 1, GHOST_COMPLETE);
  expect_decision(DECISION_PRESTAGE, 0, 2);
  end(0, 2, GHOST_COMPLETE);
  tell(GHOST_BLOCKED, 1);  // no longer leaves the CPU idle
  tell(GHOST_WAKEUP, 1);
  expect_decision(DECISION_PRESTAGE, 0, 1);
}

TEST_F(PolicyOutcomeTest, ACompleteDecisionRunsTheTaskOnABusyCpuToo) {
  choose();
  busy(0);
  end(0, 1, GHOST_COMPLETE);
  tell(GHOST_BLOCKED, 1);
  expect_run(0, 2);
}

TEST_F(PolicyOutcomeTest, ATaskThatWasRefusedIsSetAsideUntilTheNextMessage) {
  for (ghost_state state : target_states) {
    choose();
    end(0, 1, state);
    EXPECT_TRUE(pair->aside(1));
    expect_order(0, {2});
    tell(GHOST_WAKEUP, 1);
    expect_order(0, {1});
  }
}

TEST_F(PolicyOutcomeTest, ATaskThatIsSetAsideGoesToTheFrontIfTheMessageDoesNotSayWhereItIs) {
  for (unsigned type : {GHOST_AFFINITY_CHANGED, GHOST_PRIORITY_CHANGED, GHOST_LATCH_FAILURE}) {
    choose();
    end(0, 1, GHOST_TARGET_STALE);
    if (type == GHOST_AFFINITY_CHANGED)
      allow(1, 1);
    else if (type == GHOST_LATCH_FAILURE)
      fail_latch(1, 0, GHOST_ABORTED);
    else
      tell(type, 1);
    expect_order(0, {1, 2});
  }
}

TEST_F(PolicyOutcomeTest, ATaskThatIsSetAsideGoesWhereTheMessageSays) {
  choose();
  end(0, 1, GHOST_TARGET_STALE);
  tell(GHOST_WAKEUP, 1);
  expect_order(0, {2, 1});
  choose();
  end(0, 1, GHOST_TARGET_STALE);
  tell(GHOST_BLOCKED, 1);
  expect_order(0, {2});
  choose();
  end(0, 1, GHOST_TARGET_STALE);
  tell(GHOST_DEAD, 1);
  expect_order(0, {2});
  choose();
  end(0, 1, GHOST_TARGET_STALE);
  put(1, 0);
  expect_nothing();
  tell(GHOST_YIELD, 1);
  expect_order(0, {2, 1});
}

TEST_F(PolicyOutcomeTest, ATaskThatWasRefusedForAMessageUsedMeanwhileGoesToTheFront) {
  for (ghost_state state : target_states) {
    choose();
    tell(GHOST_PRIORITY_CHANGED, 1);
    end(0, 1, state);
    EXPECT_FALSE(pair->aside(1));
    expect_order(0, {1, 2});
  }
}

TEST_F(PolicyOutcomeTest, ACpuThatRefusesIsBusyUnlessItRunsATask) {
  for (ghost_state state : cpu_states) {
    choose();
    end(0, 1, state);
    expect_nothing();
    available(0);
    expect_order(0, {1, 2});

    choose(POLICY_FIFO_CENTRAL, true);
    end(0, 1, GHOST_COMPLETE);
    expect_decision(DECISION_PRESTAGE, 0, 2);
    end(0, 2, state);
    expect_decision(DECISION_PRESTAGE, 0, 2);
  }
}

TEST_F(PolicyOutcomeTest, ACpuThatATaskMayNotUseGetsTheNextTask) {
  choose();
  end(0, 1, GHOST_INVALID_TARGET);
  expect_order(0, {2});  // the CPU is not busy
  tell(GHOST_PRIORITY_CHANGED, 1);
  expect_order(0, {1});
}

TEST_F(PolicyOutcomeTest, ATaskThatACpuMayNotRunGoesToTheNextCpu) {
  for (policy_kind kind : {POLICY_FIFO_CENTRAL, POLICY_FIFO_PER_CPU, POLICY_SHINJUKU, POLICY_VM}) {
    start(kind, false, 0xb);
    create(1);
    available(0);
    available(1);
    available(3);
    for (unsigned cpu : {0u, 1u, 3u}) {
      expect_run(cpu, 1);
      end(cpu, 1, GHOST_INVALID_TARGET);
    }
    expect_nothing();
    tell(GHOST_PRIORITY_CHANGED, 1);
    expect_run(kind == POLICY_FIFO_PER_CPU ? 3 : 0, 1);
  }
}

TEST_F(PolicyOutcomeTest, ATaskThatMayNotRunForAMessageUsedMeanwhileIsTriedAgain) {
  choose();
  tell(GHOST_PRIORITY_CHANGED, 1);
  end(0, 1, GHOST_INVALID_TARGET);
  expect_order(0, {1, 2});
}

TEST_F(PolicyOutcomeTest, ALatchFailureMaySayThatATaskMayNotRun) {
  choose();
  fail_latch(1, 0, GHOST_INVALID_TARGET);
  expect_order(0, {2});
  tell(GHOST_PRIORITY_CHANGED, 1);
  expect_order(0, {1});
  choose();
  tell(GHOST_PRIORITY_CHANGED, 1);
  fail_latch(1, 0, GHOST_INVALID_TARGET);
  expect_order(0, {1, 2});
}

TEST_F(PolicyOutcomeTest, ATaskThatWasNotTriedGoesToTheFront) {
  for (ghost_state state : retry_states) {
    choose();
    end(0, 1, state);
    expect_order(0, {1, 2});
  }
}

TEST_F(PolicyOutcomeTest, ALatchFailureIsAnOutcome) {
  for (ghost_state state : retry_states) {
    choose();
    fail_latch(1, 0, state);
    expect_order(0, {1, 2});
  }
  for (ghost_state state : cpu_states) {
    choose();
    fail_latch(1, 0, state);
    expect_nothing();
    available(0);
    expect_order(0, {1, 2});
  }
  for (ghost_state state : target_states) {
    choose();
    fail_latch(1, 0, state);  // it is itself the message which the task would wait for
    expect_order(0, {1, 2});
  }
  choose();
  fail_latch(1, 0, GHOST_COMPLETE);
  tell(GHOST_BLOCKED, 1);
  expect_order(0, {2});
}

TEST_F(PolicyOutcomeTest, AnOutcomeDoesNotMoveATaskThatIsNotChosenAnyMore) {
  for (ghost_state state : {GHOST_COMPLETE, GHOST_TARGET_STALE, GHOST_ABORTED}) {
    choose();
    tell(GHOST_BLOCKED, 1);
    expect_nothing();  // the CPU still has a decision without an outcome
    end(0, 1, state);
    expect_order(0, {2});
    tell(GHOST_WAKEUP, 1);
    expect_order(0, {1});
  }
}

TEST_F(PolicyOutcomeTest, AnOutcomeDoesNotMoveATaskThatIsChosenForAnotherCpu) {
  start(POLICY_FIFO_CENTRAL, false, 3);
  create(1);
  available(0);
  expect_run(0, 1);
  tell(GHOST_BLOCKED, 1);
  tell(GHOST_WAKEUP, 1);
  available(1);
  expect_run(1, 1);
  end(0, 1, GHOST_COMPLETE);
  expect_nothing();
  end(1, 1, GHOST_COMPLETE);
  create(2);
  expect_run(0, 2);
}

TEST_F(PolicyOutcomeTest, ALatchFailureOfAnotherCpuEndsTheWaitOfATaskThatIsSetAside) {
  start(POLICY_FIFO_CENTRAL, false, 3);
  create(1);
  available(0);
  expect_run(0, 1);
  tell(GHOST_BLOCKED, 1);
  tell(GHOST_WAKEUP, 1);
  available(1);
  expect_run(1, 1);
  end(1, 1, GHOST_TARGET_STALE);
  EXPECT_TRUE(pair->aside(1));
  fail_latch(1, 0, GHOST_AGENT_STALE);
  expect_run(0, 1);
}

TEST_F(PolicyOutcomeTest, RefusesOutcomesOfDecisionsThatItDidNotMake) {
  choose();
  EXPECT_EQ(pair->outcome(0, 2, GHOST_COMPLETE, now), POLICY_MALFORMED);
  EXPECT_EQ(pair->outcome(1, 1, GHOST_COMPLETE, now), POLICY_MALFORMED);
  EXPECT_EQ(pair->outcome(64, 1, GHOST_COMPLETE, now), POLICY_MALFORMED);
  EXPECT_EQ(pair->outcome(~0u, 1, GHOST_COMPLETE, now), POLICY_MALFORMED);
  for (int state : {0, 1, static_cast<int>(GHOST_READY), static_cast<int>(GHOST_POISONED) + 1})
    EXPECT_EQ(pair->outcome(0, 1, static_cast<ghost_state>(state), now), POLICY_MALFORMED);
  end(0, 1, GHOST_COMPLETE);
  EXPECT_EQ(pair->outcome(0, 1, GHOST_COMPLETE, now), POLICY_MALFORMED);
}

}  // namespace
