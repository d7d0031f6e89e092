/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/*
 * What a kernel and its scheduling agent say to each other: the messages and transactions of ghOSt
 * (Humphries et al., SOSP 2021; ABI 91), with the sizes of their payloads there.
 *
 * A kernel sends a message for each event of a task or of a CPU. The agent answers with
 * transactions, each of which asks that a CPU run a task. Task and CPU have a barrier: a number
 * that rises by one with every message about them. A transaction names the barrier that the agent
 * has seen, and the kernel refuses it if a message was sent since.
 *
 * One thing is added. An agent that is not on the host cannot ask its kernel on which CPUs a task
 * may run, so NEW and AFFINITY_CHANGED carry the CPUs. The payload of AFFINITY_CHANGED is therefore
 * 16 bytes instead of 8.
 */
#ifndef SCHEDULING_GHOST_H
#define SCHEDULING_GHOST_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

/* What a message is about. */
enum ghost_type {
  GHOST_DEAD = 64, /* a task has ended */
  GHOST_BLOCKED,   /* a running task sleeps */
  GHOST_WAKEUP,    /* a sleeping task can run again */
  GHOST_NEW,       /* the agent now schedules a task */
  GHOST_PREEMPT,   /* a running task had to leave its CPU, and can run */
  GHOST_YIELD,     /* a running task gave up its CPU, and can run */
  GHOST_DEPARTED,  /* the agent no longer schedules a task */
  GHOST_SWITCHTO,  /* a running task sleeps and has handed its CPU to another */
  GHOST_AFFINITY_CHANGED,
  GHOST_ON_CPU, /* a task runs */
  GHOST_PRIORITY_CHANGED,
  GHOST_LATCH_FAILURE, /* a task that a CPU was about to run could not be run */

  GHOST_TICK = 128,
  GHOST_TIMER_EXPIRED,
  GHOST_NOT_IDLE,  /* a CPU runs another task than the agent's, and was idle */
  GHOST_AVAILABLE, /* a CPU can run the agent's tasks */
  GHOST_BUSY,      /* a CPU runs tasks of a higher class */
  GHOST_AGENT_BLOCKED,
  GHOST_AGENT_WAKEUP,
};

/* The head of every message, before the payload of its type. */
struct ghost_header {
  uint16_t type;     /* enum ghost_type */
  uint16_t length;   /* of head and payload, in bytes */
  uint32_t sequence; /* the barrier of the task, or of the CPU, after the event */
};

struct ghost_new {
  uint64_t gtid; /* identifies the task, and is not used again */
  uint64_t parent_gtid;
  uint64_t runtime; /* on CPUs so far, ns; so in all messages */
  uint16_t runnable;
  uint16_t reserved;
  int32_t nice;
  uint32_t region; /* its status word: which region, which word of it */
  uint32_t word;
  uint64_t cpus; /* bit n: it may run on CPU n */
};

/* PREEMPT and YIELD. */
struct ghost_preempt {
  uint64_t gtid;
  uint64_t runtime;
  uint64_t cpu_sequence; /* rises with every task that the CPU switches to; so in all messages */
  uint64_t agent_data;
  uint32_t cpu;
  uint8_t from_switchto;
  uint8_t was_latched; /* it lost its CPU before it ran there */
  uint16_t reserved;
};

/* BLOCKED and SWITCHTO. */
struct ghost_blocked {
  uint64_t gtid;
  uint64_t runtime;
  uint64_t cpu_sequence;
  uint32_t cpu;
  uint8_t from_switchto;
  uint8_t reserved[3];
};

struct ghost_wakeup {
  uint64_t gtid;
  uint64_t agent_data;
  uint8_t deferrable;
  uint8_t reserved[3];
  uint32_t last_cpu;
  uint32_t wakeup_cpu;
  uint32_t waker_cpu;
};

struct ghost_on_cpu {
  uint64_t gtid;
  uint64_t commit_time; /* ns */
  uint64_t cpu_sequence;
  uint32_t cpu;
  uint32_t reserved;
};

struct ghost_departed {
  uint64_t gtid;
  uint64_t cpu_sequence;
  uint32_t cpu;
  uint8_t from_switchto;
  uint8_t was_current;
  uint16_t reserved;
};

struct ghost_dead {
  uint64_t gtid;
  uint64_t reserved;
};

struct ghost_priority {
  uint64_t gtid;
  int32_t nice;
  uint32_t reserved;
};

