// SPDX-License-Identifier: Apache-2.0
// Which decisions a policy makes, and in which order.
#include "tests/firmware/scheduling/policy_test_fixture.h"

namespace {

struct PolicyDecisionTest : PolicyTest {
  void expect_prestage(unsigned cpu, std::uint64_t gtid) {
    expect_decision(DECISION_PRESTAGE, cpu, gtid);
  }
  void expect_preempt(unsigned cpu, std::uint64_t gtid) {
    expect_decision(DECISION_PREEMPT, cpu, gtid);
  }
};

TEST_F(PolicyDecisionTest, OneQueueGivesTheFirstTaskTheLowestCpu) {
  start(POLICY_FIFO_CENTRAL);
  for (unsigned cpu : {3u, 2u, 1u}) available(cpu);
  create(1, 0b1100);
  create(2);
  create(3);
  expect_run(2, 1);
  expect_run(1, 2);
  expect_run(3, 3);
  expect_nothing();
}

TEST_F(PolicyDecisionTest, ACpuOutsideTheConfigurationGetsNoTask) {
  start(POLICY_FIFO_CENTRAL, true, 0b0110);
  create(1);
  create(2);
  available(0);
  put(2, 3);
  expect_nothing();
  EXPECT_EQ(pair->deadline(), UINT64_MAX);
  available(2);
  expect_run(2, 1);
}

TEST_F(PolicyDecisionTest, HomesGoRoundTheCpusThatAreAllowed) {
  start(POLICY_FIFO_PER_CPU, false, 0b1011);
  create(1);          // CPU 0
  create(2);          // CPU 1
  create(3, 0b1001);  // CPU 3
  create(4, 0b1010);  // CPU 1
  create(5, 0b0001);  // CPU 0
  create(6);          // CPU 1
  for (unsigned cpu : {0u, 1u, 3u}) available(cpu);
  expect_run(0, 1);
  expect_run(1, 2);
  expect_run(3, 3);
  expect_nothing();
  end(1, 2, GHOST_COMPLETE);
  tell(GHOST_BLOCKED, 2);
  expect_order(1, {4, 6});
  end(0, 1, GHOST_COMPLETE);
  tell(GHOST_BLOCKED, 1);
  expect_order(0, {5});
}

TEST_F(PolicyDecisionTest, ATaskChangesItsHomeOnlyIfItMust) {
  start(POLICY_FIFO_PER_CPU, false, 0b0111);
  create(1);         // CPU 0
  create(2);         // CPU 1
  allow(1, 0b0111);  // stays
  allow(2, 0b0101);  // moves to CPU 2
  available(1);
  expect_nothing();
  available(0);
  expect_run(0, 1);
  available(2);
  expect_run(2, 2);
}

TEST_F(PolicyDecisionTest, ATaskThatKeepsItsHomeKeepsItsPlaceInTheQueue) {
  start(POLICY_FIFO_PER_CPU, false, 0b01);
  create(1);
  create(2);
  allow(1, 0b10);
  available(0);
  expect_run(0, 2);
  end(0, 2, GHOST_COMPLETE);
  tell(GHOST_PREEMPT, 2);  // to the front
  allow(2, 0b10);
  allow(2, 0b01);
  allow(1, 0b01);
  expect_order(0, {2, 1});
}

TEST_F(PolicyDecisionTest, ATaskThatMayRunNowhereKeepsItsHomeOrGetsTheLowestCpu) {
  start(POLICY_FIFO_PER_CPU, false, 0b0110);
  create(1, 0b1000);  // CPU 1
  create(2, 0b0100);  // CPU 2
  allow(2, 0b1000);
  available(1);
  available(2);
  expect_nothing();
  allow(1, every);
  expect_run(1, 1);
  allow(2, every);
  expect_run(2, 2);
}

TEST_F(PolicyDecisionTest, PrestagesATaskForTheCpuWhoseTaskHasRunLongest) {
  start(POLICY_FIFO_CENTRAL, true);
  for (std::uint64_t gtid : {1, 2, 3}) create(gtid);
  put(1, 0);
  now += 10;
  put(2, 1);
  put(3, 0);  // and task 1 is blocked
  expect_nothing();
  create(4, 0b1110);
  create(5);
  create(6);
  expect_prestage(1, 4);
  expect_prestage(0, 5);
  expect_nothing();
}

TEST_F(PolicyDecisionTest, PrestagesAShareEvenly) {
  for (const unsigned percent : {0, 1, 30, 50, 99, 100}) {
    start_with_share(POLICY_FIFO_CENTRAL, percent, 0b1);
    create(1);
    put(1, 0);
    unsigned prestaged = 0, gap = 0, longest = 0;
    for (std::uint64_t gtid = 2; gtid < 202; ++gtid) {
      create(gtid);
      const bool now_prestaged = pair->decide(now).kind == DECISION_PRESTAGE;
      prestaged += now_prestaged;
      gap = now_prestaged ? 0 : gap + 1;
      longest = std::max(longest, gap);
      expect_nothing();  // also if the CPU was passed over
      tell(GHOST_BLOCKED, gtid - 1, 0);
      if (!now_prestaged) expect_run(0, gtid);
      end(0, gtid, GHOST_COMPLETE);
      put(gtid, 0);
    }
    EXPECT_EQ(prestaged, 2 * percent);
    EXPECT_EQ(longest, percent ? (100 + percent - 1) / percent - 1 : 200u) << percent;
  }
}

TEST_F(PolicyDecisionTest, ATaskMayFollowOnAnotherCpuThanTheOneThatIsPassedOver) {
  start_with_share(POLICY_FIFO_CENTRAL, 50, 0b11);
  create(1);
  create(2);
  put(1, 0);
  now += 10;
  put(2, 1);
  create(3);
  expect_prestage(1, 3);  // the second that could be
  create(4);
  expect_nothing();  // CPU 0 is passed over
  tell(GHOST_BLOCKED, 1, 0);
  expect_run(0, 4);
  end(0, 4, GHOST_COMPLETE);
  create(5);
  expect_nothing();  // the third
  tell(GHOST_PREEMPT, 4, 0);
  expect_run(0, 4);
  end(0, 4, GHOST_COMPLETE);
  expect_prestage(0, 5);  // the fourth
}

TEST_F(PolicyDecisionTest, PrestagesATaskOfTheQueueOfTheLowestCpu) {
  start(POLICY_FIFO_PER_CPU, true, 0b11);
  for (std::uint64_t gtid : {1, 2, 3, 4}) create(gtid);
  put(2, 1);
  now += 10;
  put(1, 0);
  expect_prestage(0, 3);
  expect_prestage(1, 4);
  expect_nothing();
}

TEST_F(PolicyDecisionTest, DoesNotPrestageUnlessItIsConfigured) {
  for (policy_kind kind : {POLICY_FIFO_PER_CPU, POLICY_FIFO_CENTRAL, POLICY_SHINJUKU, POLICY_VM}) {
    start(kind, false, 1);
    create(1);
    create(2);
    put(1, 0);
    expect_nothing();
  }
}

TEST_F(PolicyDecisionTest, WithdrawsTheOldestPrestagedTaskForAnIdleCpu) {
  start(POLICY_FIFO_CENTRAL, true);
  for (std::uint64_t gtid : {1, 2, 3, 4, 5, 6}) create(gtid);
  put(1, 0);
  put(2, 1);
  put(3, 2);
  expect_prestage(0, 4);
  now += 10;
  expect_prestage(1, 5);
  expect_prestage(2, 6);
  allow(4, 0b0111);
  available(3);
  expect_decision(DECISION_WITHDRAW, 1, 5);
  expect_nothing();  // one withdrawal for one idle CPU
  end(1, 5, GHOST_ABORTED);
  expect_run(3, 5);
}

TEST_F(PolicyDecisionTest, AWithdrawalThatComesTooLateEndsAsComplete) {
  start(POLICY_FIFO_CENTRAL, true, 0b11);
  create(1);
  create(2);
  put(1, 0);
  expect_prestage(0, 2);
  available(1);
  expect_decision(DECISION_WITHDRAW, 0, 2);
  end(0, 2, GHOST_COMPLETE);
  create(3);
  expect_run(1, 3);
}

TEST_F(PolicyDecisionTest, APolicyWithAQueueForEachCpuWithdrawsNothing) {
  start(POLICY_FIFO_PER_CPU, true, 0b11);
  create(1);
  create(2, 0b01);
  allow(2, 0b11);
  put(1, 0);
  expect_prestage(0, 2);
  available(1);
  expect_nothing();
}

TEST_F(PolicyDecisionTest, ShinjukuPreemptsATaskAfterExactlyATimeSlice) {
  start(POLICY_SHINJUKU, false, 1);
  create(1);
  put(1, 0);
  EXPECT_EQ(pair->deadline(), UINT64_MAX) << "no task waits";
  create(2);
  EXPECT_EQ(pair->deadline(), now + slice);
  now += slice - 1;
  expect_nothing();
  ++now;
  expect_preempt(0, 2);
  EXPECT_EQ(pair->deadline(), UINT64_MAX) << "nothing can be decided";
  end(0, 2, GHOST_COMPLETE);
  tell(GHOST_PREEMPT, 1);
  EXPECT_EQ(pair->deadline(), now + slice);
}

TEST_F(PolicyDecisionTest, ATimeSliceBeginsWithTheOnCpuOrCompleteThatWasUsedLast) {
  start(POLICY_SHINJUKU, false, 1);
  create(1);
  create(2);
  available(0);
  expect_run(0, 1);
  now += 100;
  end(0, 1, GHOST_COMPLETE);
  EXPECT_EQ(pair->deadline(), now + slice);
  now += 100;
  put(1, 0);
  EXPECT_EQ(pair->deadline(), now + slice);
}

TEST_F(PolicyDecisionTest, PreemptsForAPrestagedTaskFirst) {
  start(POLICY_SHINJUKU, true, 0b11);
  create(1);
  create(2);
  put(1, 1);
  now += 10;
  put(2, 0);
  create(3, 0b01);
  expect_prestage(0, 3);
  create(4, 0b11);
  EXPECT_EQ(pair->deadline(), now - 10 + slice) << "CPU 1 is free";
  now += slice;
  expect_preempt(0, 3);
  expect_preempt(1, 4);
  expect_nothing();
  end(0, 3, GHOST_COMPLETE);
  end(1, 4, GHOST_COMPLETE);
  expect_nothing();
}

// A CPU that runs a task is not interrupted for a RUN, and may begin one before it can look.
TEST_F(PolicyDecisionTest, PreemptsForATaskThatWasToRunOnACpuThatHasBegunAnother) {
  for (const bool prestage : {false, true}) {
    start(POLICY_SHINJUKU, prestage, 0b1);
    create(1, 0b1, false);
    create(2);
    available(0);
    expect_run(0, 2);
    EXPECT_EQ(pair->deadline(), UINT64_MAX);
    put(1, 0);
    EXPECT_EQ(pair->deadline(), now + slice);
    now += slice - 1;
    expect_nothing();
    now += 1;
    expect_preempt(0, 2);
    EXPECT_EQ(pair->deadline(), UINT64_MAX);
    expect_nothing();
    end(0, 2, GHOST_COMPLETE);
  }
}

TEST_F(PolicyDecisionTest, WithdrawsATaskThatWasToRunOnACpuThatHasBegunAnother) {
  start(POLICY_FIFO_CENTRAL, false, 0b11);
  create(1, every, false);
  create(2);
  available(0);
  expect_run(0, 2);
  put(1, 0);
  expect_nothing();
  available(1);
  expect_decision(DECISION_WITHDRAW, 0, 2);
  end(0, 2, GHOST_ABORTED);
  expect_run(1, 2);
}

TEST_F(PolicyDecisionTest, DoesNotPreemptForATaskThatIsBeingWithdrawn) {
  start(POLICY_SHINJUKU, true, 0b11);
  create(1);
  create(2);
  put(1, 0);
  expect_prestage(0, 2);
  available(1);
  expect_decision(DECISION_WITHDRAW, 0, 2);
  EXPECT_EQ(pair->deadline(), UINT64_MAX);
  now += slice;
  expect_nothing();
}

TEST_F(PolicyDecisionTest, DoesNotWithdrawATaskForWhichItPreempts) {
  start(POLICY_SHINJUKU, true, 0b11);
  create(1);
  create(2);
  put(1, 0);
  expect_prestage(0, 2);
  now += slice;
  expect_preempt(0, 2);
  available(1);
  expect_nothing();
}

// The kernel then refuses it, although the agent knows of the message.
TEST_F(PolicyDecisionTest, AFurtherDecisionForAPrestagedTaskKeepsItsBarrier) {
  start(POLICY_SHINJUKU, true, 0b11);
  create(1);
  create(2);
  put(1, 0);
  expect_prestage(0, 2);
  allow(2, 0b10);
  now += slice;
  EXPECT_EQ(pair->decide(now).barrier, 1u);
  end(0, 2, GHOST_TARGET_STALE);
  available(1);
  expect_run(1, 2);
}

TEST_F(PolicyDecisionTest, PreemptsTheTaskThatHasRunLongest) {
  start(POLICY_SHINJUKU, false);
  for (std::uint64_t gtid : {1, 2, 3}) create(gtid);
  put(1, 2);
  put(2, 1);
  now += 10;
  put(3, 0);
  now += slice;
  for (std::uint64_t gtid : {4, 5, 6}) create(gtid);
  expect_preempt(1, 4);
  expect_preempt(2, 5);
  expect_preempt(0, 6);
}

TEST_F(PolicyDecisionTest, FifoHasNoTimeSlices) {
  for (policy_kind kind : {POLICY_FIFO_PER_CPU, POLICY_FIFO_CENTRAL}) {
    start(kind, false, 1);
    create(1);
    put(1, 0);
    create(2);
    EXPECT_EQ(pair->deadline(), UINT64_MAX);
    now += 1000 * slice;
    expect_nothing();
  }
}

TEST_F(PolicyDecisionTest, VmRunsTheTaskWithTheLeastRuntimeFirst) {
  start(POLICY_VM, false, 1);
  create(1, every, true, 1000);
  create(2);
  create(3);
  put(1, 0);
  tell(GHOST_YIELD, 1, 0, 1500);  // 500 since its first message
  put(2, 0);
  tell(GHOST_YIELD, 2, 0, 600);
  put(3, 0);
  tell(GHOST_YIELD, 3, 0, 500);
  available(0);
  expect_run(0, 1);
  end(0, 1, GHOST_AGENT_STALE);
  expect_order(0, {1, 3, 2});
}

TEST_F(PolicyDecisionTest, VmPutsATaskBeforeThoseOfItsRuntimeAtTheFrontOnly) {
  start(POLICY_VM, false, 1);
  for (std::uint64_t gtid : {1, 2, 3}) create(gtid);
  put(1, 0);
  tell(GHOST_PREEMPT, 1);
  available(0);
  expect_run(0, 2);
  end(0, 2, GHOST_ABORTED);
  expect_order(0, {2, 3, 1});
}

TEST_F(PolicyDecisionTest, VmTreatsATaskThatWakesOrIsNewLikeTheOneThatWasChosenLast) {
  start(POLICY_VM, false, 1);
  create(1);
  create(2, every, false);
  put(1, 0);
  tell(GHOST_YIELD, 1, 0, 1000);
  create(3);  // the first to be chosen, so that no runtime counts yet
  available(0);
  expect_order(0, {3, 1});
  create(4);              // 1000
  tell(GHOST_WAKEUP, 2);  // 1000
  tell(GHOST_WAKEUP, 1);  // 1000
  create(5, every, false);
  expect_order(0, {4, 2, 1});
  tell(GHOST_WAKEUP, 1);
  put(5, 0);
  tell(GHOST_YIELD, 5, 0, 1);  // 1001, since it was new
  expect_order(0, {1, 5});
}

TEST_F(PolicyDecisionTest, VmGivesATaskTheCpuOnWhichItRanLast) {
  start(POLICY_VM);
  create(1);
  put(1, 2);
  busy(2);
  tell(GHOST_WAKEUP, 1);
  available(1);
  available(3);
  expect_run(1, 1);
  end(1, 1, GHOST_ABORTED);  // it did not run there
  available(0);
  expect_run(0, 1);
  end(0, 1, GHOST_ABORTED);
  available(2);
  expect_run(2, 1);
}

TEST_F(PolicyDecisionTest, VmHalvesItsTimeSliceWhileMoreTasksWaitThanCpusAreConfigured) {
  start(POLICY_VM, false, 1);
  create(1);
  put(1, 0);
  create(2);
  EXPECT_EQ(pair->deadline(), now + slice);
  create(3);
  EXPECT_EQ(pair->deadline(), now + slice / 2);
  const std::uint64_t began = now;
  now += slice / 2 - 1;
  expect_nothing();
  tell(GHOST_BLOCKED, 3);
  ++now;
  expect_nothing();
  EXPECT_EQ(pair->deadline(), began + slice);
  tell(GHOST_WAKEUP, 3);
  expect_preempt(0, 2);
}

TEST_F(PolicyDecisionTest, VmTakesATaskThatIsPrestagedForOneThatWaits) {
  start(POLICY_VM, true, 1);
  create(1);
  put(1, 0);
  create(2);
  expect_prestage(0, 2);
  EXPECT_EQ(pair->deadline(), now + slice);
  create(3);
  EXPECT_EQ(pair->deadline(), now + slice / 2);
  now += slice / 2 - 1;
  expect_nothing();
  ++now;
  expect_preempt(0, 2);
}

TEST_F(PolicyDecisionTest, VmForgetsAPrestagedTaskThatHasLeft) {
  start(POLICY_VM, true, 0b11);
  create(1);
  create(2);
  put(1, 0);
  put(2, 1);
  create(3);
  expect_prestage(0, 3);
  create(4);
  create(5);
  EXPECT_EQ(pair->deadline(), now + slice / 2);
  tell(GHOST_DEPARTED, 3);
  EXPECT_EQ(pair->deadline(), now + slice);
}

TEST_F(PolicyDecisionTest, VmDoesNotTakeATaskThatIsChosenForAnIdleCpuForOneThatWaits) {
  start(POLICY_VM, false, 0b11);
  create(1);
  put(1, 0);
  available(1);
  for (std::uint64_t gtid : {2, 3, 4}) create(gtid);
  expect_run(1, 2);
  EXPECT_EQ(pair->deadline(), now + slice);
  busy(1);
  EXPECT_EQ(pair->deadline(), now + slice / 2);
}

}  // namespace
