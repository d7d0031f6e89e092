/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the scheduler does when its agent lets a task wait for too long, or when the way to the
 * agent says that it cannot work: tasks take turns, first come, first served, until the agent works
 * again. scheduler.bpf.c includes this file.
 */
#ifndef OAE_SCHED_WATCHDOG_H
#define OAE_SCHED_WATCHDOG_H

#define CHECKS_WITHIN_PATIENCE 4
#define FALLBACK_QUEUE 1
#define FALLBACK_SLICE 1000000

extern u64 oae_sched_liveness(void) __ksym;
extern void oae_sched_give_up(u32 sign, u64 seen) __ksym;
extern void oae_sched_restart(void) __ksym;

/* The fallback is about to begin, has begun, or is about to end. */
static u32 given_up;

/* The fallback has begun, and some tasks are still in custody. */
static volatile u32 stranded;

/* When an agent began anew, ns. What tasks have waited before is not its fault. */
static u64 resumed;

/* The agent's last sign of life, and when it was seen, ns. */
static u64 sign;
static u64 seen;

/* It has not decided since. */
static volatile u32 awaited;

/* The tasks of the agent, by gtid: more than it has room for. The watchdog looks at all places of
 * the table, so that a larger one would keep a CPU busy. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 2048);
  __type(key, u64);
  __type(value, u8);
} managed SEC(".maps");

struct watchdog {
  struct bpf_timer timer;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct watchdog);
} watchdogs SEC(".maps");

static struct task_state* managed_state(u64 gtid, struct task_struct** task) {
  *task = scx_bpf_tid_to_task(gtid);
  return *task ? bpf_task_storage_get(&tasks, *task, NULL, 0) : NULL;
}

struct wait {
  u64 now;
  u64 longest; /* that a task has waited for a decision */
};

static long find_longest(struct bpf_map* map, u64* gtid, u8* value, struct wait* wait) {
  struct task_struct* p;
  struct task_state* state = managed_state(*gtid, &p);
  u64 since;

  if (!state || !state->custody) return 0;
  since = state->since > resumed ? state->since : resumed;
  if (wait->now > since && wait->now - since > wait->longest) wait->longest = wait->now - since;
  return 0;
}

static u64 longest_wait(void) {
  struct wait wait = {.now = bpf_ktime_get_ns()};

  bpf_for_each_map_elem(&managed, find_longest, &wait, 0);
  return wait.longest;
}

static void kick_all(void) {
  int cpu;

  bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) scx_bpf_kick_cpu(cpu, 0);
}

static bool is_silent(void) {
  const u64 now = bpf_ktime_get_ns();
  const u64 liveness = oae_sched_liveness();

  if (liveness && liveness != sign) {
    sign = liveness;
    seen = now;
  }
  return now - (seen > resumed ? seen : resumed) > settings.patience;
}

/* The time slices that the agent's decisions have given never end. */
static void end_slices(void) {
  int cpu;

  bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
    scx_bpf_kick_cpu(cpu, cpu_at(cpu)->use == USE_OURS ? SCX_KICK_PREEMPT : 0);
  }
}

/* The record of the last fallback. */
static struct fallback* last_fallback(void) {
  return &counts.fallback[(counts.fallbacks - 1) % FALLBACKS_TOLD];
}

static void fall_back(u32 by, u64 noticed, u64 waited) {
  struct fallback* record;

  if (__sync_lock_test_and_set(&given_up, 1)) return;
  oae_sched_give_up(by, noticed); /* in the trace, it precedes all that is done without the agent */
  __sync_lock_test_and_set(&fallback, 1);
  stranded = 1;
  awaited = 0;
  counts.fallbacks++;
  record = last_fallback();
  record->sign = by;
  record->noticed = noticed;
  record->begun = bpf_ktime_get_ns();
  record->waited = waited;
  record->resumed = record->decided = record->undelivered = 0;
  oae_sched_restart();
  end_slices();
}

static void look(void) {
  const bool by_liveness = settings.watchdog == WATCHDOG_BY_LIVENESS;
  const u64 waited = longest_wait();

  if (by_liveness ? is_silent() : waited > settings.patience)
    fall_back(by_liveness ? OAE_SCHED_LIFELESS : OAE_SCHED_WATCHDOG, bpf_ktime_get_ns(), waited);
}

/* It stays on its CPU: a look at all tasks takes that from whatever runs there. */
static long look_later(struct watchdog* watchdog) {
  return bpf_timer_start(&watchdog->timer, settings.patience / CHECKS_WITHIN_PATIENCE,
                         BPF_F_TIMER_CPU_PIN);
}

