/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/*
 * Queues between a kernel and an agent on a device, in memory of the device that both reach. The
 * kernel reaches it through a BAR, by reads that take a round trip and by writes that nobody
 * acknowledges. No access is atomic beyond 8 bytes, and those of the kernel arrive in any order
 * unless a fence separates them.
 *
 *     0x0000  control      the kernel's requests
 *     0x0080  status       the agent's replies
 *     0x0200  counts       of the agent: struct agent_counts, and zeros
 *     0x1000  area of CPU 0: a page with its slot, and pages with its ring
 *     ...     areas of the other CPUs
 *
 * Who reads a word and who writes it never changes: the kernel writes control and rings, and the
 * agent writes status, counts and slots.
 *
 * The kernel can ask that slots be in a page of its own memory instead, into which the agent pushes
 * them by DMA: that of CPU n is line n.
 */
#ifndef SCHEDULING_QUEUE_LAYOUT_H
#define SCHEDULING_QUEUE_LAYOUT_H

#include "ghost.h"

#define QUEUE_CONTROL 0x0
#define QUEUE_STATUS 0x80
#define QUEUE_COUNTS 0x200
#define QUEUE_COUNT_WORDS 64
#define QUEUE_AREAS 0x1000

/* Within an area. */
#define QUEUE_SLOT 0x0
#define QUEUE_TAIL 0x40 /* how many elements of the ring the agent has read */
#define QUEUE_RING 0x1000

#define QUEUE_ELEMENT_WORDS 8
#define QUEUE_ELEMENT_BYTES 64

/* Lengths of rings: powers of two. */
#define QUEUE_ELEMENTS_MIN 64
#define QUEUE_ELEMENTS_MAX 8192

enum queue_command {
  QUEUE_START = 1, /* forget everything, and schedule as this request says */
  QUEUE_FINISH,    /* withdraw all decisions, read all messages, and write the counts */
  QUEUE_STOP,      /* look at nothing but control */
};

struct queue_control {
  uint64_t request;    /* its number, which is written last; a new request has a new number */
  uint32_t command;    /* enum queue_command */
  uint32_t policy;     /* enum policy_kind */
  uint64_t cpus;       /* bit n: CPU n runs tasks of the agent */
  uint64_t time_slice; /* ns */
  uint32_t host_cpus;  /* which have an area */
  uint32_t elements;   /* of a ring */
  uint32_t prestage;   /* the share of decisions that are, in percent */
  uint32_t cached;     /* 1: the agent reaches queues through its cache */
  uint64_t time;       /* of the request, on the kernel's clock, ns */
  uint32_t ports;      /* 1: there are no queues, but the swap ports of port_layout.h */
  uint32_t first_port; /* of these */
  uint64_t slots;      /* bus address of a page of the kernel for slots; 0: they are in areas */
};

#define QUEUE_PAGE_BYTES 4096
#define QUEUE_SLOT_WORDS 8

/* What a host reads while it cannot reach the memory; no number of a request or decision. */
#define QUEUE_NO_ANSWER (~(uint64_t)0)

enum queue_result {
  QUEUE_DONE,
  QUEUE_REFUSED, /* there is no such command, or no room, or the policy cannot be like this */
};

struct queue_status {
  uint64_t reply;    /* number of the last request that was carried out or refused */
  uint64_t result;   /* enum queue_result */
  uint64_t liveness; /* rises while the agent works */
};

/* A decision: written by the agent once the last one for this CPU has ended. Another number makes
 * it valid; it is written last. Only the state may change afterwards. */
struct queue_slot {
  uint32_t version; /* GHOST_VERSION */
  uint32_t cpu;
  int32_t state; /* GHOST_READY, or GHOST_ABORTED once the agent wants it back */
  uint32_t agent_barrier;
  uint32_t task_barrier;
  uint32_t flags; /* zero */
  uint64_t gtid;
  uint64_t newest; /* time of the newest message that it rests on */
  uint64_t reserved[2];
  uint64_t number; /* from 1 for each CPU */
};

/* Interrupts of the queue function: three for each CPU. */
enum queue_call {
  QUEUE_CALL_LOOK,     /* look at the slot, to run its task */
  QUEUE_CALL_PREEMPT,  /* the same, and leave the task that runs */
  QUEUE_CALL_WITHDRAW, /* the decision is wanted back */
  QUEUE_CALLS,
};

static inline unsigned int queue_vector(unsigned int cpu, enum queue_call call) {
  return cpu * QUEUE_CALLS + call;
}

/* Elements of a ring are messages, and these. */
enum queue_element_type {
  QUEUE_OUTCOME = 250, /* a decision has ended */
  QUEUE_LOST,          /* messages before this element are lost */
};

struct queue_outcome {
  struct ghost_header header;
  uint64_t number; /* of the decision */
  int32_t state;   /* enum ghost_state */
  uint32_t reserved;
  uint64_t time; /* when it ended, ns */
  uint64_t cpu_sequence;
};

union queue_entry {
  struct ghost_message message;
  struct queue_outcome outcome;
  uint64_t words[7];
};

/*
 * An element is a line of 8 words: up to 7 of a message, and the time of its event. Since its
 * words may arrive one by one, bit 63 of each is the phase, which changes whenever the ring is used
 * anew and is 1 at first. In word 0, which is the header, the phase is bit 15. The bits that had
 * these places are bits 8 to 14 of word 0; a type has 8 bits. Words that a message lacks are
 * written, too, so that the line is full.
 */
#define QUEUE_WORD_PHASE ((uint64_t)1 << 63)

static inline void queue_encode(const uint64_t* message, uint64_t time, unsigned int phase,
                                uint64_t* words) {
  const uint64_t mark = (uint64_t)phase << 63;
  uint64_t first = (message[0] & ~(uint64_t)0xff00) | (uint64_t)phase << 15;
  unsigned int i;

  for (i = 1; i < QUEUE_ELEMENT_WORDS; i++) {
    const uint64_t word = i < 7 ? message[i] : time;

    first |= word >> 63 << (7 + i);
    words[i] = (word & ~QUEUE_WORD_PHASE) | mark;
  }
  words[0] = first;
}

/* Whether a word has arrived. */
static inline bool queue_arrived(uint64_t word, unsigned int index, uint64_t phase) {
  return (word >> (index ? 63 : 15) & 1) == phase;
}

/* Undoes queue_encode() for a word that has arrived. */
static inline uint64_t queue_decode(uint64_t word, unsigned int index, uint64_t first) {
  if (index == 0) return word & ~(uint64_t)0xff00;
  if (!(first & 0x7f00)) return word & ~QUEUE_WORD_PHASE;
  return (word & ~QUEUE_WORD_PHASE) | (first >> (7 + index) & 1) << 63;
}

static inline unsigned int queue_phase(uint64_t index, unsigned int elements) {
  return !(index & elements);
}

/* Calls CPUs by such interrupts; those of `preempt` leave their tasks. */
static inline void queue_kick(void (*interrupt)(unsigned int vector), uint64_t cpus,
                              uint64_t preempt) {
  for (; cpus; cpus &= cpus - 1) {
    const unsigned int cpu = __builtin_ctzll(cpus);

    interrupt(queue_vector(cpu, preempt >> cpu & 1 ? QUEUE_CALL_PREEMPT : QUEUE_CALL_LOOK));
  }
}

static inline unsigned int queue_area(unsigned int cpu, unsigned int elements) {
  return QUEUE_AREAS + cpu * (QUEUE_RING + elements * QUEUE_ELEMENT_BYTES);
}

#endif
