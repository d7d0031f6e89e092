/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduling policies. A policy learns from messages what tasks and CPUs do, and decides which task
 * each CPU runs. It knows nothing of the way by which messages and decisions travel, and makes the
 * same decisions from the same calls. README.md has its rules.
 *
 *     receive messages -> decide, until there is nothing to decide -> receive outcomes and messages
 *
 * Times are in ns of the host's clock and never fall from one call to the next.
 */
#ifndef SCHEDULING_POLICY_H
#define SCHEDULING_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "ghost.h"
#include "message_order.h"
#include "task_table.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POLICY_CPUS 64

enum policy_kind {
  POLICY_FIFO_PER_CPU, /* a queue for each CPU, which a task never leaves */
  POLICY_FIFO_CENTRAL, /* one queue */
  POLICY_SHINJUKU,     /* one queue, and a time slice (Kaffes et al., NSDI 2019) */
  POLICY_VM,           /* the task that has run least, for long time slices without ticks */
};

struct policy_config {
  enum policy_kind kind;
  uint64_t cpus;       /* bit n: CPU n runs the tasks */
  uint64_t time_slice; /* ns, of SHINJUKU and VM; README.md has the usual ones */
  /* Of the decisions that could be made for CPUs that run a task, the share that is, 0 to 100. */
  unsigned prestage_percent;
};

enum decision_kind {
  DECISION_NONE,
  DECISION_RUN,      /* an idle CPU shall run a task */
  DECISION_PREEMPT,  /* a CPU shall leave its task and run another, which may be prestaged there */
  DECISION_PRESTAGE, /* a CPU shall run a task as soon as it is free */
  DECISION_WITHDRAW, /* a CPU shall not run the task that was prestaged for it */
};

struct decision {
  enum decision_kind kind;
  unsigned cpu;
  uint64_t gtid;
  uint32_t barrier; /* of the task */
  uint64_t newest;  /* time of the newest message that the policy has used, ns */
};

/* What became of a message or an outcome that the policy was given. */
enum policy_reception {
  POLICY_USED,
  POLICY_HELD,       /* a message about the same task has to come before it */
  POLICY_SUPERSEDED, /* it came already */
  POLICY_MALFORMED,  /* no such type, length, CPU or decision, or a NEW too many */
  POLICY_FULL,       /* no room: messages are lost from now on, and the policy must start again */
};

enum cpu_state {
  CPU_BUSY, /* with tasks of a higher class; so is each CPU at the start */
  CPU_IDLE,
  CPU_RUNNING, /* one of the policy's tasks */
};

struct policy_cpu {
  enum cpu_state state;
  bool known;        /* a message about it was used */
  uint32_t sequence; /* of the last of these */
  uint16_t task;     /* that it runs, or TASK_NONE */
  uint64_t switches; /* number of the newest task that has begun there, by ON_CPU */
  /* The decision without an outcome. */
  bool prestaged; /* it waits for whatever the CPU runs: PRESTAGE or RUN, and no PREEMPT */
  bool withdrawing;
  bool preempting;
  bool heard;       /* a message about the CPU was used since */
  uint16_t chosen;  /* its task, or TASK_NONE if that was put elsewhere since */
  uint32_t barrier; /* of the task, as decided */
  uint64_t gtid;    /* of the task */
  uint64_t since;   /* when it was decided, ns */
};

struct policy {
  struct policy_config config;
  uint64_t newest; /* time of the newest message used, ns */
  /* Bit n: CPU n is idle, runs a task, has a decision without an outcome. */
  uint64_t idle;
  uint64_t running;
  uint64_t decided;
  uint64_t passed_over; /* for the share's sake, since its last decision */
  unsigned
      prestage_sum; /* of the percents of decisions that could be prestaged, less 100 for each */
  unsigned withdrawals; /* without an outcome */
  unsigned queued;
  unsigned last_home;
  uint64_t floor; /* VM: the greatest age of a task that was chosen, ns */
  struct policy_cpu cpu[POLICY_CPUS];
  struct task_queue queue[POLICY_CPUS]; /* of a policy with one queue, the first */
  struct task_table tasks;
  struct message_order order;
};

/* Forgets everything. Returns false if the configuration has no CPU, a time slice of 0 where one is
 * needed, or a share above 100 %. */
bool policy_init(struct policy* policy, const struct policy_config* config);

/* Receives a message of `length` bytes, about an event at `time`. */
enum policy_reception policy_receive(struct policy* policy, const struct ghost_message* message,
                                     unsigned length, uint64_t time);

/* Receives the end of the decision for this CPU and task. The end of a withdrawal is ABORTED, if
 * the CPU will not run the task, or COMPLETE, if it runs it all the same. */
enum policy_reception policy_outcome(struct policy* policy, unsigned cpu, uint64_t gtid,
                                     enum ghost_state state, uint64_t time);

/* The next decision. Each call counts as carried out. */
struct decision policy_decide(struct policy* policy, uint64_t now);

/* When a time slice ends that makes a decision possible, or UINT64_MAX. */
uint64_t policy_deadline(const struct policy* policy);

#ifdef __cplusplus
}
#endif

#endif
