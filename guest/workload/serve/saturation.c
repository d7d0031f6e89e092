// SPDX-License-Identifier: Apache-2.0
#include "saturation.h"

enum { beyond = 30, resolution = 100 /* one part in so many */ };

uint64_t saturation_count(const struct saturation* search, uint64_t rate) {
  const uint64_t least = beyond * SATURATION_LATE_ONE_IN;
  const uint64_t in_time = (uint64_t)((unsigned __int128)rate * search->time_ns / 1000000000);

  return in_time > least ? in_time : least;
}

bool saturation_in_time(uint64_t late, uint64_t measured) {
  return measured > 0 && late * SATURATION_LATE_ONE_IN <= measured;
}

uint64_t saturation_find(const struct saturation* search,
                         bool (*in_time)(void* context, uint64_t rate), void* context) {
  uint64_t good = 0, bad = 0, rate = search->low;

  /* Never far above what is possible, since all requests have to be answered in the end. */
  while (!bad && good < search->high) {
    if (rate > search->high) rate = search->high;
    if (in_time(context, rate))
      good = rate;
    else
      bad = rate;
    rate = 2 * good;
  }
  while (good && bad && bad - good > good / resolution) {
    rate = good + (bad - good) / 2;
    if (rate == good) break;
    if (in_time(context, rate))
      good = rate;
    else
      bad = rate;
  }
  return good;
}
