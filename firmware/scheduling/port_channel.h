/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's side of the swap ports of port_layout.h.
 *
 * An offer always stands on a CPU's decision port: a task, or that there is none. It is taken back
 * before another one is made, which the block does at once: either the CPU has swapped for it by
 * then, or it never gets it.
 */
#ifndef SCHEDULING_PORT_CHANNEL_H
#define SCHEDULING_PORT_CHANNEL_H

#include "agent.h"
#include "device_clock.h"
#include "port_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the ports need of the machine. */
struct port_device {
  uintptr_t block;                    /* the OAE block's firmware side */
  unsigned ports;                     /* that it has */
  void (*interrupt)(unsigned vector); /* of the host */
  uint64_t (*now)(void);              /* ns of the agent's own clock */
  bool (*waiting)(void);              /* whether a task waits for a CPU */
};

struct port_cpu {
  unsigned decisions; /* its ports, */
  unsigned events;
  uint8_t decision_epoch; /* with their epochs */
  uint8_t event_epoch;
  union port_payload offer; /* what stands, or shall stand */
  bool standing;            /* it was published, */
  uint64_t header;          /* for the swap of this header */
  bool handed;              /* a decision was swapped for, and that swap is not settled: */
  uint64_t handed_by;       /* its header */
  bool gave;                /* the CPU has given a message with its last swap: */
  union queue_entry given;  /* that, */
  uint64_t given_time;      /* its time, */
  uint32_t given_after;     /* and after how many sent events, modulo 2^24 */
  uint32_t received;        /* events, from its port */
  uint64_t written;         /* decisions */
  bool lost;
  bool ended; /* the last decision, as the fields below say */
  enum ghost_state state;
  uint64_t time;
};

struct port_channel {
  const struct port_device* device;
  unsigned cpus;       /* that have ports, */
  unsigned first_port; /* from this one on */
  uint32_t run;        /* number of the request that has started the agent */
  struct device_clock clock;
  struct port_counts counts;
  struct port_cpu cpu[POLICY_CPUS];
};

/* The ports that a request asks for, a bit each, or 0 if there are not so many. */
uint64_t port_channel_ports(const struct port_device* device, const struct queue_control* control);

/* Takes over the ports that a request asks for, which the host has opened, and makes the first
 * offers. Returns false if there are not so many, or if one is closed or has a slot that is
 * tentative. */
bool port_channel_init(struct port_channel* channel, const struct port_device* device,
                       const struct queue_control* control);

/* What an agent needs of a channel. */
struct agent_channel port_channel_of_agent(struct port_channel* channel);

/* Whether a message is on its way. */
bool port_channel_busy(const struct port_channel* channel);

/* Takes all offers back. */
void port_channel_end(struct port_channel* channel);

#ifdef __cplusplus
}
#endif

#endif