static int watch(void* map, u32* key, struct watchdog* watchdog) {
  if (!fallback) look();
  look_later(watchdog);
  return 0;
}

static struct watchdog* the_watchdog(void) {
  const u32 first = 0;

  return bpf_map_lookup_elem(&watchdogs, &first);
}

static s32 prepare_watchdog(void) {
  struct watchdog* watchdog = the_watchdog();

  if (!watchdog) return -2;
  bpf_timer_init(&watchdog->timer, &watchdogs, 1 /* CLOCK_MONOTONIC */);
  return bpf_timer_set_callback(&watchdog->timer, watch);
}

/* The loader of the scheduler calls this on the CPU that is to run the watchdog. The kernel calls
 * `init` on a CPU of its own choice. */
SEC("syscall")
int start_watchdog(void* unused) {
  struct watchdog* watchdog = the_watchdog();

  if (!watchdog) return -2;
  seen = bpf_ktime_get_ns();
  return look_later(watchdog);
}

/* Wakes an idle CPU that may run the task. */
static void kick_idle(struct task_struct* p) {
  int cpu;

  bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
    if (cpu_at(cpu)->use == USE_IDLE && p->cpus_ptr->bits[0] >> (cpu & 63) & 1) {
      scx_bpf_kick_cpu(cpu, 0);
      return;
    }
  }
}

static void enqueue_in_fallback(struct task_struct* p, u64 flags) {
  scx_bpf_dsq_insert___v2___own(p, FALLBACK_QUEUE, FALLBACK_SLICE, flags);
  kick_idle(p);
}

static long insert_stranded(struct bpf_map* map, u64* gtid, u8* value, bool* more) {
  struct task_struct* p;
  struct task_state* state = managed_state(*gtid, &p);

  if (!state || !state->custody) return 0;
  if (!scx_bpf_dispatch_nr_slots()) {
    *more = true;
    return 1;
  }
  if (__sync_lock_test_and_set(&state->custody, 0))
    scx_bpf_dsq_insert___v2___own(p, FALLBACK_QUEUE, FALLBACK_SLICE, 0);
  return 0;
}

static void dispatch_in_fallback(void) {
  bool more = false;

  if (stranded) {
    bpf_for_each_map_elem(&managed, insert_stranded, &more, 0);
    stranded = more;
  }
  scx_bpf_dsq_move_to_local___v2___own(FALLBACK_QUEUE, 0);
}

/* Runs a task that has been waiting for its turn since the fallback. */
static bool run_leftover(void) {
  if (!counts.fallbacks || scx_bpf_dsq_nr_queued(FALLBACK_QUEUE) <= 0) return false;
  return scx_bpf_dsq_move_to_local___v2___own(FALLBACK_QUEUE, 0);
}

/* An agent that knows nothing learns of a task. What the task does from now on has a later number.
 */
static long introduce(struct bpf_map* map, u64* gtid, u8* value, void* unused) {
  struct task_struct* p;
  struct task_state* state = managed_state(*gtid, &p);
  u32 barrier;

  if (!state) return 0;
  barrier = send_new(p, state);
  /* The agent could not preempt a task of which it does not know that it runs. A task that begins
   * or ceases to run from now on says so, too, and its message has a later number. */
  if (*(volatile bool*)&state->running &&
      __sync_bool_compare_and_swap(&state->barrier, barrier, barrier + 1))
    send_on_cpu(p, scx_bpf_task_cpu(p), barrier + 1);
  return 0;
}

/* The module calls this function when the way to the agent has failed. */
SEC("fentry/oae_sched_alarm")
int BPF_PROG(alarm, u32 by, u64 time) {
  if (settings.patience && !fallback) fall_back(by, time, longest_wait());
  return 0;
}

/* The module calls this function when the agent has begun anew. */
SEC("fentry/oae_sched_resume")
int BPF_PROG(resume, u64 undelivered) {
  struct fallback* record = last_fallback();
  int cpu;

  resumed = bpf_ktime_get_ns();
  record->resumed = resumed;
  record->undelivered = undelivered;
  record->decided = 0;
  awaited = 1;
  fallback = 0;
  given_up = 0; /* not before that, which would end the next fallback, too */
  bpf_for_each_map_elem(&managed, introduce, NULL, 0);
  bpf_for(cpu, 0, scx_bpf_nr_cpu_ids()) {
    if (cpu_at(cpu)->use == USE_IDLE) send_about_cpu(cpu, GHOST_AVAILABLE);
  }
  kick_all(); /* for tasks whose turn has not come */
  return 0;
}

/* The agent has decided. */
static void note_decision(void) {
  if (__sync_lock_test_and_set(&awaited, 0)) last_fallback()->decided = bpf_ktime_get_ns();
}

#endif