struct ghost_latch_failure {
  uint64_t gtid;
  uint32_t cpu;
  int32_t state; /* enum ghost_state: why */
};

struct ghost_affinity {
  uint64_t gtid;
  uint64_t cpus;
};

/* NOT_IDLE, TICK, TIMER_EXPIRED and the other messages about a CPU begin with its number. */
struct ghost_cpu {
  uint32_t cpu;
};

struct ghost_message {
  struct ghost_header header;
  union {
    struct ghost_new task_new;
    struct ghost_preempt preempt; /* YIELD too */
    struct ghost_blocked blocked; /* SWITCHTO too */
    struct ghost_wakeup wakeup;
    struct ghost_on_cpu on_cpu;
    struct ghost_departed departed;
    struct ghost_dead dead;
    struct ghost_priority priority;
    struct ghost_latch_failure latch_failure;
    struct ghost_affinity affinity;
    struct ghost_cpu cpu;
    uint64_t gtid; /* of every message about a task */
    uint64_t payload[6];
  };
};

/* The version of ghOSt's interface that transactions name. */
#define GHOST_VERSION 91

/* The states of a transaction. The last ones say how it ended. */
enum ghost_state {
  GHOST_READY = 0x7fffffff,
  GHOST_COMPLETE = -0x7fffffff - 1, /* the CPU runs the task */
  GHOST_ABORTED,                    /* the agent has withdrawn it */
  GHOST_TARGET_ONCPU,
  GHOST_TARGET_STALE, /* a message about the task was sent since */
  GHOST_TARGET_NOT_FOUND,
  GHOST_TARGET_NOT_RUNNABLE,
  GHOST_AGENT_STALE, /* another CPU has a decision for the task, whose end the agent has not seen */
  GHOST_CPU_OFFLINE,
  GHOST_CPU_UNAVAIL, /* the CPU runs tasks of a higher class */
  GHOST_INVALID_FLAGS,
  GHOST_INVALID_TARGET,
  GHOST_NOT_PERMITTED,
  GHOST_INVALID_CPU,
  GHOST_NO_AGENT,
  GHOST_UNSUPPORTED_VERSION,
  GHOST_POISONED,
};

#define GHOST_TYPES 19
#define GHOST_OUTCOMES 16

/* Where messages of a type are counted: below GHOST_TYPES, if there is such a type. */
static inline unsigned int ghost_type_index(unsigned int type) {
  if (type <= GHOST_LATCH_FAILURE) return type - GHOST_DEAD;
  return type < GHOST_TICK ? GHOST_TYPES : type - GHOST_TICK + GHOST_LATCH_FAILURE - GHOST_DEAD + 1;
}

/* Where ends of transactions are counted: below GHOST_OUTCOMES, if the state is an end. */
static inline unsigned int ghost_outcome_index(int state) {
  return (unsigned int)state - (unsigned int)GHOST_COMPLETE;
}

/* The bytes of a message of this type, head included, or 0 if there is no such type. */
static inline unsigned int ghost_length(unsigned int type) {
  static const uint8_t task[] = {16, 32, 32, 48, 40, 40, 24, 32, 16, 32, 16, 16};
  static const uint8_t cpu[] = {8, 24, 16, 4, 4, 4, 4};

  if (type >= GHOST_DEAD && type <= GHOST_LATCH_FAILURE)
    return sizeof(struct ghost_header) + task[type - GHOST_DEAD];
  if (type >= GHOST_TICK && type <= GHOST_AGENT_WAKEUP)
    return sizeof(struct ghost_header) + cpu[type - GHOST_TICK];
  return 0;
}

/* Says on which CPU that happened which a message is about. Returns 0 if it names none. */
static inline int ghost_cpu_of(const struct ghost_message* message, uint32_t* cpu) {
  switch (message->header.type) {
    case GHOST_PREEMPT:
    case GHOST_YIELD:
      *cpu = message->preempt.cpu;
      return 1;
    case GHOST_BLOCKED:
    case GHOST_SWITCHTO:
      *cpu = message->blocked.cpu;
      return 1;
    case GHOST_DEPARTED:
      *cpu = message->departed.cpu;
      return 1;
    case GHOST_ON_CPU:
      *cpu = message->on_cpu.cpu;
      return 1;
    case GHOST_LATCH_FAILURE:
      *cpu = message->latch_failure.cpu;
      return 1;
    default:
      if (message->header.type < GHOST_TICK) return 0;
      *cpu = message->cpu.cpu;
      return 1;
  }
}

#endif
