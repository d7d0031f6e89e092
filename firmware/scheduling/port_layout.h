/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/*
 * What a kernel and an agent on a device say to each other through swap ports: the payloads of
 * slots. Each CPU has two ports.
 *
 * - Its decision port is swapped when the CPU looks for a decision. The CPU gets what the agent has
 *   offered there before: a task, or that there is none. The agent gets an event for it: the
 * message which says that a task has left the CPU, if the CPU has held that back for the swap.
 * - Its event port takes a SEND for each other event. A SEND makes an offer on its port void, so
 *   that the two need a port each.
 *
 * Requests to start and to end an agent go through the control page of queue_layout.h.
 */
#ifndef SCHEDULING_PORT_LAYOUT_H
#define SCHEDULING_PORT_LAYOUT_H

#include "queue_layout.h"

#define PORT_WORDS 6

static inline unsigned int port_of_decisions(unsigned int first, unsigned int cpu) {
  return first + 2 * cpu;
}

static inline unsigned int port_of_events(unsigned int first, unsigned int cpu) {
  return first + 2 * cpu + 1;
}

/* What the agent offers. */
enum port_offer_kind {
  PORT_NOTHING,  /* there is no task for this CPU */
  PORT_RUN,      /* for an idle CPU */
  PORT_PREEMPT,  /* instead of the task that it runs */
  PORT_PRESTAGE, /* after the task that it runs */
};

struct port_offer {
  uint32_t run; /* number of the request that has started the agent; any other offer is not its */
  uint8_t version; /* GHOST_VERSION */
  uint8_t kind;    /* enum port_offer_kind; of NOTHING, all that follows but `cpu` is zero */
  uint16_t cpu;
  uint64_t gtid;    /* the task */
  uint64_t newest;  /* time of the newest message that the decision rests on */
  uint64_t number;  /* of the decision among those for this CPU, from 1 */
  uint64_t decided; /* when, on the agent's notion of the kernel's clock, ns */
  uint32_t barrier; /* of the task */
  uint32_t reserved;
};

union port_payload {
  struct port_offer offer; /* what a CPU gets */
  uint64_t words[PORT_WORDS];
};

/*
 * What a CPU gives or sends is an event: an element of a queue in 48 bytes instead of 64. It is a
 * message, the end of a decision, or that messages are lost. A swap may also give no event, whose
 * type is 0. Word 0 has the type in bits 0 to 7, a remainder in bits 8 to 31, and the
 * sequence in bits 32 to 63. Word 1 is the time, and words 2 to 5 are words 0 to 3 of the message's
 * payload. The length follows from the type.
 *
 * Two payloads are longer. Of PREEMPT and YIELD, the remainder has the CPU (16 bits) and the two
 * flags. Of NEW, words 2 to 5 are the task, its parent, its runtime and its CPUs, and the remainder
 * has the niceness (8 bits, with its sign) and whether it is runnable. What then has no place are
 * reserved fields, and NEW's status word, since a task has none here: these have to be zero.
 *
 * Two events say more than their message, in the remainder (port_event_note()). An event that is
 * given with a swap says how many events the CPU has sent before it, modulo 2^24. An ON_CPU that
 * also is the end of the decision by which the task runs, as COMPLETE, has bit 0 set, and above it
 * the decision's number modulo 2^23. The time of that end is its commit_time.
 */
#define PORT_NO_EVENT 0
#define PORT_TYPE_BITS 8
#define PORT_REMAINDER_BITS 24

static inline unsigned int port_event_length(unsigned int type) {
  if (type == QUEUE_OUTCOME) return sizeof(struct queue_outcome);
  return type == QUEUE_LOST ? sizeof(struct ghost_header) : ghost_length(type);
}

/* The words of an event that follow its time. */
static inline unsigned int port_event_words(unsigned int type) {
  const unsigned int length = port_event_length(type);

  if (length > sizeof(struct ghost_header) + 32) return PORT_WORDS - 2;
  return length ? (length - sizeof(struct ghost_header) + 7) / 8 : 0;
}

