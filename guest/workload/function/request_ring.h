/* SPDX-License-Identifier: Apache-2.0 */
/* The ring in which the load function writes requests, as those see it who take them out. */
#ifndef WORKLOAD_REQUEST_RING_H
#define WORKLOAD_REQUEST_RING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct request_entry {
  uint64_t came; /* when, in ps of the simulation */
  uint64_t kind;
  uint64_t reserved;
  uint64_t number;
};

enum { REQUEST_SHORT, REQUEST_LONG, REQUEST_KINDS };

struct request {
  uint64_t came;
  uint64_t number;
  unsigned kind;
};

struct request_ring {
  volatile struct request_entry* entries;
  uint64_t size;
  uint64_t first; /* number of the first request that is to come; those below it are old */
  uint64_t taken; /* how many requests have been taken; accessed atomically */
};

/* Begins anew. The memory holds zeros, and `size` is a power of two. */
void request_ring_init(struct request_ring* ring, void* memory, uint64_t size);

/* Takes the next request, if it has come. Threads may call this at once. None waits for another,
 * since one that takes requests may lose its CPU at any time. */
bool request_ring_take(struct request_ring* ring, struct request* request);

/* Returns how many requests have been taken. */
uint64_t request_ring_taken(const struct request_ring* ring);

/* Whether the device should be told by the caller how much has been taken, since it last did so.
 * `told`, which is 0 at first, becomes what to tell: one less, since the entry before the next one
 * shows whether that is new. If each who takes requests asks this again and again, the device
 * always comes to know of at least three quarters of the ring that it may write, even if it learns
 * from one what another has outdated. */
bool request_ring_tell(const struct request_ring* ring, uint64_t* told);

#ifdef __cplusplus
}
#endif

#endif
