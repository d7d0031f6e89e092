// SPDX-License-Identifier: Apache-2.0
// What messages do to a policy, and in which order it uses them.
#include "tests/firmware/scheduling/policy_test_fixture.h"

namespace {

struct PolicyMessageTest : PolicyTest {
  PolicyMessageTest() { start(POLICY_FIFO_CENTRAL); }
};

TEST_F(PolicyMessageTest, AConfigurationNeedsACpuAndATimeSliceIfThePolicyHasThemAndAShare) {
  auto policy = std::make_unique<struct policy>();
  const auto init = [&](policy_kind kind, std::uint64_t cpus, std::uint64_t time_slice) {
    const policy_config tried{kind, cpus, time_slice, 0};
    return policy_init(policy.get(), &tried);
  };
  for (policy_kind kind : {POLICY_FIFO_PER_CPU, POLICY_FIFO_CENTRAL, POLICY_SHINJUKU, POLICY_VM}) {
    EXPECT_FALSE(init(kind, 0, 1000)) << name_of(kind);
    EXPECT_TRUE(init(kind, 1, 1000)) << name_of(kind);
    const bool has_slices = kind == POLICY_SHINJUKU || kind == POLICY_VM;
    EXPECT_EQ(init(kind, 1, 0), !has_slices) << name_of(kind);
  }
  const policy_config whole{POLICY_FIFO_CENTRAL, 1, 0, 100}, more{POLICY_FIFO_CENTRAL, 1, 0, 101};
  EXPECT_TRUE(policy_init(policy.get(), &whole));
  EXPECT_FALSE(policy_init(policy.get(), &more));
}

TEST_F(PolicyMessageTest, EachCpuIsBusyAtTheStart) {
  create(1);
  expect_nothing();
  available(2);
  expect_run(2, 1);
}

TEST_F(PolicyMessageTest, ANewTaskIsQueuedAtTheBackIfItIsRunnable) {
  create(1);
  create(2, every, false);
  create(3);
  available(0);
  expect_order(0, {1, 3});
}

TEST_F(PolicyMessageTest, ATaskThatWakesIsQueuedAtTheBackIfItWasBlocked) {
  create(1, every, false);
  create(2);
  tell(GHOST_WAKEUP, 1);
  tell(GHOST_WAKEUP, 2);  // was queued already
  available(0);
  expect_order(0, {2, 1});
}

TEST_F(PolicyMessageTest, ATaskThatBlocksLeavesItsCpuIdle) {
  for (unsigned type : {GHOST_BLOCKED, GHOST_SWITCHTO}) {
    start(POLICY_FIFO_CENTRAL);
    create(1);
    put(1, 3);
    create(2);
    expect_nothing();
    tell(type, 1, 0);  // the message's CPU does not matter
    expect_order(3, {2});
  }
}

TEST_F(PolicyMessageTest, ATaskThatIsPreemptedGoesToTheFrontUnderFifoAndToTheBackOtherwise) {
  for (policy_kind kind : {POLICY_FIFO_PER_CPU, POLICY_FIFO_CENTRAL, POLICY_SHINJUKU, POLICY_VM}) {
    start(kind, false, 1);
    create(1);
    put(1, 0);
    create(2);
    tell(GHOST_PREEMPT, 1);
    if (kind == POLICY_FIFO_PER_CPU || kind == POLICY_FIFO_CENTRAL)
      expect_order(0, {1, 2});
    else
      expect_order(0, {2, 1});
  }
}

TEST_F(PolicyMessageTest, ATaskThatYieldsGoesToTheBack) {
  for (policy_kind kind : {POLICY_FIFO_PER_CPU, POLICY_FIFO_CENTRAL, POLICY_SHINJUKU, POLICY_VM}) {
    start(kind, false, 1);
    create(1);
    put(1, 0);
    create(2);
    tell(GHOST_YIELD, 1);
    expect_order(0, {2, 1});
  }
}

TEST_F(PolicyMessageTest, ATaskOnACpuBlocksTheOneThatRanThereBefore) {
  create(1);
  create(2);
  create(3);
  put(1, 0);
  put(2, 0);
  tell(GHOST_BLOCKED, 1);  // no longer leaves the CPU idle
  expect_nothing();
  tell(GHOST_WAKEUP, 1);
  tell(GHOST_BLOCKED, 2);
  expect_order(0, {3, 1});
}

TEST_F(PolicyMessageTest, ATaskThatEndsIsForgottenAndLeavesItsCpuIdle) {
  for (unsigned type : {GHOST_DEAD, GHOST_DEPARTED}) {
    start(POLICY_FIFO_CENTRAL);
    create(1);
    create(2);
    create(3);
    put(1, 0);
    tell(type, 1);
    tell(type, 2);  // was queued
    expect_order(0, {3});
    create(1);  // is not known any more
    expect_order(0, {1});
  }
}

TEST_F(PolicyMessageTest, ACpuThatIsAvailableOrBusyBlocksTheTaskThatRanThere) {
  create(1);
  put(1, 0);
  create(2);
  available(0);
  tell(GHOST_WAKEUP, 1);
  expect_order(0, {2, 1});
  create(3);
  put(3, 0);
  create(4);
  busy(0);
  tell(GHOST_WAKEUP, 3);
  expect_nothing();
  available(0);
  expect_order(0, {4, 3});
}

TEST_F(PolicyMessageTest, OtherMessagesDoNothingButCount) {
  create(1);
  create(2);
  tell(GHOST_PRIORITY_CHANGED, 1);
  for (unsigned type :
       {GHOST_TICK, GHOST_TIMER_EXPIRED, GHOST_NOT_IDLE, GHOST_AGENT_BLOCKED, GHOST_AGENT_WAKEUP})
    use(about_cpu(type, 0, ++cpu_sequences[0]));
  expect_nothing();
  available(0);
  expect_order(0, {1, 2});  // with the barrier of the last message
}

TEST_F(PolicyMessageTest, ATaskRunsOnlyWhereItIsAllowed) {
  create(1, 0b0100);
  create(2, 0b0010);
  available(0);
  available(1);
  expect_run(1, 2);
  expect_nothing();
  allow(1, 0b0001);
  expect_run(0, 1);
}

TEST_F(PolicyMessageTest, AChangeOfTheAllowedCpusKeepsThePlaceInTheQueue) {
  create(1);
  create(2);
  allow(1, 0b0011);
  available(0);
  expect_order(0, {1, 2});
}

TEST_F(PolicyMessageTest, HoldsMessagesThatAreEarly) {
  use(new_task(1, 10, false, every));
  EXPECT_EQ(receive(on_cpu(GHOST_BLOCKED, 1, 13, 0)), POLICY_HELD);
  EXPECT_EQ(receive(on_cpu(GHOST_ON_CPU, 1, 12, 0)), POLICY_HELD);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 14)), POLICY_HELD);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 14)), POLICY_HELD);
  expect_nothing();
  use(about_task(GHOST_WAKEUP, 1, 11));
  sequences[1] = 14;
  expect_order(0, {1});
}

