/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's side of the OAE links: keeps them up, and joins swap ports with those of the same
 * number at the other end. What one host has swapped at a joined port is what the other is offered
 * there, in order, once; the first swap is answered by an empty slot. So each swap of the one waits
 * for one of the other, neither is more than two ahead, and no port waits for room or for another
 * port. A slot stays in the block's journal until the other side has it.
 *
 * A transfer that a failing link leaves in doubt is settled by the other side's journal: when the
 * link comes back, or, sooner, by asking the other side through a cell that both have a link to.
 */
#ifndef FIRMWARE_LINK_SERVICE_H
#define FIRMWARE_LINK_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "swap_service.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LINKS_MAX 4
/* Slots of a joined port that may wait for its host: as many as there are on both sides in all. */
#define LINK_SLOTS 2
/* Queries and verdicts that may wait for a link. Others are dropped: who asks asks again. */
#define LINK_MESSAGES 8

/* A slot without its CRC: what is sent over a link. */
struct link_message {
  uint64_t words[1 + SWAP_PAYLOAD_WORDS];
};

struct link_port {
  /* Slots from the other host, of which the first is offered; counted since start. */
  uint64_t inbox[LINK_SLOTS][SWAP_PAYLOAD_WORDS];
  uint32_t arrived;
  uint32_t used;
  /* To the other host. */
  uintptr_t waits;  /* payload that is to be sent, in the block; 0: none */
  bool has_arrived; /* there, so that the block may forget it */
};

struct link {
  uintptr_t base;
  unsigned peer;  /* cell at the other end */
  uint64_t ports; /* joined, a bit each */
  bool up;
  /* The transfer under way. */
  enum { LINK_IDLE, LINK_SLOT, LINK_MESSAGE } sends;
  uint32_t number; /* of the transfer before */
  unsigned port;   /* of the slot; the next one is of another */
  struct link_message messages[LINK_MESSAGES];
  unsigned first; /* of the messages */
  unsigned waiting;
  /* Since start. */
  uint64_t downs;
  uint64_t lost;      /* transfers whose fate nobody knows: the other side was without power */
  uint64_t by_others; /* settled by what a third cell was told */
  uint64_t bad;       /* messages that make no sense */
};

/* A link as the machine has it. */
struct link_place {
  uintptr_t base;
  unsigned peer;
  uint64_t ports;
};

/* Tells of a link, for the console; any may be null. */
struct link_observer {
  void (*up)(unsigned link);
  void (*down)(unsigned link, unsigned reason);                      /* OAE_LINK_DOWN_* */
  void (*in_doubt)(unsigned link, uint32_t number);                  /* with the link down */
  void (*settled)(unsigned link, uint32_t number, unsigned outcome); /* such a one, OAE_OUTCOME_* */
};

struct link_service {
  unsigned cell;
  unsigned count;
  struct link links[LINKS_MAX];
  struct link_port ports[SWAP_PORTS_MAX];
  struct swap_service* swaps;
  struct swap_partner partner; /* for swap_service_init(), after link_service_init() */
  const struct link_observer* observer;
};

/* Makes the partner of the joined ports. `observer` may be null. */
void link_service_init(struct link_service* service, unsigned cell, const struct link_place* places,
                       unsigned count, struct swap_service* swaps,
                       const struct link_observer* observer);

/* Begins, once the swap ports are served. */
void link_service_start(struct link_service* service);

/* Serves a link that has events now. */
void link_service_serve(struct link_service* service, unsigned n);

/* Gives a sign of life, and tries again what has not worked. */
void link_service_tick(struct link_service* service);

#ifdef __cplusplus
}
#endif

#endif
