/* SPDX-License-Identifier: Apache-2.0 */
#include "policy_state.h"

/* The lowest CPU of a set that is not empty, taken out of it. */
static unsigned take_cpu(uint64_t* set) {
  const unsigned cpu = __builtin_ctzll(*set);

  *set &= *set - 1;
  return cpu;
}

static uint64_t began(struct policy* policy, unsigned cpu) {
  return task_at(policy, policy->cpu[cpu].task)->since;
}

/* Of running CPUs, the one whose task has run longest. The set is not empty. */
static unsigned longest(struct policy* policy, uint64_t set) {
  unsigned best = take_cpu(&set);

  while (set) {
    const unsigned cpu = take_cpu(&set);
    if (began(policy, cpu) < began(policy, best)) best = cpu;
  }
  return best;
}

/* How many tasks wait: those that are queued, and those chosen for a CPU that has something else to
 * run until then. */
static unsigned waiting(const struct policy* policy) {
  uint64_t set = policy->decided & ~policy->idle;
  unsigned count = policy->queued;

  while (set) count += policy->cpu[take_cpu(&set)].chosen != TASK_NONE;
  return count;
}

static uint64_t time_slice(const struct policy* policy) {
  const unsigned cpus = count_bits(policy->config.cpus);

  return policy->config.kind == POLICY_VM && waiting(policy) > cpus ? policy->config.time_slice / 2
                                                                    : policy->config.time_slice;
}

static bool has_time_slices(const struct policy* policy) {
  return policy->config.kind == POLICY_SHINJUKU || policy->config.kind == POLICY_VM;
}

/* Running CPUs whose task has run for a time slice. */
static uint64_t expired(struct policy* policy, uint64_t now) {
  uint64_t set = policy->running & policy->config.cpus;
  const uint64_t slice = time_slice(policy);
  uint64_t result = 0;

  while (set) {
    const unsigned cpu = take_cpu(&set);
    if (now >= began(policy, cpu) && now - began(policy, cpu) >= slice) result |= CPU_BIT(cpu);
  }
  return result;
}

/* Running CPUs with a decision that waits for their task to stop and can still be changed: it is
 * prestaged, or a RUN that was made before the agent heard what the CPU runs. */
static uint64_t prestaged(const struct policy* policy) {
  uint64_t set = policy->running & policy->decided & policy->config.cpus;
  uint64_t result = 0;

  while (set) {
    const unsigned cpu = take_cpu(&set);
    const struct policy_cpu* at = &policy->cpu[cpu];
    if (at->prestaged && !at->withdrawing && !at->preempting && at->chosen != TASK_NONE)
      result |= CPU_BIT(cpu);
  }
  return result;
}

static struct decision decision_at(struct policy* policy, enum decision_kind kind, unsigned cpu) {
  const struct policy_cpu* at = &policy->cpu[cpu];

  return (struct decision){
      .kind = kind, .cpu = cpu, .gtid = at->gtid, .barrier = at->barrier, .newest = policy->newest};
}

static struct decision choose(struct policy* policy, enum decision_kind kind, uint16_t task,
                              unsigned cpu, uint64_t now) {
  state_choose(policy, task, cpu, now);
  policy->cpu[cpu].prestaged = kind != DECISION_PREEMPT;
  return decision_at(policy, kind, cpu);
}

/* The first task of a queue that is allowed on one of these CPUs, or TASK_NONE. */
static uint16_t first_allowed(struct policy* policy, unsigned queue, uint64_t cpus) {
  uint16_t task = policy->queue[queue].first;

  while (task != TASK_NONE && !(allowed_cpus(task_at(policy, task)) & cpus))
    task = task_at(policy, task)->next;
  return task;
}

/* With a queue for each CPU: the lowest of these CPUs whose queue has a task for it. */
static uint16_t first_at_home(struct policy* policy, uint64_t cpus, unsigned* cpu) {
  while (cpus) {
    uint16_t task;
    *cpu = take_cpu(&cpus);
    task = first_allowed(policy, *cpu, CPU_BIT(*cpu));
    if (task != TASK_NONE) return task;
  }
  return TASK_NONE;
}

/* The next task for one of these idle CPUs. */
static uint16_t next_to_run(struct policy* policy, uint64_t cpus, unsigned* cpu) {
  uint16_t index;
  uint8_t last;

  if (policy->config.kind == POLICY_FIFO_PER_CPU) return first_at_home(policy, cpus, cpu);
  index = first_allowed(policy, 0, cpus);
  if (index == TASK_NONE) return TASK_NONE;
  cpus &= allowed_cpus(task_at(policy, index));
  *cpu = __builtin_ctzll(cpus);
  last = task_at(policy, index)->last;
  if (policy->config.kind == POLICY_VM && last != CPU_NONE && cpus & CPU_BIT(last)) *cpu = last;
  return index;
}

