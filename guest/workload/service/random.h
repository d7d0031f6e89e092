/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that a seed decides. */
#ifndef WORKLOAD_RANDOM_H
#define WORKLOAD_RANDOM_H

#include <stdint.h>

/* Returns the number of that index in the sequence of a seed (SplitMix64). */
static inline uint64_t random_at(uint64_t seed, uint64_t index) {
  uint64_t x = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* Returns a number below `limit`, as a random number decides. */
static inline uint64_t random_below(uint64_t random, uint64_t limit) {
  return (uint64_t)((unsigned __int128)random * limit >> 64);
}

#endif
