/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent: it reads what a kernel reports, asks a policy, and writes what that decides. It runs
 * wherever there is a channel to the kernel, on the host or on the IPU.
 */
#ifndef SCHEDULING_AGENT_H
#define SCHEDULING_AGENT_H

#include "policy.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DECISION_KINDS (DECISION_WITHDRAW + 1)
#define RECEPTIONS (POLICY_FULL + 1)

/* How messages and decisions travel. Times are in ns of the host's clock. */
struct agent_channel {
  void* context; /* the first argument of all functions */
  unsigned cpus; /* of the host */
  uint64_t (*now)(void* context);
  /* The CPUs of which there may be something to read; a bit each. */
  uint64_t (*pending)(void* context);
  /* Reads the next message of a CPU's ring. Returns false if there is none. */
  bool (*receive)(void* context, unsigned cpu, struct ghost_message* message, uint64_t* time);
  /* Whether the kernel has lost messages of a CPU. */
  bool (*lost)(void* context, unsigned cpu);
  /* Gives the decision's CPU that decision. The CPU has no other one, and looks at it when it is
   * kicked or when its task leaves it. */
  void (*decide)(void* context, const struct decision* decision);
  /* Withdraws the CPU's decision, which ends as ABORTED unless the CPU has taken it. */
  void (*withdraw)(void* context, unsigned cpu);
  /* The CPUs whose last decision has ended, at least those that have one; a bit each. */
  uint64_t (*ended)(void* context);
  /* How the last decision of a CPU has ended. */
  void (*outcome)(void* context, unsigned cpu, enum ghost_state* state, uint64_t* time);
  /* Makes CPUs look at their decisions; those of `preempt` leave their tasks. Returns false if that
   * is impossible. */
  bool (*kick)(void* context, uint64_t cpus, uint64_t preempt);
};

struct agent_counts {
  uint64_t received[GHOST_TYPES];
  uint64_t receptions[RECEPTIONS];
  uint64_t decisions[DECISION_KINDS];
  uint64_t written; /* decisions given to CPUs */
  uint64_t outcomes[GHOST_OUTCOMES];
  uint64_t rounds;
  uint64_t failed; /* 1: messages were lost; it no longer knows what tasks and CPUs do */
};

struct agent {
  const struct agent_channel* channel;
  struct policy policy;
  uint64_t outstanding;       /* bit n: CPU n has a decision that has not ended */
  uint64_t unkicked;          /* those of them without a kick */
  uint64_t kick;              /* CPUs to kick at the end of this round */
  uint64_t preempt;           /* those of them that shall leave their tasks */
  uint64_t gtid[POLICY_CPUS]; /* of their decisions */
  struct agent_counts counts;
};

/* Returns false if the policy cannot be as configured. */
bool agent_init(struct agent* agent, const struct agent_channel* channel,
                const struct policy_config* config);

/* Reads, decides and kicks once. Returns whether there was anything to read. Once the agent has
 * failed, its decisions are worth nothing. */
bool agent_work(struct agent* agent);

/* The same, but withdraws all decisions instead of making new ones. */
bool agent_wind_up(struct agent* agent);

#ifdef __cplusplus
}
#endif

#endif
