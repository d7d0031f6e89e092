// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "channel.h"
#include "options.h"
#include "report.h"
#include "scheduler.h"
#include "trace.h"

#ifndef SCHED_EXT
#define SCHED_EXT 7
#endif

enum { exit_failed = 125, exit_usage = 126, exit_no_command = 127 };

static struct agent agent;
static struct port_counts port_counts;
static atomic_bool stopping; /* nothing is scheduled any more */
static pthread_mutex_t attached = PTHREAD_MUTEX_INITIALIZER;
static uint64_t detached_ns; /* when the scheduler was about to be detached; 0: not yet */

static int failed(const char* what, int error) {
  fprintf(stderr, "schedule: %s: %s\n", what, strerror(error));
  return exit_failed;
}

static void detach(struct scheduler* scheduler) {
  struct timespec now;

  pthread_mutex_lock(&attached);
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (!detached_ns) detached_ns = (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  scheduler_detach(scheduler);
  pthread_mutex_unlock(&attached);
}

static void* run_agent(void* scheduler) {
  while (!agent.counts.failed && !atomic_load(&stopping)) {
    agent_work(&agent);
    channel_show_life(agent.channel->context, agent.counts.rounds);
    __builtin_ia32_pause();
  }
  while (!agent.counts.failed && agent_wind_up(&agent)) __builtin_ia32_pause();
  if (agent.counts.failed) detach(scheduler);
  return NULL;
}

static int start_agent(pthread_t* thread, unsigned cpu, struct scheduler* scheduler) {
  const struct sched_param parameters = {.sched_priority = 1};
  pthread_attr_t attributes;
  cpu_set_t set;
  int error;

  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
  /* Tasks of the fair class would take turns with the agent. */
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &parameters);
  error = pthread_create(thread, &attributes, run_agent, scheduler);
  pthread_attr_destroy(&attributes);
  return error;
}

static pid_t start_command(const struct options* options) {
  const struct sched_param parameters = {.sched_priority = 0};
  char** command = options->command;
  const pid_t child = fork();
  cpu_set_t set;

  if (child) return child;
  CPU_ZERO(&set);
  for (unsigned cpu = 0; cpu < POLICY_CPUS; cpu++)
    if (options->policy.cpus >> cpu & 1) CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_EXT, &parameters)) {
    failed("the command cannot be scheduled by the agent", errno);
    _exit(exit_failed);
  }
  execvp(*command, command);
  fprintf(stderr, "schedule: %s: %s\n", *command, strerror(errno));
  _exit(exit_no_command);
}

/* Returns the exit code of the command. */
static int run_command(const struct options* options) {
  const pid_t child = start_command(options);
  int status;

  if (child < 0) return failed("no process for the command", errno);
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return failed("the command is lost", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The CPU that is to run the watchdog, which keeps it from its tasks at times. So it is one that
 * runs neither threads of the command nor the agent, if this program may use such a CPU. */
static unsigned watchdog_cpu(const struct options* options) {
  const uint64_t threads = options->policy.cpus;
  const uint64_t agent = options->transport ? 0 : UINT64_C(1) << options->agent_cpu;
  uint64_t usable = 0, chosen;
  cpu_set_t set;

  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  for (unsigned cpu = 0; cpu < POLICY_CPUS; cpu++)
    if (CPU_ISSET(cpu, &set)) usable |= UINT64_C(1) << cpu;
  chosen = usable & ~threads & ~agent ?: usable & ~threads ?: usable;
  return chosen ? (unsigned)__builtin_ctzll(chosen) : 0;
}

/* Attaches a scheduler that is loaded. */
static int attach(struct scheduler* scheduler, const struct options* options) {
  int error;

  pthread_mutex_lock(&attached);
  error = scheduler_attach(scheduler);
  pthread_mutex_unlock(&attached);
  if (error) return failed("the scheduler cannot be attached", -error);
  error = options->settings.patience ? scheduler_watch(scheduler, watchdog_cpu(options)) : 0;
  return error ? failed("the watchdog cannot be started", -error) : 0;
}

/* Runs the command under a scheduler that is loaded. The agent is there. */
static int attach_and_run(struct scheduler* scheduler, const struct options* options) {
  const int code = attach(scheduler, options) ?: run_command(options);

  detach(scheduler);
  return code;
}

/* The agent is a thread of this process. */
static int schedule_here(struct scheduler* scheduler, struct channel* channel,
                         const struct options* options, struct agent_counts* counts) {
  const struct agent_channel way = channel_of_agent(channel);
  pthread_t thread;
  int code, error;

  if (!agent_init(&agent, &way, &options->policy)) return failed("the policy", EINVAL);
  error = start_agent(&thread, options->agent_cpu, scheduler);
  if (error) return failed("no thread for the agent", error);
  code = attach_and_run(scheduler, options);
  atomic_store(&stopping, true);
  pthread_join(thread, NULL);
  *counts = agent.counts;
  return code;
}

/* The agent is firmware. */
static int schedule_elsewhere(struct scheduler* scheduler, struct channel* channel,
                              const struct options* options, struct agent_counts* counts) {
  int code, error;

  error = channel_start(channel, options->transport, &options->policy);
  if (error) return failed(options->transport, -error);
  code = attach_and_run(scheduler, options);
  error = channel_finish(channel, counts, &port_counts);
  return error ? failed("the agent does not end", -error) : code;
}

int main(int argc, char** argv) {
  struct options options;
  struct channel channel;
  struct scheduler scheduler;
  struct agent_counts agent_counts = {0};
  struct counts counts;
  int code, error;

  if (!options_read(argc, argv, sysconf(_SC_NPROCESSORS_CONF), &options)) return exit_usage;
  if (options.help) {
    fputs(options_help, stdout);
    return 0;
  }
  error = channel_open(&channel);
  if (error) return failed("/dev/oae_sched", -error);
  error = options.trace ? trace_begin(&channel, options.records) : 0;
  if (error) return failed("the trace cannot begin", -error);
  error = scheduler_load(&scheduler, &options.settings);
  if (error) return failed("the scheduler cannot be loaded", -error);
  code = (options.transport ? schedule_elsewhere : schedule_here)(&scheduler, &channel, &options,
                                                                  &agent_counts);
  error = scheduler_counts(&scheduler, &counts);
  if (error)
    code = failed("the scheduler's counts", -error);
  else if (!report(&counts, &agent_counts, &port_counts))
    code = exit_failed;
  if (!error && options.trace &&
      !trace_write(&channel, &options, detached_ns, &counts, &agent_counts, &port_counts))
    code = exit_failed;
  scheduler_unload(&scheduler);
  channel_close(&channel);
  return code;
}
