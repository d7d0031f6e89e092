/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that take requests out of the ring and give them to workers. */
#ifndef WORKLOAD_DISPATCHER_H
#define WORKLOAD_DISPATCHER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "churn.h"
#include "options.h"
#include "request_ring.h"
#include "worker.h"

/* How dispatching ended. */
enum dispatch_end {
  DISPATCH_GOES_ON,
  DISPATCH_DONE,    /* all requests were taken */
  DISPATCH_REFUSED, /* the function may not write memory */
  DISPATCH_GONE,    /* the function does not answer */
  DISPATCH_STUCK,   /* nothing has happened for too long */
};

/* What all dispatchers have in common. */
struct dispatching {
  const struct options* options;
  struct workplace* place;
  struct request_ring ring;
  uint64_t dispatched; /* requests that were given to workers or served; accessed atomically */
  int end;             /* enum dispatch_end; accessed atomically */
};

struct dispatcher {
  struct dispatching* common;
  struct churn* churn; /* changes that it makes, or NULL */
  unsigned cpu;
  pthread_t thread;
  struct worker_pool pool;
  struct worker** idle; /* workers that wait, in the order in which they were put here, as a ring */
  unsigned idle_size;   /* a power of two */
  uint64_t idle_first, idle_last;
  uint64_t told;        /* what it has told the device of what was taken */
  uint64_t active_ns;   /* when it last took a request */
  uint64_t progress;    /* requests dispatched and answered, as it saw them last */
  uint64_t progress_ns; /* when this changed */
  /* From when a request was seen until its worker was woken or, without workers, it was answered */
  uint64_t dispatched, sum_ns, max_ns;
  uint64_t first_came, last_came; /* times of the first and the last request, ps */
};

/* Adds a worker that waits. */
void dispatcher_add(struct dispatcher* dispatcher, struct worker* worker);

/* Starts the thread. Returns false if that fails. */
bool dispatcher_start(struct dispatcher* dispatcher);

#endif
