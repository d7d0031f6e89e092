// SPDX-License-Identifier: Apache-2.0
#include "dispatcher.h"

#include <sched.h>
#include <stddef.h>

#include "oae_registers.h"
#include "threads.h"

/* So long without a request, a dispatcher asks the device whether there will be more. */
enum { quiet_ns = 500000 };

void dispatcher_add(struct dispatcher* dispatcher, struct worker* worker) {
  dispatcher->idle[dispatcher->idle_last++ & (dispatcher->idle_size - 1)] = worker;
}

/* Takes the workers that have served, in the order in which they did. */
static void collect(struct dispatcher* dispatcher) {
  struct worker *one, *first = NULL;

  if (!__atomic_load_n(&dispatcher->pool.freed, __ATOMIC_RELAXED)) return;
  one = __atomic_exchange_n(&dispatcher->pool.freed, NULL, __ATOMIC_ACQUIRE);
  while (one) {
    struct worker* before = one->next;
    one->next = first;
    first = one;
    one = before;
  }
  while (first) {
    struct worker* next = first->next;
    dispatcher_add(dispatcher, first);
    first = next;
  }
}

static struct worker* first_idle(const struct dispatcher* dispatcher, uint64_t now) {
  struct worker* worker;

  if (dispatcher->idle_first == dispatcher->idle_last) return NULL;
  worker = dispatcher->idle[dispatcher->idle_first & (dispatcher->idle_size - 1)];
  return now - worker->freed_ns >= dispatcher->common->options->rest_ns ? worker : NULL;
}

/* Gives the request to the worker that waits longest. One that is being replaced goes to the end.
 * Returns false if none is ready. */
static bool give(struct dispatcher* dispatcher, const struct request* request, uint64_t now) {
  const unsigned waiting = (unsigned)(dispatcher->idle_last - dispatcher->idle_first);

  for (unsigned i = 0; i < waiting; i++) {
    struct worker* worker = first_idle(dispatcher, now);
    if (!worker) return false;
    dispatcher->idle_first++;
    if (worker_give(worker, request)) return true;
    dispatcher_add(dispatcher, worker);
  }
  return false;
}

static void end(struct dispatching* common, enum dispatch_end why) {
  int expected = DISPATCH_GOES_ON;

  __atomic_compare_exchange_n(&common->end, &expected, why, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_RELAXED);
}

static uint64_t load(const uint64_t* counter) {
  return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

/* Ends dispatching if no more requests will come, or if there are some and nothing happens. */
static void look_for_the_end(struct dispatcher* dispatcher, uint64_t now) {
  struct dispatching* common = dispatcher->common;
  const struct workplace* place = common->place;
  const uint64_t control = load_function_get(&place->function, OAE_LOAD_CONTROL);
  const uint64_t came = load_function_get(&place->function, OAE_LOAD_GENERATED) -
                        load_function_get(&place->function, OAE_LOAD_DROPPED);
  const uint64_t dispatched = load(&common->dispatched);
  const uint64_t answers =
      load(&place->answers[REQUEST_SHORT]) + load(&place->answers[REQUEST_LONG]);

  if (control == UINT64_MAX)
    end(common, DISPATCH_GONE);
  else if (load_function_get(&place->function, OAE_LOAD_STATUS))
    end(common, DISPATCH_REFUSED);
  else if (!control && dispatched == came)
    end(common, DISPATCH_DONE);
  if (answers == came || dispatched + answers != dispatcher->progress) {
    dispatcher->progress = dispatched + answers;
    dispatcher->progress_ns = now;
  } else if (now - dispatcher->progress_ns > common->options->patience_ns) {
    end(common, DISPATCH_STUCK);
  }
}

static void count(struct dispatcher* dispatcher, const struct request* request, uint64_t ns) {
  if (!dispatcher->dispatched++) dispatcher->first_came = request->came;
  dispatcher->last_came = request->came;
  __atomic_fetch_add(&dispatcher->common->dispatched, 1, __ATOMIC_RELEASE);
  dispatcher->sum_ns += ns;
  if (ns > dispatcher->max_ns) dispatcher->max_ns = ns;
}

static void* dispatch(void* argument) {
  struct dispatcher* dispatcher = argument;
  struct dispatching* common = dispatcher->common;
  const bool has_workers = common->options->workers != 0;
  struct request request = {0};
  bool pending = false; /* `request` was taken and waits for a worker */
  uint64_t seen_ns = 0;

  thread_set_cpus(0, UINT64_C(1) << dispatcher->cpu);
  dispatcher->active_ns = dispatcher->progress_ns = clock_ns();
  while (__atomic_load_n(&common->end, __ATOMIC_ACQUIRE) == DISPATCH_GOES_ON) {
    const uint64_t now = clock_ns();
    if (dispatcher->churn) churn_step(dispatcher->churn, now);
    collect(dispatcher);
    if (!pending && (!has_workers || first_idle(dispatcher, now))) {
      pending = request_ring_take(&common->ring, &request);
      seen_ns = now;
    }
    if (pending && (!has_workers || give(dispatcher, &request, now))) {
      if (!has_workers) serve_request(common->place, &request);
      pending = false;
      dispatcher->active_ns = clock_ns();
      count(dispatcher, &request, dispatcher->active_ns - seen_ns);
    } else if (now - dispatcher->active_ns > quiet_ns) {
      look_for_the_end(dispatcher, now);
      dispatcher->active_ns = clock_ns();
    }
    if (request_ring_tell(&common->ring, &dispatcher->told))
      load_function_put(&common->place->function, OAE_LOAD_TAKEN, dispatcher->told);
  }
  return NULL;
}

bool dispatcher_start(struct dispatcher* dispatcher) {
  return pthread_create(&dispatcher->thread, NULL, dispatch, dispatcher) == 0;
}
