/* SPDX-License-Identifier: Apache-2.0 */
#include "policy.h"

#include <stddef.h>

#include "policy_state.h"

bool policy_init(struct policy* policy, const struct policy_config* config) {
  const bool sliced = config->kind == POLICY_SHINJUKU || config->kind == POLICY_VM;

  if (!config->cpus || (sliced && !config->time_slice) || config->prestage_percent > 100)
    return false;
  policy->config = *config;
  policy->newest = policy->floor = 0;
  policy->idle = policy->running = policy->decided = 0;
  policy->passed_over = 0;
  policy->withdrawals = policy->queued = policy->prestage_sum = 0;
  policy->last_home = POLICY_CPUS - 1;
  for (unsigned i = 0; i < POLICY_CPUS; i++) {
    policy->cpu[i] = (struct policy_cpu){.state = CPU_BUSY, .task = TASK_NONE, .chosen = TASK_NONE};
    task_queue_init(&policy->queue[i]);
  }
  task_table_init(&policy->tasks);
  message_order_init(&policy->order);
  return true;
}

static bool is_fifo(const struct policy* policy) {
  return policy->config.kind == POLICY_FIFO_PER_CPU || policy->config.kind == POLICY_FIFO_CENTRAL;
}

static bool well_formed(const struct ghost_message* message, unsigned length) {
  const unsigned type = message->header.type;
  uint32_t cpu;

  if (length < sizeof(message->header) || length != message->header.length ||
      length != ghost_length(type))
    return false;
  return !ghost_cpu_of(message, &cpu) || cpu < POLICY_CPUS;
}

static void note_time(struct policy* policy, uint64_t time) {
  if (policy->newest < time) policy->newest = time;
}

/* Counts what a task has run since its last report. */
static void note_runtime(struct task* task, uint64_t runtime) {
  const uint64_t ran = runtime > task->runtime ? runtime - task->runtime : 0;

  task->age = ran > UINT64_MAX - task->age ? UINT64_MAX : task->age + ran;
  task->runtime = runtime;
}

/* Whether a task is not allowed on its home, but on another CPU. */
static bool lacks_home(const struct policy* policy, const struct task* task) {
  return policy->config.kind == POLICY_FIFO_PER_CPU &&
         !(allowed_cpus(task) & CPU_BIT(task->home)) && allowed_cpus(task) & policy->config.cpus;
}

static void change_cpus(struct policy* policy, uint16_t index, uint64_t cpus) {
  struct task* task = task_at(policy, index);
  const bool queued = task->state == TASK_QUEUED;

  task->cpus = cpus;
  if (!lacks_home(policy, task)) return;
  if (queued) state_leave(policy, index);
  state_find_home(policy, task);
  if (queued) state_queue_at_back(policy, index);
}

/* A CPU has refused a task that may not run there. */
static void note_refusal(struct policy* policy, struct task* task, unsigned cpu) {
  task->refused |= CPU_BIT(cpu);
  if (lacks_home(policy, task)) state_find_home(policy, task);
}

/* `messages`: how many messages about the task tell of this end, 0 or 1. */
static void end_of(struct policy* policy, unsigned cpu, enum ghost_state state, uint64_t time,
                   uint32_t messages) {
  const uint16_t index = state_end_decision(policy, cpu);
  struct task* task = index == TASK_NONE ? NULL : task_at(policy, index);

  switch (state) {
    case GHOST_COMPLETE:
      if (task) state_run(policy, index, cpu, time);
      return;
    case GHOST_TARGET_ONCPU:
    case GHOST_TARGET_STALE:
    case GHOST_TARGET_NOT_FOUND:
    case GHOST_TARGET_NOT_RUNNABLE:
      if (task && task->barrier == policy->cpu[cpu].barrier) {
        task->state = TASK_ASIDE;
        return;
      }
      break;
    case GHOST_INVALID_TARGET:
      if (task && task->barrier - messages == policy->cpu[cpu].barrier)
        note_refusal(policy, task, cpu);
      break;
    case GHOST_ABORTED:
    case GHOST_AGENT_STALE:
      break;
    default:
      if (policy->cpu[cpu].state != CPU_RUNNING && !policy->cpu[cpu].heard)
        state_set_cpu(policy, cpu, CPU_BUSY);
      break;
  }
  if (task) state_queue_at_front(policy, index);
}

static bool is_end(enum ghost_state state) {
  return state >= GHOST_COMPLETE && state <= GHOST_POISONED;
}

static bool has_decision(const struct policy* policy, unsigned cpu, uint64_t gtid) {
  return policy->decided & CPU_BIT(cpu) && policy->cpu[cpu].gtid == gtid;
}

/* Whether the CPU has begun no other task since. ON_CPU can come late, from another CPU that has
 * changed the task while it ran. */
static bool begins_newest(struct policy* policy, const struct ghost_on_cpu* on_cpu) {
  struct policy_cpu* at = &policy->cpu[on_cpu->cpu];

  if ((int64_t)(on_cpu->cpu_sequence - at->switches) < 0) return false;
  at->switches = on_cpu->cpu_sequence;
  return true;
}

