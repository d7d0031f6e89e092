/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that serve one request at a time. */
#ifndef WORKLOAD_WORKER_H
#define WORKLOAD_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "load_function.h"
#include "request_ring.h"
#include "service.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a worker does, or is to do. The word is a futex: a dispatcher makes it WORKER_SERVES, churn
 * makes it WORKER_LEAVES or WORKER_SERVES_LAST, and the worker makes it WORKER_IDLE. */
enum {
  WORKER_IDLE,
  WORKER_SERVES,
  WORKER_SERVES_LAST, /* leaves after this request */
  WORKER_LEAVES,      /* another thread takes its place */
  WORKER_ENDS,        /* nobody does */
};

struct worker {
  int state;
  int thread; /* its number; 0: it is about to begin or has ended */
  struct request request;
  uint64_t freed_ns;   /* when it had served the last request */
  struct worker* next; /* in the list of its pool */
  struct worker_pool* pool;
};

/* The workers of one dispatcher. */
struct worker_pool {
  struct workplace* place;
  struct worker* freed; /* those that have served, last first; accessed atomically */
};

/* What all workers have in common. */
struct workplace {
  struct load_function function;
  const struct service* service;
  uint64_t first; /* number of the first request */
  uint64_t cpus;  /* of the workers */
  int policy;     /* their scheduling class (policy) */
  uint64_t begun; /* threads so far; these and what follows are accessed atomically */
  uint64_t ended;
  uint64_t answers[REQUEST_KINDS];
  uint64_t wrong;  /* answers */
  uint64_t failed; /* threads that could not be started, or not as they have to be */
};

/* Starts the worker's thread. Returns false if that fails. */
bool worker_start(struct worker* worker);

/* Gives an idle worker a request, and wakes it. Returns false if it is not idle. */
bool worker_give(struct worker* worker, const struct request* request);

/* Has another thread take this one's place once it has no request. Returns false if it is about to
 * anyway. */
bool worker_replace(struct worker* worker);

/* Ends the thread if it is idle. */
void worker_end(struct worker* worker);

/* Serves a request and answers it. */
void serve_request(struct workplace* place, const struct request* request);

#ifdef __cplusplus
}
#endif

#endif
