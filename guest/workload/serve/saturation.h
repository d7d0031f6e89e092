/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the rate at which a server is saturated. */
#ifndef SERVE_SATURATION_H
#define SERVE_SATURATION_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A search. Rates are in requests a second. */
struct saturation {
  uint64_t low; /* at least 1 */
  uint64_t high;
  uint64_t time_ns; /* how long requests come in a trial, unless these would be too few */
};

/* Of the requests of a trial that are measured, one in so many may be late. */
enum { SATURATION_LATE_ONE_IN = 100 };

/* The requests of a trial at this rate: those that come in its time, but enough for 30 to lie
 * beyond the limit. */
uint64_t saturation_count(const struct saturation* search, uint64_t rate);

/* Whether so many late requests of so many measured ones are few enough. */
bool saturation_in_time(uint64_t late, uint64_t measured);

/* Finds the highest rate from `low` to `high` for which `in_time` holds, to 1 %: doubles the rate
 * from `low` on, and bisects between the last two. Returns 0 if that does not hold for `low`. */
uint64_t saturation_find(const struct saturation* search,
                         bool (*in_time)(void* context, uint64_t rate), void* context);

#ifdef __cplusplus
}
#endif

#endif
