// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "threads.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { cpus_max = 64 };

uint64_t clock_ns(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void futex_wait(int* word, int value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void futex_wake(int* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool thread_set_cpus(int thread, uint64_t cpus) {
  cpu_set_t set;

  CPU_ZERO(&set);
  for (unsigned cpu = 0; cpu < cpus_max; cpu++)
    if (cpus >> cpu & 1) CPU_SET(cpu, &set);
  return sched_setaffinity(thread, sizeof(set), &set) == 0;
}

bool thread_set_policy(int thread, int policy) {
  const struct sched_param parameters = {.sched_priority = 0};

  return sched_setscheduler(thread, policy, &parameters) == 0;
}

uint64_t thread_cpus(void) {
  uint64_t cpus = 0;
  cpu_set_t set;

  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  for (unsigned cpu = 0; cpu < cpus_max; cpu++)
    if (CPU_ISSET(cpu, &set)) cpus |= UINT64_C(1) << cpu;
  return cpus;
}
