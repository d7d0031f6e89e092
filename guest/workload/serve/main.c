// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "churn.h"
#include "dispatcher.h"
#include "oae_registers.h"
#include "options.h"
#include "pinned_memory.h"
#include "report.h"
#include "saturation.h"
#include "threads.h"

enum { exit_good, exit_failed, exit_usage };

static struct options options;
static struct workplace place;
static struct dispatching dispatching = {.options = &options, .place = &place};
static struct dispatcher dispatchers[CPUS_MAX];
static unsigned dispatcher_count;
static struct worker workers[WORKERS_MAX];
static struct worker* idle[CPUS_MAX][WORKERS_MAX];
static struct churn churn = {.options = &options, .place = &place, .workers = workers};

static bool failed(const char* what) {
  fprintf(stderr, "serve: %s: %s\n", what, strerror(errno));
  return false;
}

/* How something has gone on that is waited for. */
struct patience {
  uint64_t last;
  uint64_t since_ns; /* 0: it was not looked at yet */
};

/* Waits a moment. Returns false if this number has been the same for too long. */
static bool wait_on(struct patience* patience, uint64_t number) {
  const struct timespec moment = {.tv_nsec = 200000};
  const uint64_t now = clock_ns();

  if (!patience->since_ns || patience->last != number) *patience = (struct patience){number, now};
  nanosleep(&moment, NULL);
  return now - patience->since_ns < options.patience_ns;
}

static bool open_function(void) {
  char folder[512];
  const char* device = options.device;
  int error;

  if (!device) {
    if (!load_function_find(folder, sizeof(folder))) {
      fputs(
          "serve: there is no load function: give the IPU one "
          "(--set ipus[0].endpoint.load_function.present=true), or name its folder (--function)\n",
          stderr);
      return false;
    }
    device = folder;
  }
  error = load_function_open(&place.function, device);
  errno = -error;
  return error ? failed(device) : true;
}

/* What a trial has found: GETs alone, of which one that was lost counts as late. */
struct trial {
  uint64_t late;
  uint64_t measured;
};

static struct trial result_of_trial(void) {
  const struct load_function* function = &place.function;
  const uint64_t lost = load_function_get(function, OAE_LOAD_DROPPED) -
                        load_function_get(function, OAE_LOAD_DROPPED_LONG);
  const uint64_t gets = load_function_get(function, OAE_LOAD_GENERATED) -
                        load_function_get(function, OAE_LOAD_GENERATED_LONG);
  const uint64_t late =
      load_function_get(function, OAE_LOAD_LATE) - load_function_get(function, OAE_LOAD_LATE_LONG);

  return (struct trial){.late = late + lost,
                        .measured = gets > options.load.warm_up ? gets - options.load.warm_up : 0};
}

/* Leaves the class and the CPUs in which serve was started to the workers. */
static bool leave_workers_alone(void) {
  place.policy = sched_getscheduler(0);
  place.cpus = options.worker_cpus ? options.worker_cpus : thread_cpus() & ~options.dispatcher_cpus;
  if (options.workers && !place.cpus) {
    fputs("serve: no CPU is left for the workers: name some (--worker-cpus)\n", stderr);
    return false;
  }
  if (!thread_set_policy(0, SCHED_OTHER)) return failed("the fair class");
  if (!thread_set_cpus(0, options.dispatcher_cpus)) return failed("the dispatchers' CPUs");
  return true;
}

static unsigned ready_workers(void) {
  unsigned ready = 0;

  for (unsigned i = 0; i < options.workers; i++)
    ready += __atomic_load_n(&workers[i].state, __ATOMIC_ACQUIRE) == WORKER_IDLE;
  return ready;
}

static bool start_workers(void) {
  struct patience patience = {0};

  for (unsigned i = 0; i < dispatcher_count; i++) {
    dispatchers[i].pool.place = &place;
    dispatchers[i].idle = idle[i];
    dispatchers[i].idle_size = WORKERS_MAX;
  }
  for (unsigned i = 0; i < options.workers; i++) {
    struct dispatcher* dispatcher = &dispatchers[i % dispatcher_count];
    workers[i].pool = &dispatcher->pool;
    /* It is idle once its thread is ready. */
    workers[i].state = WORKER_LEAVES;
    dispatcher_add(dispatcher, &workers[i]);
    if (!worker_start(&workers[i])) return failed("no thread for a worker");
  }
  while (ready_workers() < options.workers) {
    if (!wait_on(&patience, ready_workers())) {
      fputs("serve: the workers' threads do not run\n", stderr);
      return false;
    }
  }
  return true;
}

static bool start_load(void) {
  void* memory = pinned_memory(options.ring * sizeof(struct request_entry));
  const uint64_t at = memory ? pinned_address(memory) : 0;

  if (!at) return failed("memory for the ring");
  request_ring_init(&dispatching.ring, memory, options.ring);
  place.first = load_function_start(&place.function, &options.load, at, options.ring);
  dispatching.ring.first = place.first;
  if (!place.first) fputs("serve: the function refuses to start\n", stderr);
  return place.first;
}

