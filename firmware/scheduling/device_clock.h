/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's clock, for an agent on a device, which cannot read it. The device's own clock stands
 * in for it. It is late by what the quickest of its requests and events took to be heard: the agent
 * begins with the time of a request, which it may have seen late, and each event that is newer than
 * the clock puts that right. So the clock is never behind the newest event, and never ahead of the
 * kernel's.
 */
#ifndef SCHEDULING_DEVICE_CLOCK_H
#define SCHEDULING_DEVICE_CLOCK_H

#include <stdint.h>

struct device_clock {
  uint64_t (*own)(void); /* ns */
  uint64_t offset;       /* of the kernel's clock from it */
  uint64_t newest;       /* time of the newest event, ns of the kernel's clock */
};

/* `time` is the kernel's, of a request that was just seen. */
static inline struct device_clock device_clock_at(uint64_t (*own)(void), uint64_t time) {
  const struct device_clock clock = {own, time - own(), 0};

  return clock;
}

static inline void device_clock_hear(struct device_clock* clock, uint64_t time) {
  if ((int64_t)(time - clock->newest) > 0) clock->newest = time;
}

static inline uint64_t device_clock_now(struct device_clock* clock) {
  const uint64_t time = clock->own() + clock->offset;
  const int64_t late = clock->newest - time;

  if (late <= 0) return time;
  clock->offset += late;
  return clock->newest;
}

#endif
