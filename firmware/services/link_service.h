/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's side of the OAE links. It keeps the links up, and joins each swap port with the
 * port of the same number at the other end: the slots that one host swaps at a joined port are
 * offered to the other host, once and in order. The first swap is answered by an empty slot. Each
 * swap of one host therefore waits for a swap of the other, and neither is more than two ahead. No
 * port waits for room or for another port. A slot stays in the block's journal until the other side
 * has it.
 *
 * If a link fails during a transfer, the transfer is in doubt, and the other side's journal settles
 * it: when the link is up again or, sooner, by a question through a cell to which both sides have a
 * link. If the other side has lost its power, its journal may have begun after the transfer and
 * says nothing about it. The transfer is then lost and is not sent again.
 *
 * The data that must outlive a restart of the firmware is in a memory of its own, which only the
 * loss of power clears. Each change takes effect by the store of one word. A firmware that is
 * stopped at any point therefore loses no slot and passes on none twice.
 */
#ifndef FIRMWARE_SERVICES_LINK_SERVICE_H
#define FIRMWARE_SERVICES_LINK_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "services/swap_service.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LINKS_MAX 4
/* Slots of a joined port that may wait for its host. Both sides together never have more. */
#define LINK_SLOTS 2
/* Queries and verdicts that may wait for a link. Others are dropped, since each cell repeats its
 * questions. */
#define LINK_MESSAGES 8
/* After so many reversals in succession, the next attempt waits for the next tick. */
#define LINK_REVERSALS 2

/* A slot without its CRC, in the form in which a link sends it. */
struct link_message {
  uint64_t words[1 + SWAP_PAYLOAD_WORDS];
};

/* The data of a joined port that outlives a restart of the firmware. */
struct link_port_memory {
  /* Slots from the other host. The first of them is offered. */
  uint64_t inbox[LINK_SLOTS][SWAP_PAYLOAD_WORDS];
  /* Low half: how many slots have arrived. High half: the number of the last one's frame until the
   * link has released that frame, then 0. */
  uint64_t arrived;
  /* Low 16 bits: how many slots were used up. Other bits: epoch and sequence of the host's slot
   * that used up the last one. */
  uint64_t used;
  /* Header of the last slot of the host that the other side has received. */
  uint64_t delivered;
};

/* The data of a link that outlives a restart of the firmware. */
struct link_memory {
  /* The present transfer. `sends` is written last when it begins, and first when it ends. */
  uint64_t sends;  /* enum link_sends */
  uint64_t port;   /* the port whose slot is sent */
  uint64_t header; /* the header of the slot in the block */
  uint64_t number; /* the number of the previous transfer */
  uint64_t token;  /* the other side's session when the link last came up */
};

enum link_sends { LINK_IDLE, LINK_SLOT, LINK_MESSAGE };

struct link_service_memory {
  uint64_t made; /* LINK_MEMORY_MADE if the other members are valid */
  struct link_memory links[LINKS_MAX];
  struct link_port_memory ports[SWAP_PORTS_MAX];
};

#define LINK_MEMORY_MADE 0x314d454d4b4e494cull /* "LINKMEM1" */

struct link {
  uintptr_t base;
  unsigned peer;  /* the cell at the other end */
  uint64_t ports; /* the joined ports, a bit each */
  bool up;
  volatile struct link_memory* memory;
  unsigned reversals; /* reversed transfers to the other side in succession */
  /* A question of the other side. It cannot be answered while the link is up here. */
  bool asked;
  struct link_message question;
  struct link* asked_through;
  struct link_message messages[LINK_MESSAGES];
  unsigned first; /* index of the first message that waits */
  unsigned waiting;
  /* Counted since the start. */
  uint64_t downs;
  uint64_t lost;      /* transfers whose fate is unknown, since the other side lost its power */
  uint64_t by_others; /* transfers settled by an answer through a third cell */
  uint64_t bad;       /* invalid messages */
};

/* A link as the machine describes it. */
struct link_place {
  uintptr_t base;
  unsigned peer;
  uint64_t ports;
};

/* Functions that report events of a link, for the console. Any of them may be null. */
struct link_observer {
  void (*up)(unsigned link);
  void (*down)(unsigned link, unsigned reason);                      /* OAE_LINK_DOWN_* */
  void (*in_doubt)(unsigned link, uint32_t number);                  /* while the link is down */
  void (*settled)(unsigned link, uint32_t number, unsigned outcome); /* OAE_OUTCOME_* */
};

struct link_service {
  unsigned cell;
  unsigned count;
  struct link links[LINKS_MAX];
  /* For each port, the address in the block of the payload that it has to send, or 0. */
  uintptr_t waits[SWAP_PORTS_MAX];
  volatile struct link_service_memory* memory;
  struct swap_service* swaps;
  struct swap_partner partner; /* for swap_service_init(), after link_service_init() */
  const struct link_observer* observer;
};

/* Creates the partner of the joined ports. `memory` holds the data of the firmware before a
 * restart, or any values after a loss of power. `observer` may be null. */
void link_service_init(struct link_service* service, unsigned cell, const struct link_place* places,
                       unsigned count, struct swap_service* swaps,
                       volatile struct link_service_memory* memory,
                       const struct link_observer* observer);

/* Starts the links. Must be called when the swap ports are served. */
void link_service_start(struct link_service* service);

/* Serves a link that has events. */
void link_service_serve(struct link_service* service, unsigned n);

/* Gives a sign of life and repeats what has failed. */
void link_service_tick(struct link_service* service);

#ifdef __cplusplus
}
#endif

#endif