/// CPU 1 has changed task 1 while it ran on CPU 0, and says so after CPU 0 has gone on to task 2.
TEST_F(PolicyMessageTest, ATaskThatRanBeforeTheOneThatRunsNowTakesNoCpu) {
  use(new_task(1, 10, true, every));
  use(new_task(2, 10, true, every));
  use(begins(1, 11, 0, 1));
  use(begins(2, 11, 0, 3));
  EXPECT_EQ(receive(on_cpu(GHOST_PREEMPT, 1, 14, 0)), POLICY_HELD);
  use(about_task(GHOST_PRIORITY_CHANGED, 1, 12));
  use(begins(1, 13, 0, 2));
  sequences[1] = 14;
  sequences[2] = 11;
  expect_nothing();  // CPU 0 runs task 2
  tell(GHOST_BLOCKED, 2, 0);
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, HoldsMessagesThatCameBeforeTheTaskIsKnown) {
  available(0);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 11)), POLICY_HELD);
  expect_nothing();
  use(new_task(1, 10, false, every));
  sequences[1] = 11;
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, IgnoresMessagesThatItHasUsed) {
  use(new_task(1, 10, false, every));
  use(about_task(GHOST_WAKEUP, 1, 11));
  EXPECT_EQ(receive(on_cpu(GHOST_BLOCKED, 1, 11, 0)), POLICY_SUPERSEDED);
  EXPECT_EQ(receive(on_cpu(GHOST_BLOCKED, 1, 10, 0)), POLICY_SUPERSEDED);
  EXPECT_EQ(receive(on_cpu(GHOST_BLOCKED, 1, 0u - 1, 0)), POLICY_SUPERSEDED);
  available(0);
  sequences[1] = 11;
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, SequenceNumbersOfTasksWrapAround) {
  use(new_task(1, 0u - 2, false, every));
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 1)), POLICY_HELD);
  EXPECT_EQ(receive(on_cpu(GHOST_BLOCKED, 1, 0, 0)), POLICY_HELD);
  use(on_cpu(GHOST_BLOCKED, 1, 0u - 1, 0));
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 0u - 1)), POLICY_SUPERSEDED);
  sequences[1] = 1;
  available(0);
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, IgnoresMessagesAboutACpuThatAreNotAboveTheLast) {
  create(1);
  use(about_cpu(GHOST_BUSY, 0, 0u - 3));
  EXPECT_EQ(receive(about_cpu(GHOST_AVAILABLE, 0, 0u - 3)), POLICY_SUPERSEDED);
  EXPECT_EQ(receive(about_cpu(GHOST_AVAILABLE, 0, 0u - 4)), POLICY_SUPERSEDED);
  expect_nothing();
  use(about_cpu(GHOST_TICK, 0, 5));
  EXPECT_EQ(receive(about_cpu(GHOST_AVAILABLE, 0, 5)), POLICY_SUPERSEDED);
  use(about_cpu(GHOST_AVAILABLE, 0, 9));  // others got lost
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, TheFirstMessageAboutACpuMayHaveAnySequenceNumber) {
  create(1);
  use(about_cpu(GHOST_AVAILABLE, 0, 0));
  use(about_cpu(GHOST_AVAILABLE, 1, 0x9000'0000));
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, RefusesMessagesOfAWrongTypeOrLength) {
  for (unsigned type = 0; type < 300; ++type) {
    ghost_message message = make_message(type, 1);
    const unsigned right = ghost_length(type);
    if (right == 0) message.header.length = 24;
    for (unsigned length : {0u, 4u, 7u, 8u, right - 1, right + 1, 56u, 57u, ~0u}) {
      if (length == right) continue;
      EXPECT_EQ(pair->receive(message, length, now), POLICY_MALFORMED) << type << ' ' << length;
      ghost_message other = message;
      other.header.length = static_cast<std::uint16_t>(length);
      EXPECT_EQ(pair->receive(other, right, now), POLICY_MALFORMED) << type << ' ' << length;
    }
  }
}

TEST_F(PolicyMessageTest, RefusesCpusThatDoNotExist) {
  create(1);
  for (unsigned cpu : {64u, 255u, 256u, ~0u}) {
    for (unsigned type : {GHOST_TICK, GHOST_AVAILABLE, GHOST_BUSY, GHOST_AGENT_WAKEUP})
      EXPECT_EQ(receive(about_cpu(type, cpu, 1)), POLICY_MALFORMED) << cpu;
    EXPECT_EQ(receive(on_cpu(GHOST_ON_CPU, 1, 2, cpu)), POLICY_MALFORMED) << cpu;
    EXPECT_EQ(receive(latch_failure(1, 2, cpu, GHOST_ABORTED)), POLICY_MALFORMED) << cpu;
  }
  use(on_cpu(GHOST_ON_CPU, 1, 2, 63));
  use(about_cpu(GHOST_AVAILABLE, 63, 1));
}

TEST_F(PolicyMessageTest, ATaskThatComesBackBeforeItIsKnownToHaveLeftIsNotLost) {
  create(1, every, false);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 7)), POLICY_HELD);
  EXPECT_EQ(receive(on_cpu(GHOST_DEPARTED, 1, 5, 0)), POLICY_HELD);
  EXPECT_EQ(receive(new_task(1, 6, false, 0b1000)), POLICY_HELD);
  use(about_task(GHOST_WAKEUP, 1, 2));
  use(on_cpu(GHOST_ON_CPU, 1, 3, 0));
  use(on_cpu(GHOST_BLOCKED, 1, 4, 0));
  EXPECT_EQ(pair->barrier(1), 7u);
  sequences[1] = 7;
  available(0);
  expect_nothing();  // the task may run where it says since it has come back
  available(3);
  expect_order(3, {1});
}