/* Uses the next message about a task. Returns false if the task is forgotten then. */
static bool use(struct policy* policy, uint16_t index, const struct ghost_message* message,
                uint64_t time) {
  struct task* task = task_at(policy, index);

  note_time(policy, time);
  task->barrier = message->header.sequence;
  if (message->header.type != GHOST_LATCH_FAILURE) task->refused = 0;
  switch (message->header.type) {
    case GHOST_WAKEUP:
      if (task->state == TASK_BLOCKED || task->state == TASK_ASIDE) state_wake(policy, index);
      break;
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      note_runtime(task, message->blocked.runtime);
      state_leave(policy, index);
      break;
    case GHOST_PREEMPT:
      note_runtime(task, message->preempt.runtime);
      state_leave(policy, index);
      if (is_fifo(policy))
        state_queue_at_front(policy, index);
      else
        state_queue_at_back(policy, index);
      break;
    case GHOST_YIELD:
      note_runtime(task, message->preempt.runtime);
      state_leave(policy, index);
      state_queue_at_back(policy, index);
      break;
    case GHOST_ON_CPU:
      state_leave(policy, index);
      if (begins_newest(policy, &message->on_cpu))
        state_run(policy, index, message->on_cpu.cpu, time);
      break;
    case GHOST_AFFINITY_CHANGED:
      change_cpus(policy, index, message->affinity.cpus);
      /* fall through */
    case GHOST_PRIORITY_CHANGED:
      if (task->state == TASK_ASIDE) state_queue_at_front(policy, index);
      break;
    case GHOST_LATCH_FAILURE:
      if (has_decision(policy, message->latch_failure.cpu, task->gtid) &&
          is_end(message->latch_failure.state))
        end_of(policy, message->latch_failure.cpu, message->latch_failure.state, time, 1);
      if (task->state == TASK_ASIDE) state_queue_at_front(policy, index);
      break;
    default: /* DEAD, DEPARTED */
      state_leave(policy, index);
      task_table_remove(&policy->tasks, index);
      return false;
  }
  return true;
}

static uint16_t add(struct policy* policy, const struct ghost_message* message, uint64_t time) {
  const struct ghost_new* new = &message->task_new;
  const uint16_t index = task_table_add(&policy->tasks, new->gtid);
  struct task* task;

  if (index == TASK_NONE) return TASK_NONE;
  note_time(policy, time);
  task = task_at(policy, index);
  task->barrier = message->header.sequence;
  task->cpus = new->cpus;
  task->runtime = new->runtime;
  task->home = __builtin_ctzll(policy->config.cpus);
  state_find_home(policy, task);
  task->age = policy->floor;
  if (new->runnable) state_wake(policy, index);
  return index;
}

static enum policy_reception hold(struct policy* policy, const struct ghost_message* message,
                                  uint64_t time) {
  return message_order_hold(&policy->order, message, time) ? POLICY_HELD : POLICY_FULL;
}

/* Uses the held messages about a task that follow this one. If it was the task's end, the next one
 * is NEW, since the task has come back. TASK_NONE: the task is not known. */
static void use_held(struct policy* policy, uint16_t index, const struct ghost_message* message) {
  uint32_t next = message->header.sequence + 1;
  struct held_message held;

  while (policy->order.count && message_order_take(&policy->order, message->gtid, next++, &held)) {
    if ((held.message.header.type == GHOST_NEW) != (index == TASK_NONE)) return;
    if (index == TASK_NONE)
      index = add(policy, &held.message, held.time);
    else if (!use(policy, index, &held.message, held.time))
      index = TASK_NONE;
  }
}

static enum policy_reception receive_about_task(struct policy* policy,
                                                const struct ghost_message* message,
                                                uint64_t time) {
  uint16_t index = task_table_find(&policy->tasks, message->gtid);
  const uint32_t next = index == TASK_NONE ? 0 : task_at(policy, index)->barrier + 1;

  if (index != TASK_NONE && sequence_before(message->header.sequence, next))
    return POLICY_SUPERSEDED;
  if (message->header.type == GHOST_NEW) {
    /* A task that comes back may overtake what was said about it before it left. */
    if (index != TASK_NONE)
      return message->header.sequence == next ? POLICY_MALFORMED : hold(policy, message, time);
    index = add(policy, message, time);
    if (index == TASK_NONE) return POLICY_FULL;
  } else {
    if (index == TASK_NONE || message->header.sequence != next) return hold(policy, message, time);
    if (!use(policy, index, message, time)) index = TASK_NONE;
  }
  use_held(policy, index, message);
  return POLICY_USED;
}

static enum policy_reception receive_about_cpu(struct policy* policy,
                                               const struct ghost_message* message, uint64_t time) {
  const unsigned type = message->header.type;
  struct policy_cpu* at = &policy->cpu[message->cpu.cpu];

  if (at->known && !sequence_before(at->sequence, message->header.sequence))
    return POLICY_SUPERSEDED;
  note_time(policy, time);
  at->known = at->heard = true;
  at->sequence = message->header.sequence;
  if (type == GHOST_AVAILABLE || type == GHOST_BUSY) {
    if (at->task != TASK_NONE) state_leave(policy, at->task);
    state_set_cpu(policy, message->cpu.cpu, type == GHOST_BUSY ? CPU_BUSY : CPU_IDLE);
  }
  return POLICY_USED;
}

enum policy_reception policy_receive(struct policy* policy, const struct ghost_message* message,
                                     unsigned length, uint64_t time) {
  if (!well_formed(message, length)) return POLICY_MALFORMED;
  return message->header.type >= GHOST_TICK ? receive_about_cpu(policy, message, time)
                                            : receive_about_task(policy, message, time);
}

enum policy_reception policy_outcome(struct policy* policy, unsigned cpu, uint64_t gtid,
                                     enum ghost_state state, uint64_t time) {
  if (cpu >= POLICY_CPUS || !has_decision(policy, cpu, gtid) || !is_end(state))
    return POLICY_MALFORMED;
  end_of(policy, cpu, state, time, 0);
  return POLICY_USED;
}