static uint64_t answers(void) {
  return load_function_get(&place.function, OAE_LOAD_ANSWERED) +
         load_function_get(&place.function, OAE_LOAD_UNKNOWN);
}

/* Waits until all threads of workers have ended. */
static void end_workers(void) {
  struct patience patience = {0};
  uint64_t ended;

  do {
    /* One that is being replaced becomes idle only later. */
    for (unsigned i = 0; i < options.workers; i++) worker_end(&workers[i]);
    ended = __atomic_load_n(&place.ended, __ATOMIC_ACQUIRE);
  } while (ended < __atomic_load_n(&place.begun, __ATOMIC_ACQUIRE) && wait_on(&patience, ended));
}

/* Dispatches until all requests are answered. */
static bool run(void) {
  struct patience patience = {0};
  unsigned started = 0;

  if (!start_load()) return false;
  churn_init(&churn);
  if (options.churn_rate && options.churn_cpu < 0) dispatchers[0].churn = &churn;
  if (options.churn_rate && options.churn_cpu >= 0 && !churn_start(&churn))
    return failed("no thread for churn");
  while (started < dispatcher_count && dispatcher_start(&dispatchers[started])) started++;
  for (unsigned i = 0; i < started; i++) pthread_join(dispatchers[i].thread, NULL);
  while (dispatching.end == DISPATCH_DONE && answers() < request_ring_taken(&dispatching.ring) &&
         wait_on(&patience, answers())) {
  }
  load_function_put(&place.function, OAE_LOAD_CONTROL, 0);
  if (options.churn_rate && options.churn_cpu >= 0) churn_end(&churn);
  end_workers();
  return started == dispatcher_count;
}

/* The device would write on into memory that is no longer the program's. */
static void stop_load(int signal) {
  if (place.function.registers) load_function_put(&place.function, OAE_LOAD_CONTROL, 0);
  _exit(128 + signal);
}

/* Serves. The result is what of it a trial needs to know, or NULL. */
static int serve(struct trial* result) {
  bool good;

  for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
    if (options.dispatcher_cpus >> cpu & 1)
      dispatchers[dispatcher_count++] = (struct dispatcher){.common = &dispatching, .cpu = cpu};
  place.service = options.service;
  if (!leave_workers_alone() || !place.service->open(&options.service_options) || !open_function())
    return exit_failed;
  signal(SIGINT, stop_load);
  signal(SIGTERM, stop_load);
  good = start_workers() && run();
  good &= report(&dispatching, dispatchers, dispatcher_count, &churn);
  if (result) *result = result_of_trial();
  /* Threads may still use the database if some were lost. */
  if (place.begun == place.ended) place.service->close();
  return good ? exit_good : exit_failed;
}

/* Serves requests of this rate in a process of its own. Ends this one if that fails. */
static bool is_in_time(void* context, uint64_t rate) {
  struct trial* result = context;
  pid_t child;
  int status = 0;
  bool in_time;

  *result = (struct trial){0};
  fflush(stdout);
  child = fork();
  if (child < 0) {
    failed("no process for a trial");
    exit(exit_failed);
  }
  if (!child) {
    if (!freopen("/dev/null", "w", stdout)) exit(exit_failed);
    options.load.interval_ps = options_interval(rate);
    options.load.count = options.load.warm_up + saturation_count(&options.saturation, rate);
    exit(serve(result));
  }
  while (waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    failed("a trial is lost");
    exit(exit_failed);
  }
  if (WIFSIGNALED(status))
    fprintf(stderr, "serve: signal %d has ended a trial\n", WTERMSIG(status));
  if (status) exit(WIFEXITED(status) ? WEXITSTATUS(status) : exit_failed);
  in_time = saturation_in_time(result->late, result->measured);
  printf("trial %" PRIu64 " late %" PRIu64 " of %" PRIu64 "\n", rate, result->late,
         result->measured);
  return in_time;
}

static int saturate(void) {
  void* result =
      mmap(NULL, sizeof(struct trial), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  if (result == MAP_FAILED) return failed("memory for a result"), exit_failed;
  printf("saturation %" PRIu64 "\n", saturation_find(&options.saturation, is_in_time, result));
  return exit_good;
}

int main(int argc, char** argv) {
  if (!options_read(argc, argv, sysconf(_SC_NPROCESSORS_CONF), &options)) return exit_usage;
  switch (options.command) {
    case COMMAND_HELP:
      fputs(options_help, stdout);
      return exit_good;
    case COMMAND_FILL:
      return rocksdb_fill(&options.service_options) ? exit_good : exit_failed;
    case COMMAND_SATURATE:
      return saturate();
    default:
      return serve(NULL);
  }
}
