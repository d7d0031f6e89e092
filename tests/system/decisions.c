// SPDX-License-Identifier: Apache-2.0
/*
 * An agent without a policy, on CPU 0. It asks CPU 1 to run one task, rightly and wrongly, and
 * compares how that ends with what it has to be. `decisions owner` does so by that rule.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "channel.h"
#include "scheduler.h"

#define SCHED_EXT 7
#define WAIT_NS 1000000000

static struct channel channel;
static struct agent_channel way;
static struct scheduler scheduler;
static struct settings settings = {.rule = RULE_BARRIER};

/* What messages have said of the task, and of the CPUs. */
static uint64_t gtid;
static uint32_t barrier;
static unsigned last_type;
static bool idle[OAE_SCHED_CPUS];

/* The task sleeps until it is told to spin, and spins until it is told to sleep. */
static atomic_int spinning;
static atomic_bool over;
static atomic_int task_id;
static atomic_bool fair_spins;

static void fail(const char* format, ...) {
  va_list arguments;

  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  scheduler_detach(&scheduler); /* the task could not end otherwise */
  exit(1);
}

static uint64_t now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void pin(unsigned cpu) {
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set)) fail("CPU %u cannot be had", cpu);
}

static atomic_bool fair_runs;

static void* run_fair(void* cpu) {
  pin((unsigned)(intptr_t)cpu);
  fair_runs = true;
  while (fair_spins) {
  }
  return NULL;
}

static void set_class(int policy) {
  const struct sched_param parameters = {.sched_priority = 0};

  if (sched_setscheduler(0, policy, &parameters)) fail("the class of policy %d is refused", policy);
}

/* Joins the agent's class on a CPU that a task of a higher class wants. */
static void join_agent(void) {
  pthread_t fair;

  fair_spins = true;
  if (pthread_create(&fair, NULL, run_fair, (void*)1)) fail("no thread");
  while (!fair_runs) {
  }
  set_class(SCHED_EXT);
  pthread_join(fair, NULL);
}

