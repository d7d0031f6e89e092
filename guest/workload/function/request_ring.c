// SPDX-License-Identifier: Apache-2.0
#include "request_ring.h"

void request_ring_init(struct request_ring* ring, void* memory, uint64_t size) {
  *ring = (struct request_ring){.entries = memory, .size = size};
}

/* Whether the entry was written for this position, and not in an earlier round or before the
 * start: numbers rise from entry to entry. The device leaves the entry before it alone. */
static bool is_new(const struct request_ring* ring, uint64_t position, uint64_t number) {
  const uint64_t before =
      position ? ring->entries[(position - 1) & (ring->size - 1)].number : ring->first - 1;

  return number > before && number >= ring->first;
}

/* A thread reads an entry before it claims it. The device does not write it again before it is
 * told that it was taken, so a claim that succeeds is one of what was read. */
bool request_ring_take(struct request_ring* ring, struct request* request) {
  uint64_t position = __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);

  for (;;) {
    const volatile struct request_entry* entry = &ring->entries[position & (ring->size - 1)];
    request->number = entry->number;
    if (!is_new(ring, position, request->number)) {
      /* The entry before it is of another round if others have gone on meanwhile. */
      const uint64_t now = __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
      if (now == position) return false;
      position = now;
      continue;
    }
    request->came = entry->came;
    request->kind = entry->kind ? REQUEST_LONG : REQUEST_SHORT;
    if (__atomic_compare_exchange_n(&ring->taken, &position, position + 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      return true;
  }
}

uint64_t request_ring_taken(const struct request_ring* ring) {
  return __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
}

bool request_ring_tell(const struct request_ring* ring, uint64_t* told) {
  const uint64_t taken = request_ring_taken(ring);

  if (!taken || taken - 1 - *told < (ring->size + 3) / 4) return false;
  *told = taken - 1;
  return true;
}