TEST_F(PolicyMessageTest, AMessageAboutATaskThatHasLeftDoesNotBringItBack) {
  create(1);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 3)), POLICY_HELD);
  tell(GHOST_DEPARTED, 1);
  available(0);
  expect_nothing();
  EXPECT_EQ(pair->barrier(1), std::nullopt);
  use(new_task(1, 3, true, every));
  sequences[1] = 3;
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, DropsANewThatIsASecondOneWhenItsTurnComes) {
  create(1);
  EXPECT_EQ(receive(new_task(1, 3, true, 0)), POLICY_HELD);
  tell(GHOST_PRIORITY_CHANGED, 1);
  EXPECT_EQ(pair->barrier(1), 2u);
  available(0);
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, RefusesASecondNew) {
  create(1);
  EXPECT_EQ(receive(new_task(1, 2, true, every)), POLICY_MALFORMED);
  for (std::uint32_t sequence : {0u - 1, 0u, 1u})
    EXPECT_EQ(receive(new_task(1, sequence, true, every)), POLICY_SUPERSEDED) << sequence;
  available(0);
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, HasRoomForAThousandTasks) {
  for (std::uint64_t gtid = 1; gtid <= TASKS_MAX; ++gtid) create(gtid << 32);
  EXPECT_EQ(receive(new_task(7, 1, true, every)), POLICY_FULL);
  tell(GHOST_DEAD, 5ull << 32);
  use(new_task(7, 1, true, every));
  EXPECT_EQ(receive(new_task(8, 1, true, every)), POLICY_FULL);
}

