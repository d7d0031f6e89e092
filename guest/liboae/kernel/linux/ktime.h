// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#pragma once

#include <linux/types.h>
#include <time.h>

// Without a system call, where the kernel lets a process read its clock.
static inline u64 ktime_get_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

static inline u64 ktime_get_mono_fast_ns(void) { return ktime_get_ns(); }