static void* run_task(void* unused) {
  task_id = gettid();
  pin(1);
  join_agent();
  while (!over) {
    syscall(SYS_futex, &spinning, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    while (spinning) {
    }
  }
  return unused;
}

static void set_spinning(bool on) {
  spinning = on;
  syscall(SYS_futex, &spinning, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void receive(void) {
  struct ghost_message message;
  uint64_t time;

  for (unsigned cpu = 0; cpu < channel.info.cpus; cpu++) {
    while (way.receive(&channel, cpu, &message, &time)) {
      const unsigned type = message.header.type;
      if (type == GHOST_AVAILABLE || type == GHOST_BUSY)
        idle[message.cpu.cpu] = type == GHOST_AVAILABLE;
      if (type >= GHOST_TICK) continue;
      if (gtid && message.gtid != gtid) fail("a message of type %u is about another task", type);
      gtid = message.gtid;
      if ((int32_t)(message.header.sequence - barrier) <= 0) continue;
      barrier = message.header.sequence;
      last_type = type;
    }
  }
}

/* Waits for a message about the task. */
static void expect_message(unsigned type) {
  const uint64_t begin = now_ns();

  while (last_type != type) {
    receive();
    if (now_ns() - begin > WAIT_NS) fail("no message of type %u, but %u", type, last_type);
  }
}

static void expect_idle(unsigned cpu, bool expected) {
  const uint64_t begin = now_ns();

  while (idle[cpu] != expected) {
    receive();
    if (now_ns() - begin > WAIT_NS)
      fail("CPU %u: no message that it is %s", cpu, expected ? "idle" : "busy");
  }
}

static struct oae_sched_slot* slot_of(unsigned cpu) {
  return (struct oae_sched_slot*)(channel.memory + (size_t)cpu * channel.info.area_bytes);
}

static void kick(unsigned cpu) {
  if (!way.kick(&channel, UINT64_C(1) << cpu, 0)) fail("CPU %u cannot be kicked", cpu);
}

static bool has_ended(unsigned cpu) {
  return way.ended(&channel) >> cpu & 1;
}

static void expect_end(const char* what, unsigned cpu, enum ghost_state expected) {
  const uint64_t begin = now_ns();
  enum ghost_state state;
  uint64_t time;

  while (!has_ended(cpu))
    if (now_ns() - begin > WAIT_NS) fail("%s: the decision does not end", what);
  way.outcome(&channel, cpu, &state, &time);
  if (state != expected)
    fail("%s: it ends as %d and not as %d", what, state - GHOST_COMPLETE,
         expected - GHOST_COMPLETE);
  if (expected != GHOST_ABORTED && (time < begin - WAIT_NS || time > now_ns()))
    fail("%s: the time of its end is wrong", what);
}

/* A decision for the task with one field of it changed. */
static void expect_changed(const char* what, size_t offset, size_t size, uint64_t value,
                           enum ghost_state expected) {
  struct oae_sched_slot slot = {
      .version = GHOST_VERSION, .cpu = 1, .gtid = gtid, .task_barrier = barrier};

  memcpy((char*)&slot + offset, &value, size);
  slot.state = slot_of(1)->state;
  *slot_of(1) = slot;
  __atomic_store_n(&slot_of(1)->state, GHOST_READY, __ATOMIC_RELEASE);
  kick(1);
  expect_end(what, 1, expected);
}

#define CHANGED(field, value, expected)                          \
  expect_changed(#field, offsetof(struct oae_sched_slot, field), \
                 sizeof(((struct oae_sched_slot*)0)->field), (value), (expected))

static void decide(unsigned cpu, uint64_t task, uint32_t seen) {
  const struct decision decision = {.cpu = cpu, .gtid = task, .barrier = seen};

  way.decide(&channel, &decision);
}

static void expect_decided(const char* what, unsigned cpu, uint32_t seen,
                           enum ghost_state expected) {
  decide(cpu, gtid, seen);
  kick(cpu);
  expect_end(what, cpu, expected);
}

/* Lets the waiting task run on CPU 0, too. It is dequeued and enqueued for that. */
static void change_task(void) {
  const uint32_t before = barrier;
  const uint64_t begin = now_ns();
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET(0, &set);
  CPU_SET(1, &set);
  if (sched_setaffinity(task_id, sizeof(set), &set)) fail("the task cannot be changed");
  while (barrier != before + 2) {
    receive();
    if (now_ns() - begin > WAIT_NS)
      fail("no two messages about a change, but %u", barrier - before);
  }
  if (last_type != GHOST_WAKEUP) fail("a change ends with a message of type %u", last_type);
}

/* The task began on CPU 1 by itself. It may have lost that CPU before it slept. */
static void wait_for_sleep(void) {
  const uint64_t begin = now_ns();

  while (last_type != GHOST_BLOCKED || !has_ended(1)) {
    receive();
    if (now_ns() - begin > WAIT_NS) fail("the task does not sleep: %u", last_type);
    if (last_type != GHOST_PREEMPT || !has_ended(1)) continue;
    decide(1, gtid, barrier);
    kick(1);
  }
}

/* Whether the task that runs on CPU 1 keeps that CPU when a decision to preempt it is refused. If
 * not, it runs again, since a thread of the kernel may have come at the same moment. */
static bool keeps_cpu(void) {
  decide(1, gtid + 1000000, 0);
  if (!way.kick(&channel, 2, 2)) fail("CPU 1 cannot be preempted");
  expect_end("a preemption for a task that is gone", 1, GHOST_TARGET_NOT_FOUND);
  for (const uint64_t begin = now_ns(); now_ns() - begin < WAIT_NS / 1000;) receive();
  if (last_type == GHOST_ON_CPU) return true;
  expect_message(GHOST_PREEMPT);
  expect_idle(1, true);
  expect_decided("the same task again", 1, barrier, GHOST_COMPLETE);
  expect_message(GHOST_ON_CPU);
  return false;
}

static void check_decisions(void) {
  const bool owner = settings.rule == RULE_OWNER;
  pthread_t task, fair;
  uint32_t before;

  if (pthread_create(&task, NULL, run_task, NULL)) fail("no thread");
  /* The task must not wait unseen for a CPU that the agent has not given it. */
  expect_message(GHOST_PREEMPT);
  expect_idle(1, false);
  fair_spins = false;
  expect_idle(1, true);
  wait_for_sleep();
  expect_decided("a task that sleeps", 1, barrier, GHOST_TARGET_NOT_RUNNABLE);
  expect_decided("an old barrier", 1, barrier - 1,
                 owner ? GHOST_TARGET_NOT_RUNNABLE : GHOST_TARGET_STALE);

  set_spinning(true);
  expect_message(GHOST_WAKEUP);
  CHANGED(version, GHOST_VERSION + 1, GHOST_UNSUPPORTED_VERSION);
  CHANGED(cpu, 2, GHOST_INVALID_CPU);
  CHANGED(run_flags, 1, GHOST_INVALID_FLAGS);
  CHANGED(commit_flags, 1, GHOST_INVALID_FLAGS);
  CHANGED(gtid, gtid + 1000000, GHOST_TARGET_NOT_FOUND);
  CHANGED(gtid, 1, GHOST_TARGET_NOT_FOUND); /* a task that is not the agent's */
  CHANGED(gtid, 0, GHOST_TARGET_NOT_FOUND);
  CHANGED(task_barrier, barrier + 1, GHOST_TARGET_STALE);
  CHANGED(task_barrier, barrier - 1, GHOST_TARGET_STALE); /* from before the task slept */
  expect_idle(2, true);
  /* The kernel would end the scheduler if it inserted the task there. */
  expect_decided("a CPU that the task's mask forbids", 2, barrier, GHOST_INVALID_TARGET);

  /* Without a kick, an idle CPU does not look. */
  decide(1, gtid, barrier);
  way.withdraw(&channel, 1);
  expect_end("a decision that is withdrawn", 1, GHOST_ABORTED);

  before = barrier;
  change_task();
  if (!owner) {
    expect_decided("a barrier from before a change", 1, before, GHOST_TARGET_STALE);
    before = barrier;
  }
  expect_decided("a right decision", 1, before, GHOST_COMPLETE);
  expect_message(GHOST_ON_CPU);
  expect_idle(2, true);
  expect_decided("a task that runs", 2, barrier, GHOST_TARGET_ONCPU);
  if (slot_of(1)->cpu_sequence + 1 == 0) fail("no sequence of the CPU");

  for (int tries = 0; !keeps_cpu();)
    if (++tries == 3) fail("the task has lost its CPU: %u", last_type);

  fair_spins = true;
  if (pthread_create(&fair, NULL, run_fair, (void*)2)) fail("no thread");
  expect_idle(2, false);
  expect_decided("a CPU that is busy", 2, barrier, GHOST_CPU_UNAVAIL);
  fair_spins = false;
  pthread_join(fair, NULL);

  if (way.kick(&channel, 1, 2) || way.kick(&channel, UINT64_C(1) << 63, 0))
    fail("wrong kicks are accepted");

  over = true;
  set_spinning(false);
  pthread_join(task, NULL);
  expect_message(GHOST_DEAD);
  expect_decided("a task that is dead", 1, barrier, GHOST_TARGET_NOT_FOUND);
}

int main(int argc, char** argv) {
  struct counts counts;

  if (argc > 1 && strcmp(argv[1], "owner") == 0) settings.rule = RULE_OWNER;
  pin(0);
  if (channel_open(&channel)) fail("no device");
  way = channel_of_agent(&channel);
  if (channel_open(&(struct channel){0}) == 0) fail("the device can be opened twice");
  if (scheduler_load(&scheduler, &settings) || scheduler_attach(&scheduler)) fail("no scheduler");
  check_decisions();
  scheduler_detach(&scheduler);
  if (scheduler_counts(&scheduler, &counts)) fail("no counts");
  if (counts.reason[0] || counts.lost || counts.errors)
    fail("the scheduler ended: %s", counts.reason);
  puts("good");
  return 0;
}
