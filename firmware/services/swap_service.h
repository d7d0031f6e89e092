/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's side of the swap ports. It keeps an offer standing on each open port, and takes
 * the slots that the host has committed. A port may have a partner, which provides the payloads of
 * offers and takes the slots that the host gives for them. Slots that need no offer are for the
 * firmware.
 *
 * The payload of an offer without a partner: word 0 is the number of swaps that were committed at
 * this port, word 1 the sequence, word 2 the firmware's liveness count, and word 3 the first
 * payload word of the host's last committed slot. Words 4 and 5 are zero.
 */
#ifndef FIRMWARE_SERVICES_SWAP_SERVICE_H
#define FIRMWARE_SERVICES_SWAP_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "services/swap_offer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SWAP_PORTS_MAX 64

/* The source of the offers of some ports, and the destination of their hosts' slots. */
struct swap_partner {
  uint64_t ports; /* bit n: port n */
  /* Ports that a bridge serves. The service leaves them alone. */
  uint64_t bridged;
  void* context;
  /* Returns the payload of the next offer, which does not change until it is used up, or null. */
  const uint64_t* (*offer)(void* context, unsigned n);
  /* Reports that a swap with that payload was committed. */
  void (*used)(void* context, unsigned n);
  /* Accepts the host's slot at `payload`. Returns false if there is no room yet; the partner then
   * calls swap_service_serve_port() as soon as there is. */
  bool (*accept)(void* context, unsigned n, uintptr_t payload);
};

struct swap_port {
  /* Counted since the start. */
  uint64_t exchanged;
  uint64_t committed;
  uint64_t reversed;
  uint64_t bad_offers;
  /* First payload word of the host's last committed slot. */
  uint64_t host_word;
  /* Epoch and sequence of the last published offer, as in a slot's header. */
  uint64_t published;
  /* The block refused that offer. It is repeated with the next sign of life. */
  bool refused;
  /* Header of the last committed slot that was reported to the partner. */
  uint64_t reported;
};

struct swap_service {
  uintptr_t block; /* the OAE block's firmware side */
  unsigned count;  /* ports */
  volatile uint32_t liveness;
  const struct swap_partner* partner; /* null: none */
  /* Ports that another core wants to serve on its own, and those left to it: a bit each. */
  volatile uint64_t borrowed;
  volatile uint64_t lent;
  struct swap_port ports[SWAP_PORTS_MAX];
};

/* Takes over the block, whatever state it is in. False if there is none at `block`. The partner, of
 * ports that there are, may be null. */
bool swap_service_init(struct swap_service* service, uintptr_t block,
                       const struct swap_partner* partner);

/* Gives each port that many words of the block to itself, as far as there are words; 0: all ports
 * share all words, as after power-up. */
void swap_service_share_words(struct swap_service* service, unsigned per_port);

/* Serves those of `ports`, a bit each, that have events now; false if none has. Several cores may
 * serve, each ports of its own; those of one partner are one core's. */
bool swap_service_serve(struct swap_service* service, uint64_t ports);

/* Serves a port for which its partner has something new. */
void swap_service_serve_port(struct swap_service* service, unsigned n);

/* Gives a sign of life, `ticks` periods after the last one; by one core. */
void swap_service_tick(struct swap_service* service, uint64_t ticks);

/* Asks for these ports instead of those that the calling core has borrowed, which it serves no
 * longer. Returns false if there are no such ports, or if they have a partner. The ports are its
 * own as soon as swap_service_lends(), and until it asks for others: the service neither touches
 * them nor has interrupts of theirs. At most one core borrows. */
bool swap_service_borrow(struct swap_service* service, uint64_t ports);
bool swap_service_lends(const struct swap_service* service);

/* Makes offers that were refused anew, on those of `ports`; after each sign of life. */
void swap_service_retry(struct swap_service* service, uint64_t ports);

#ifdef __cplusplus
}
#endif

#endif
