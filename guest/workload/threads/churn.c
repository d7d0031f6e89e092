// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "churn.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>

#include "threads.h"

/* Returns whether the change was made. */
static bool make(struct churn* churn, const struct churn_choice* choice) {
  struct worker* worker = &churn->workers[choice->worker];
  const int policy = churn->place->policy;
  const int thread = __atomic_load_n(&worker->thread, __ATOMIC_ACQUIRE);

  if (choice->kind == CHURN_DIE) return worker_replace(worker);
  errno = ESRCH;
  if (!thread) return false;
  switch (choice->kind) {
    case CHURN_AFFINITY:
      return thread_set_cpus(thread, choice->cpus);
    case CHURN_CLASS:
      return thread_set_policy(thread, policy == SCHED_OTHER ? SCHED_BATCH : SCHED_OTHER) &&
             thread_set_policy(thread, policy);
    default:
      return setpriority(PRIO_PROCESS, (id_t)thread, choice->nice) == 0;
  }
}

void churn_init(struct churn* churn) {
  churn->begin_ns = churn->next_ns = clock_ns();
}

void churn_step(struct churn* churn, uint64_t now) {
  const struct options* options = churn->options;
  struct churn_choice choice;

  if (now < churn->next_ns) return;
  choice = churn_choose(~options->load.seed, churn->changes, options->churn_kinds, options->workers,
                        churn->place->cpus);
  churn->changes++;
  churn->next_ns = churn->begin_ns +
                   (uint64_t)((unsigned __int128)churn->changes * 1000000000 / options->churn_rate);
  churn->last_ns = now;
  errno = ESRCH; /* a thread that has just ended is none */
  if (make(churn, &choice))
    churn->made[choice.kind]++;
  else if (errno == ESRCH)
    churn->missed++;
  else
    churn->failed++;
}

/* The kernel's timers end late, by up to a tick in some kernels, so it does not sleep. */
static void* change(void* argument) {
  struct churn* churn = argument;

  thread_set_cpus(0, UINT64_C(1) << churn->options->churn_cpu);
  while (!__atomic_load_n(&churn->ends, __ATOMIC_ACQUIRE)) churn_step(churn, clock_ns());
  return NULL;
}

bool churn_start(struct churn* churn) {
  return pthread_create(&churn->thread, NULL, change, churn) == 0;
}

void churn_end(struct churn* churn) {
  __atomic_store_n(&churn->ends, 1, __ATOMIC_RELEASE);
  pthread_join(churn->thread, NULL);
}
