/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's side of the swap ports: keeps an offer standing on each open port, and takes what
 * the host has committed.
 *
 * An offer's payload: word 0 the swaps that this port has seen committed, word 1 its sequence,
 * word 2 the firmware's liveness count, word 3 the first payload word of the last committed host
 * slot; words 4 and 5 are zero.
 */
#ifndef FIRMWARE_SWAP_SERVICE_H
#define FIRMWARE_SWAP_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWAP_PORTS_MAX 64

struct swap_port {
  /* Since start. */
  uint64_t exchanged;
  uint64_t committed;
  uint64_t reversed;
  uint64_t bad_offers;
  /* First payload word of the last committed host slot. */
  uint64_t host_word;
  /* Epoch and sequence of the offer published last, as in a slot's header. */
  uint64_t published;
  /* The block refused that offer; it is tried again with the next sign of life. */
  bool refused;
};

struct swap_service {
  uintptr_t block; /* the OAE block's firmware side */
  unsigned count;  /* ports */
  uint32_t liveness;
  struct swap_port ports[SWAP_PORTS_MAX];
};

/* Takes over the block, whatever state it is in. False if there is none at `block`. */
bool swap_service_init(struct swap_service* service, uintptr_t block);

/* Serves the ports that have events now; false if none has. */
bool swap_service_serve(struct swap_service* service);

/* Gives a sign of life, `ticks` periods after the last one. */
void swap_service_tick(struct swap_service* service, uint64_t ticks);

#ifdef __cplusplus
}
#endif

#endif