/* Returns whether the event can be packed: nothing of it would be lost. */
static inline unsigned int port_pack(const union queue_entry* entry, uint64_t time,
                                     uint64_t* words) {
  const struct ghost_message* message = &entry->message;
  const struct ghost_preempt* left = &message->preempt;
  const struct ghost_new* task = &message->task_new;
  const unsigned int type = message->header.type;
  uint64_t remainder = 0;
  unsigned int i;

  if (type >> PORT_TYPE_BITS || message->header.length != port_event_length(type)) return 0;
  for (i = 0; i < PORT_WORDS - 2; i++)
    words[2 + i] = i < port_event_words(type) ? entry->words[1 + i] : 0;
  if (type == GHOST_PREEMPT || type == GHOST_YIELD) {
    if (left->cpu > 0xffff || left->from_switchto > 1 || left->was_latched > 1 || left->reserved)
      return 0;
    remainder = left->cpu | left->from_switchto << 16 | left->was_latched << 17;
  } else if (type == GHOST_NEW) {
    if (task->nice < -128 || task->nice > 127 || task->runnable > 1 || task->reserved ||
        task->region || task->word)
      return 0;
    words[5] = task->cpus;
    remainder = ((uint32_t)task->nice & 0xff) | task->runnable << 8;
  }
  words[0] = type | remainder << PORT_TYPE_BITS | (uint64_t)message->header.sequence << 32;
  words[1] = time;
  return 1;
}

/* Undoes port_pack(), and returns the time. Words of which a type has none are not looked at. */
static inline uint64_t port_unpack(const uint64_t* words, union queue_entry* entry) {
  const unsigned int type = words[0] & 0xff;
  const uint32_t remainder = (uint32_t)words[0] >> PORT_TYPE_BITS;
  struct ghost_message* message = &entry->message;
  unsigned int i;

  for (i = 0; i < 7; i++) entry->words[i] = i > 0 && i <= port_event_words(type) ? words[1 + i] : 0;
  message->header.type = (uint16_t)type;
  message->header.length = (uint16_t)port_event_length(type);
  message->header.sequence = (uint32_t)(words[0] >> 32);
  if (type == GHOST_PREEMPT || type == GHOST_YIELD) {
    message->preempt.cpu = remainder & 0xffff;
    message->preempt.from_switchto = remainder >> 16 & 1;
    message->preempt.was_latched = remainder >> 17 & 1;
  } else if (type == GHOST_NEW) {
    entry->words[4] = 0;
    message->task_new.nice = (int8_t)remainder;
    message->task_new.runnable = remainder >> 8 & 1;
    message->task_new.cpus = words[5];
  }
  return words[1];
}

/* Adds a remainder to a packed event whose type leaves it zero. */
static inline void port_event_note(uint64_t* words, uint32_t remainder) {
  words[0] |= (uint64_t)(remainder & ((1u << PORT_REMAINDER_BITS) - 1)) << PORT_TYPE_BITS;
}

static inline uint32_t port_event_remainder(const uint64_t* words) {
  return (uint32_t)words[0] >> PORT_TYPE_BITS;
}

/* The remainder of an ON_CPU that ends this decision. */
static inline uint32_t port_end_note(uint64_t number) {
  return ((uint32_t)number << 1 | 1) & ((1u << PORT_REMAINDER_BITS) - 1);
}

/*
 * What the two sides count, behind the counts of the agent. The first ones are the agent's.
 */
#define PORT_COUNTS_AT 48 /* words */

struct port_counts {
  uint64_t idle_taken;  /* swaps that have told a CPU that there is no task */
  uint64_t idle_missed; /* of these, such that a task was waiting when the agent saw it */
  uint64_t taken;       /* decisions that a swap has handed out */
  uint64_t revoked;     /* decisions that were taken back before a swap */
  uint64_t late;        /* decisions that could not be taken back any more */
  uint64_t reversed;    /* decisions whose swap the host has reversed */
  uint64_t refused;     /* offers that the block has refused */
  uint64_t carried;     /* messages that a swap has brought */
  uint64_t implied;     /* ends of decisions that an ON_CPU has brought */
  /* The kernel's. */
  uint64_t swaps;          /* committed ones on decision ports */
  uint64_t sends;          /* committed ones on event ports */
  uint64_t swap_not_ready; /* such answers to them */
  uint64_t send_not_ready;
  uint64_t doubts;  /* swaps and SENDs that were in doubt */
  uint64_t foreign; /* offers that were not the agent's */
  uint64_t kept;    /* events that had to wait in the host's memory */
};

#endif
