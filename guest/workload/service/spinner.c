// SPDX-License-Identifier: Apache-2.0
/* Services that only use CPU time, or not even that. */
#include <math.h>
#include <stddef.h>
#include <time.h>

#include "random.h"
#include "service.h"

enum { calibrations = 5, calibration_loops = 20000 };

static struct service_options spinner;
static uint64_t loops_per_ms;

/* Takes the same number of instructions in each round, so that it uses the same CPU time however
 * often the thread is preempted. */
static void spin(uint64_t loops) {
  for (; loops; loops--) __asm__ volatile("");
}

static uint64_t now_ns(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The shortest of several tries is one that nothing has interrupted. */
static bool spinner_open(const struct service_options* options) {
  uint64_t least = UINT64_MAX;

  spinner = *options;
  for (int i = 0; i < calibrations; i++) {
    const uint64_t begin = now_ns();
    uint64_t took;
    spin(calibration_loops);
    took = now_ns() - begin;
    if (took < least) least = took;
  }
  loops_per_ms = (uint64_t)calibration_loops * 1000000 / (least ? least : 1);
  return true;
}

uint64_t spinner_get_ns(const struct service_options* options, uint64_t index) {
  /* Above 0, and at most 1. */
  const double random = ((random_at(options->seed, index) >> 11) + 1) * 0x1p-53;

  return options->get_ns + (uint64_t)(-log(random) * (double)options->exponential_ns);
}

static bool spinner_serve(uint64_t index, bool range) {
  const uint64_t ns = range                    ? spinner.range_ns
                      : spinner.exponential_ns ? spinner_get_ns(&spinner, index)
                                               : spinner.get_ns;

  spin(ns * loops_per_ms / 1000000);
  return true;
}

static void close_nothing(void) {}

const struct service service_spinner = {"spinner", spinner_open, spinner_serve, close_nothing,
                                        NULL};

static bool none_open(const struct service_options* options) {
  (void)options;
  return true;
}

static bool none_serve(uint64_t index, bool range) {
  (void)index;
  (void)range;
  return true;
}

const struct service service_none = {"none", none_open, none_serve, close_nothing, NULL};
