// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "worker.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "oae_registers.h"
#include "threads.h"

static void add(uint64_t* counter) {
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void serve_request(struct workplace* place, const struct request* request) {
  const bool range = request->kind == REQUEST_LONG;

  if (!place->service->serve(request->number - place->first, range)) add(&place->wrong);
  load_function_put(&place->function, OAE_LOAD_ANSWER, request->number);
  add(&place->answers[request->kind]);
}

static bool change(struct worker* worker, int from, int to) {
  return __atomic_compare_exchange_n(&worker->state, &from, to, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

/* Puts the worker into its pool's list, once for each request that it has served. */
static void put_back(struct worker* worker) {
  struct worker_pool* pool = worker->pool;

  worker->next = __atomic_load_n(&pool->freed, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&pool->freed, &worker->next, worker, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED)) {
  }
}

static void serve_one(struct worker* worker) {
  serve_request(worker->pool->place, &worker->request);
  worker->freed_ns = clock_ns();
  if (!change(worker, WORKER_SERVES, WORKER_IDLE))
    __atomic_store_n(&worker->state, WORKER_LEAVES, __ATOMIC_RELEASE);
  put_back(worker);
}

/* Makes a new thread what a worker has to be, whoever has started it. */
static bool settle(struct worker* worker) {
  const struct workplace* place = worker->pool->place;
  const int thread = gettid();
  bool good = thread_set_cpus(0, place->cpus);

  if (place->service->begin_thread) good &= place->service->begin_thread();
  if (getpriority(PRIO_PROCESS, thread) != 0) good &= setpriority(PRIO_PROCESS, thread, 0) == 0;
  if (sched_getscheduler(0) != place->policy) good &= thread_set_policy(0, place->policy);
  __atomic_store_n(&worker->thread, thread, __ATOMIC_RELEASE);
  return good;
}

static void* work(void* argument) {
  struct worker* worker = argument;
  struct workplace* place = worker->pool->place;

  if (!settle(worker)) add(&place->failed);
  change(worker, WORKER_LEAVES, WORKER_IDLE);
  for (;;) {
    const int state = __atomic_load_n(&worker->state, __ATOMIC_ACQUIRE);
    if (state == WORKER_IDLE) {
      futex_wait(&worker->state, WORKER_IDLE);
    } else if (state == WORKER_ENDS) {
      break;
    } else if (state == WORKER_LEAVES) {
      __atomic_store_n(&worker->thread, 0, __ATOMIC_RELEASE);
      if (worker_start(worker)) break;
      /* Without a successor, this thread stays. */
      add(&place->failed);
      __atomic_store_n(&worker->thread, gettid(), __ATOMIC_RELEASE);
      change(worker, WORKER_LEAVES, WORKER_IDLE);
    } else {
      serve_one(worker);
    }
  }
  add(&place->ended);
  return NULL;
}

bool worker_start(struct worker* worker) {
  pthread_attr_t attributes;
  pthread_t thread;
  bool started;

  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, THREAD_STACK);
  add(&worker->pool->place->begun);
  started = pthread_create(&thread, &attributes, work, worker) == 0;
  if (!started) __atomic_fetch_sub(&worker->pool->place->begun, 1, __ATOMIC_RELAXED);
  pthread_attr_destroy(&attributes);
  return started;
}

bool worker_give(struct worker* worker, const struct request* request) {
  if (__atomic_load_n(&worker->state, __ATOMIC_ACQUIRE) != WORKER_IDLE) return false;
  worker->request = *request;
  if (!change(worker, WORKER_IDLE, WORKER_SERVES)) return false;
  futex_wake(&worker->state);
  return true;
}

bool worker_replace(struct worker* worker) {
  if (change(worker, WORKER_IDLE, WORKER_LEAVES)) {
    futex_wake(&worker->state);
    return true;
  }
  return change(worker, WORKER_SERVES, WORKER_SERVES_LAST);
}

void worker_end(struct worker* worker) {
  if (change(worker, WORKER_IDLE, WORKER_ENDS)) futex_wake(&worker->state);
}
