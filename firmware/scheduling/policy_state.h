/* SPDX-License-Identifier: Apache-2.0 */
/* How tasks move between the places of a policy: queues, decisions and CPUs. Only the policy uses
 * it, and the oracle that replays what it has decided. */
#ifndef SCHEDULING_POLICY_STATE_H
#define SCHEDULING_POLICY_STATE_H

#include "policy.h"

#define CPU_BIT(n) (UINT64_C(1) << (n))

/* The compiler's own function would need a library on a core without vector registers. */
static inline unsigned count_bits(uint64_t set) {
  unsigned count = 0;

  for (; set; set &= set - 1) count++;
  return count;
}

static inline struct task* task_at(struct policy* policy, uint16_t task) {
  return &policy->tasks.task[task];
}

/* The CPUs that a task can be chosen for. */
static inline uint64_t allowed_cpus(const struct task* task) {
  return task->cpus & ~task->refused;
}

static inline struct task_queue* queue_of(struct policy* policy, const struct task* task) {
  return &policy->queue[policy->config.kind == POLICY_FIFO_PER_CPU ? task->home : 0];
}

/* Changes what a CPU does. A task that runs there has to leave it first. */
void state_set_cpu(struct policy* policy, unsigned cpu, enum cpu_state state);

/* Takes a task out of its place and leaves it blocked. The CPU that ran it is idle then. */
void state_leave(struct policy* policy, uint16_t task);

/* Queues a task that has left its place. */
void state_queue_at_front(struct policy* policy, uint16_t task);
void state_queue_at_back(struct policy* policy, uint16_t task);

/* Queues a task that has slept, or that is new. */
void state_wake(struct policy* policy, uint16_t task);

/* Lets a CPU run a task that has left its place. */
void state_run(struct policy* policy, uint16_t task, unsigned cpu, uint64_t time);

/* Chooses a queued task for a CPU that has no decision. */
void state_choose(struct policy* policy, uint16_t task, unsigned cpu, uint64_t now);

/* Ends the CPU's decision. Returns its task, or TASK_NONE if that was put elsewhere since. */
uint16_t state_end_decision(struct policy* policy, unsigned cpu);

/* Finds a home for a task that is not allowed on the one it has. */
void state_find_home(struct policy* policy, struct task* task);

#endif
