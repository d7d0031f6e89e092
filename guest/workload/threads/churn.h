/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of workers at a set rate, so that what a scheduler knows of them becomes wrong. */
#ifndef WORKLOAD_CHURN_H
#define WORKLOAD_CHURN_H

#include <pthread.h>
#include <stdbool.h>

#include "options.h"
#include "worker.h"

struct churn {
  const struct options* options;
  struct workplace* place;
  struct worker* workers;
  uint64_t begin_ns, next_ns; /* when the first and the next change are due */
  uint64_t last_ns;           /* when the last one was made */
  uint64_t changes;           /* those made, and the missed and failed ones */
  uint64_t made[CHURN_KINDS];
  uint64_t missed; /* the worker was already about to be replaced, or had no thread yet */
  uint64_t failed;
  pthread_t thread;
  int ends; /* accessed atomically */
};

/* The first change is due now. */
void churn_init(struct churn* churn);

/* Makes the next change if it is due. */
void churn_step(struct churn* churn, uint64_t now);

/* Starts a thread that makes the changes, on a CPU of its own. Returns false if that fails. */
bool churn_start(struct churn* churn);

void churn_end(struct churn* churn);

#endif
