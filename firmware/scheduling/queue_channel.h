/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the queues of queue_layout.h. */
#ifndef SCHEDULING_QUEUE_CHANNEL_H
#define SCHEDULING_QUEUE_CHANNEL_H

#include "agent.h"
#include "device_clock.h"
#include "queue_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the queues need of the machine. */
struct queue_device {
  volatile uint8_t* uncached; /* the memory, as the agent reaches it in two ways */
  volatile uint8_t* cached;
  uint64_t size;                      /* of the memory */
  void (*interrupt)(unsigned vector); /* the host */
  /* Sets the host's page, or none by 0, and writes a slot into a line of it, all at once. What is
   * called later takes effect later, interrupts included. */
  void (*set_page)(uint64_t address);
  void (*push)(unsigned line, const uint64_t* words);
  uint64_t (*now)(void); /* ns of the agent's own clock */
  void (*alive)(void);   /* called again and again while the queues are emptied */
};

/* A slot, and its words. */
union queue_offer {
  struct queue_slot slot;
  uint64_t words[QUEUE_SLOT_WORDS];
};

struct queue_ring {
  volatile uint64_t* slot;
  union queue_offer offer; /* the last decision */
  volatile uint64_t* tail;
  volatile uint64_t* elements;
  volatile uint64_t* next; /* of these, to be read, */
  uint64_t phase;          /* with this phase, 0 or 1 */
  uint64_t read;           /* elements */
  uint64_t written;        /* decisions */
  bool withdrawn;          /* the last decision */
  bool lost;
  enum ghost_state state; /* in which the last decision has ended, if it has */
  uint64_t time;
};

struct queue_channel {
  const struct queue_device* device;
  unsigned cpus;     /* of the host */
  unsigned elements; /* of a ring */
  uint64_t ended;    /* bit n: the last decision for CPU n has */
  bool pushed;       /* slots are in a page of the host */
  struct device_clock clock;
  struct queue_ring ring[POLICY_CPUS];
};

/* Empties the queues that a request asks for. Returns false if there is no room for them. */
bool queue_channel_init(struct queue_channel* channel, const struct queue_device* device,
                        const struct queue_control* control);

/* What an agent needs of a channel. */
struct agent_channel queue_channel_of_agent(struct queue_channel* channel);

#ifdef __cplusplus
}
#endif

#endif
