/* SPDX-License-Identifier: Apache-2.0 */
#include "policy_state.h"

void state_set_cpu(struct policy* policy, unsigned cpu, enum cpu_state state) {
  const uint64_t bit = CPU_BIT(cpu);

  policy->cpu[cpu].state = state;
  policy->idle = state == CPU_IDLE ? policy->idle | bit : policy->idle & ~bit;
  policy->running = state == CPU_RUNNING ? policy->running | bit : policy->running & ~bit;
}

void state_leave(struct policy* policy, uint16_t index) {
  struct task* task = task_at(policy, index);

  switch (task->state) {
    case TASK_QUEUED:
      task_queue_remove(&policy->tasks, queue_of(policy, task), index);
      policy->queued--;
      break;
    case TASK_CHOSEN:
      policy->cpu[task->cpu].chosen = TASK_NONE;
      break;
    case TASK_RUNNING:
      policy->cpu[task->cpu].task = TASK_NONE;
      state_set_cpu(policy, task->cpu, CPU_IDLE);
      break;
    default:
      break;
  }
  task->state = TASK_BLOCKED;
}

static void insert(struct policy* policy, uint16_t index, uint16_t next) {
  struct task* task = task_at(policy, index);

  task_queue_insert(&policy->tasks, queue_of(policy, task), index, next);
  task->state = TASK_QUEUED;
  policy->queued++;
}

/* VM: the first queued task that is older, or also of the same age. */
static uint16_t first_older(struct policy* policy, uint64_t age, bool or_equal) {
  uint16_t next = policy->queue[0].first;

  while (next != TASK_NONE &&
         (task_at(policy, next)->age < age || (!or_equal && task_at(policy, next)->age == age)))
    next = task_at(policy, next)->next;
  return next;
}

void state_queue_at_front(struct policy* policy, uint16_t index) {
  struct task* task = task_at(policy, index);

  insert(policy, index,
         policy->config.kind == POLICY_VM ? first_older(policy, task->age, true)
                                          : queue_of(policy, task)->first);
}

void state_queue_at_back(struct policy* policy, uint16_t index) {
  insert(policy, index,
         policy->config.kind == POLICY_VM ? first_older(policy, task_at(policy, index)->age, false)
                                          : TASK_NONE);
}

void state_wake(struct policy* policy, uint16_t index) {
  struct task* task = task_at(policy, index);

  if (task->age < policy->floor) task->age = policy->floor;
  state_queue_at_back(policy, index);
}

void state_run(struct policy* policy, uint16_t index, unsigned cpu, uint64_t time) {
  struct task* task = task_at(policy, index);

  if (policy->cpu[cpu].task != TASK_NONE) state_leave(policy, policy->cpu[cpu].task);
  task->state = TASK_RUNNING;
  task->cpu = task->last = cpu;
  task->since = time;
  policy->cpu[cpu].task = index;
  state_set_cpu(policy, cpu, CPU_RUNNING);
}

void state_choose(struct policy* policy, uint16_t index, unsigned cpu, uint64_t now) {
  struct task* task = task_at(policy, index);
  struct policy_cpu* at = &policy->cpu[cpu];

  state_leave(policy, index);
  task->state = TASK_CHOSEN;
  task->cpu = cpu;
  if (policy->floor < task->age) policy->floor = task->age;
  at->prestaged = at->withdrawing = at->preempting = at->heard = false;
  at->chosen = index;
  at->gtid = task->gtid;
  at->barrier = task->barrier;
  at->since = now;
  policy->decided |= CPU_BIT(cpu);
  policy->passed_over &= ~CPU_BIT(cpu);
}

uint16_t state_end_decision(struct policy* policy, unsigned cpu) {
  struct policy_cpu* at = &policy->cpu[cpu];
  const uint16_t task = at->chosen;

  if (at->withdrawing) policy->withdrawals--;
  at->withdrawing = false;
  policy->decided &= ~CPU_BIT(cpu);
  if (task != TASK_NONE) state_leave(policy, task);
  return task;
}

void state_find_home(struct policy* policy, struct task* task) {
  const uint64_t allowed = allowed_cpus(task) & policy->config.cpus;
  const uint64_t after =
      policy->last_home + 1 < POLICY_CPUS ? allowed & ~(CPU_BIT(policy->last_home + 1) - 1) : 0;

  if (!allowed) return;
  task->home = policy->last_home = __builtin_ctzll(after ? after : allowed);
}
