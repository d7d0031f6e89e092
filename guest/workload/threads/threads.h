/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the kernel for threads. */
#ifndef WORKLOAD_THREADS_H
#define WORKLOAD_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SCHED_EXT
#define SCHED_EXT 7
#endif

enum { THREAD_STACK = 256 << 10 };

uint64_t clock_ns(void);

void futex_wait(int* word, int value);
void futex_wake(int* word);

/* Changes a thread by its number; 0 is the caller. Returns false and sets errno if that fails. */
bool thread_set_cpus(int thread, uint64_t cpus);
bool thread_set_policy(int thread, int policy);

/* Returns the CPUs that the caller may run on. */
uint64_t thread_cpus(void);

#ifdef __cplusplus
}
#endif

#endif
