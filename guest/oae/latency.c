// SPDX-License-Identifier: Apache-2.0
#include "latency.h"

#include <stdlib.h>

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static uint64_t at_percent(const uint64_t *sorted, size_t count, size_t percent) {
  return sorted[(count * percent + 99) / 100 - 1];
}

struct latency latency_of(uint64_t *samples, size_t count) {
  struct latency latency = {0};

  if (!count) return latency;
  qsort(samples, count, sizeof(*samples), compare);
  latency.min = samples[0];
  latency.median = at_percent(samples, count, 50);
  latency.p99 = at_percent(samples, count, 99);
  latency.max = samples[count - 1];
  return latency;
}