/* The next task for one of these running CPUs. */
static uint16_t next_to_follow(struct policy* policy, uint64_t cpus, unsigned* cpu) {
  uint16_t index;

  if (policy->config.kind == POLICY_FIFO_PER_CPU) return first_at_home(policy, cpus, cpu);
  index = first_allowed(policy, 0, cpus);
  if (index != TASK_NONE) *cpu = longest(policy, allowed_cpus(task_at(policy, index)) & cpus);
  return index;
}

/* Whether the next decision that could be prestaged belongs to the share that is: evenly spread. */
static bool is_in_share(struct policy* policy) {
  policy->prestage_sum += policy->config.prestage_percent;
  if (policy->prestage_sum < 100) return false;
  policy->prestage_sum -= 100;
  return true;
}

/* Chooses the next task to prestage for one of these running CPUs. Returns TASK_NONE if there is
 * none, or if all that could be are passed over. */
static uint16_t next_to_prestage(struct policy* policy, uint64_t cpus, unsigned* cpu) {
  uint16_t task = TASK_NONE;

  while (cpus &= ~policy->passed_over) {
    task = next_to_follow(policy, cpus, cpu);
    if (task == TASK_NONE || is_in_share(policy)) return task;
    policy->passed_over |= CPU_BIT(*cpu);
  }
  return TASK_NONE;
}

/* Of CPUs with prestaged decisions, the one with the oldest whose task is allowed on one of `idle`,
 * or POLICY_CPUS. */
static unsigned next_to_withdraw(struct policy* policy, uint64_t set, uint64_t idle) {
  unsigned best = POLICY_CPUS;

  while (set) {
    const unsigned cpu = take_cpu(&set);
    if (!(allowed_cpus(task_at(policy, policy->cpu[cpu].chosen)) & idle)) continue;
    if (best == POLICY_CPUS || policy->cpu[cpu].since < policy->cpu[best].since) best = cpu;
  }
  return best;
}

struct decision policy_decide(struct policy* policy, uint64_t now) {
  const uint64_t free = policy->config.cpus & ~policy->decided;
  const uint64_t idle = policy->idle & free;
  const uint64_t running = policy->running & free;
  unsigned cpu;
  uint16_t task;

  if (policy->queued && idle) {
    task = next_to_run(policy, idle, &cpu);
    if (task != TASK_NONE) return choose(policy, DECISION_RUN, task, cpu, now);
  }
  if (has_time_slices(policy)) {
    const uint64_t set = expired(policy, now);
    if (set & prestaged(policy)) {
      cpu = longest(policy, set & prestaged(policy));
      policy->cpu[cpu].preempting = true;
      return decision_at(policy, DECISION_PREEMPT, cpu);
    }
    if (policy->queued && set & running) {
      task = next_to_follow(policy, set & running, &cpu);
      if (task != TASK_NONE) return choose(policy, DECISION_PREEMPT, task, cpu, now);
    }
  }
  if (policy->config.prestage_percent && policy->queued) {
    task = next_to_prestage(policy, running, &cpu);
    if (task != TASK_NONE) return choose(policy, DECISION_PRESTAGE, task, cpu, now);
  }
  if (policy->config.kind != POLICY_FIFO_PER_CPU && policy->withdrawals < count_bits(idle)) {
    cpu = next_to_withdraw(policy, prestaged(policy), idle);
    if (cpu != POLICY_CPUS) {
      policy->cpu[cpu].withdrawing = true;
      policy->withdrawals++;
      return decision_at(policy, DECISION_WITHDRAW, cpu);
    }
  }
  return (struct decision){.kind = DECISION_NONE, .newest = policy->newest};
}

uint64_t policy_deadline(const struct policy* constant) {
  struct policy* policy = (struct policy*)constant; /* which the functions below do not change */
  const uint64_t slice = time_slice(policy);
  uint64_t set = policy->running & policy->config.cpus & ~policy->decided;
  uint64_t deadline = UINT64_MAX;

  if (!has_time_slices(policy)) return deadline;
  if (!policy->queued) set = 0;
  while (set) {
    const unsigned cpu = take_cpu(&set);
    if (began(policy, cpu) + slice < deadline &&
        first_allowed(policy, 0, CPU_BIT(cpu)) != TASK_NONE)
      deadline = began(policy, cpu) + slice;
  }
  for (set = prestaged(policy); set;) {
    const unsigned cpu = take_cpu(&set);
    if (began(policy, cpu) + slice < deadline) deadline = began(policy, cpu) + slice;
  }
  return deadline;
}
