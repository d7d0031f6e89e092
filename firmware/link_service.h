/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's side of the OAE links: keeps them up, and joins swap ports with those of the same
 * number at the other end. What one host has swapped at a joined port is what the other is offered
 * there, in order, once; the first swap is answered by an empty slot. So each swap of the one waits
 * for one of the other, neither is more than two ahead, and no port waits for room or for another
 * port. A slot stays in the block's journal until the other side has it.
 *
 * A transfer that a failing link leaves in doubt is settled by the other side's journal: when the
 * link comes back, or, sooner, by asking the other side through a cell that both have a link to. A
 * journal that began after the transfer, since the other side lost its power, says nothing of it: the
 * transfer is lost, and is not sent again.
 *
 * What must outlive a restart of the firmware is in a memory of its own, which only the loss of power
 * clears. Each change of it takes effect by one store of a word, so that a firmware which is stopped
 * anywhere loses no slot and passes on none twice.
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
/* Queries and verdicts that may wait for a link. Others are dropped, since a cell that asks asks again. */
#define LINK_MESSAGES 8
/* Reversals in succession after which the next attempt waits for the next tick. */
#define LINK_REVERSALS 2

/* A slot without its CRC: what is sent over a link. */
struct link_message {
  uint64_t words[1 + SWAP_PAYLOAD_WORDS];
};

/* What outlives a restart of the firmware, of a joined port. */
struct link_port_memory {
  /* Slots from the other host, of which the first is offered. */
  uint64_t inbox[LINK_SLOTS][SWAP_PAYLOAD_WORDS];
  /* How many have arrived (low half), and the frame of the last of them until the link has let go of
   * it, else 0 (high half). */
  uint64_t arrived;
  /* How many were used up (low 16 bits), and by which of the host's slots the last was: its epoch and
   * sequence (the other bits). */
  uint64_t used;
  /* Header of the host's slot that the other side has got last. */
  uint64_t delivered;
};

/* The same of a link. */
struct link_memory {
  /* The transfer under way. `sends` is written last when it begins, and first when it ends. */
  uint64_t sends;  /* enum link_sends */
  uint64_t port;   /* of the slot */
  uint64_t header; /* of the slot in the block */
  uint64_t number; /* of the transfer before */
  uint64_t token;  /* the other side's session when the link came up last */
};

enum link_sends { LINK_IDLE, LINK_SLOT, LINK_MESSAGE };

struct link_service_memory {
  uint64_t made; /* LINK_MEMORY_MADE if the rest means something */
  struct link_memory links[LINKS_MAX];
  struct link_port_memory ports[SWAP_PORTS_MAX];
};

#define LINK_MEMORY_MADE 0x314d454d4b4e494cull /* "LINKMEM1" */

struct link {
  uintptr_t base;
  unsigned peer;  /* cell at the other end */
  uint64_t ports; /* joined, a bit each */
  bool up;
  volatile struct link_memory* memory;
  unsigned reversals; /* in succession, of transfers to the other side */
  /* A question of the other side that cannot be answered while the link is up here. */
  bool asked;
  struct link_message question;
  struct link* asked_through;
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
  uintptr_t waits[SWAP_PORTS_MAX]; /* payload of a port that is to be sent, in the block; 0: none */
  volatile struct link_service_memory* memory;
  struct swap_service* swaps;
  struct swap_partner partner; /* for swap_service_init(), after link_service_init() */
  const struct link_observer* observer;
};

/* Makes the partner of the joined ports. `memory` is what was left there by the firmware before,
 * or anything after the cell was without power. `observer` may be null. */
void link_service_init(struct link_service* service, unsigned cell, const struct link_place* places,
                       unsigned count, struct swap_service* swaps,
                       volatile struct link_service_memory* memory,
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
