/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_OAE_LATENCY_H
#define GUEST_OAE_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The distribution of samples. Median and p99 are samples themselves. All is 0 without samples. */
struct latency {
  uint64_t min;
  uint64_t median; /* the smallest sample that at least half of all do not exceed */
  uint64_t p99;    /* the smallest sample that at least 99 of 100 do not exceed */
  uint64_t max;
};

/* Sorts the samples. */
struct latency latency_of(uint64_t *samples, size_t count);

#ifdef __cplusplus
}
#endif

#endif