TEST_F(PolicyMessageTest, HoldsSixtyFourMessages) {
  create(1);
  for (std::uint32_t i = 0; i < MESSAGES_HELD_MAX; ++i)
    EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 3 + i)), POLICY_HELD);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 5)), POLICY_HELD) << "is held already";
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 2, 5)), POLICY_FULL);
  tell(GHOST_BLOCKED, 1);
  sequences[1] = 2 + MESSAGES_HELD_MAX;
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 2, 5)), POLICY_HELD) << "there is room again";
  available(0);
  expect_order(0, {1});
}

TEST_F(PolicyMessageTest, ForgetsHeldMessagesThatComeBeforeTheFirst) {
  for (std::uint32_t i = 0; i < MESSAGES_HELD_MAX; ++i)
    EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 1 + i)), POLICY_HELD);
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 2, 2)), POLICY_FULL);
  use(new_task(1, MESSAGES_HELD_MAX, false, every));
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 2, 2)), POLICY_HELD);
  available(0);
  expect_nothing();  // none of them was used
}

TEST_F(PolicyMessageTest, ADecisionTellsTheTimeOfTheNewestMessageThatWasUsed) {
  now = 5000;
  create(1, every, false);
  now = 6000;
  EXPECT_EQ(receive(on_cpu(GHOST_BLOCKED, 1, 3, 0)), POLICY_HELD);
  EXPECT_EQ(pair->decide(now).newest, 5000u);
  now = 7000;
  EXPECT_EQ(receive(about_task(GHOST_WAKEUP, 1, 1)), POLICY_SUPERSEDED);
  EXPECT_EQ(pair->decide(now).newest, 5000u);
  use(about_task(GHOST_WAKEUP, 1, 2));
  EXPECT_EQ(pair->decide(8000).newest, 7000u);
}

}  // namespace
