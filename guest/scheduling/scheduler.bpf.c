// SPDX-License-Identifier: GPL-2.0
/*
 * A scheduler that decides nothing. It says in ghOSt's messages what tasks and CPUs do, and lets
 * CPUs run what an agent decides. README.md has the table of callbacks and messages.
 *
 * A task is in custody from its enqueueing until it runs or is dequeued. Only then can a decision
 * for it be carried out.
 */
/* The kernel's types come first. */
/* clang-format off */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
/* clang-format on */

#include "counts.h"
#include "linux/oae_sched.h"
#include "settings.h"

char LICENSE[] SEC("license") = "GPL";

extern bool oae_sched_send(const struct ghost_message* message) __ksym;
extern void oae_sched_withhold(const struct ghost_message* message) __ksym;
extern const struct oae_sched_slot* oae_sched_claim(u32 cpu) __ksym;
extern void oae_sched_finish(u32 cpu, s32 state, u64 cpu_sequence) __ksym;
extern void oae_sched_prefetch(u32 cpu, u64 gtid) __ksym;
extern void oae_sched_idle(u32 cpu, bool idle) __ksym;

/* libbpf takes what follows the last three underscores off a name. */
extern bool scx_bpf_dsq_insert___v2___own(struct task_struct* p, u64 queue, u64 slice,
                                          u64 flags) __ksym;
extern bool scx_bpf_dsq_move_to_local___v2___own(u64 queue, u64 flags) __ksym;

#define TASK_DEAD 0x80

enum cpu_use {
  USE_UNKNOWN,
  USE_IDLE,
  USE_SOON_OURS, /* it has left idleness for a task of ours */
  USE_OURS,
  USE_OTHERS, /* with a task of a higher class, as the agent was told */
};

struct cpu_state {
  u64 sequence; /* of the tasks that it has switched to */
  u32 barrier;
  u32 use;     /* enum cpu_use */
  u32 latched; /* it is about to run a task of ours */
};

struct task_state {
  u32 barrier;
  u32 latched; /* 1 + the CPU that is about to run it */
  u64 cpus;
  s32 nice;
  u64 since; /* in custody */
  u32 custody;
  u32 owned_from; /* number of the message by which the agent got the task, */
  bool owned;     /* which has waited since, and at most was changed */
  bool managed;
  bool runnable; /* as the last message about it says */
  bool running;
  bool left;    /* it left its CPU and can run */
  bool yielded; /* by itself */
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct task_state);
} tasks SEC(".maps");

static struct cpu_state cpus[OAE_SCHED_CPUS];

struct counts counts SEC(".bss.counts");

/* The loader sets them. */
const volatile struct settings settings SEC(".rodata.settings") = {0};

static struct task_state* state_of(struct task_struct* p) {
  struct task_state* state = bpf_task_storage_get(&tasks, p, NULL, 0);

  if (!state) __sync_fetch_and_add(&counts.errors, 1);
  return state;
}

static struct cpu_state* cpu_at(u32 cpu) {
  return &cpus[cpu & (OAE_SCHED_CPUS - 1)];
}

static s32 nice_of(const struct task_struct* p) {
  return p->static_prio - 120;
}

/* Nobody decides: messages are not sent, and slots not looked at. */
static volatile u32 fallback;

static void send(struct ghost_message* message, u32 type, u32 sequence) {
  const u32 index = ghost_type_index(type);

  message->header.type = type;
  message->header.length = ghost_length(type);
  message->header.sequence = sequence;
  if (index >= GHOST_TYPES) return;
  if (fallback) {
    oae_sched_withhold(message);
    return;
  }
  __sync_fetch_and_add(oae_sched_send(message) ? &counts.sent[index] : &counts.lost, 1);
}

/* The next number of the task. What was written before is seen by all who see this number. */
static u32 next_barrier(struct task_state* state) {
  return __sync_fetch_and_add(&state->barrier, 1) + 1;
}

static void send_about_cpu(u32 cpu, u32 type) {
  struct ghost_message message = {};

  message.cpu.cpu = cpu;
  send(&message, type, __sync_fetch_and_add(&cpu_at(cpu)->barrier, 1) + 1);
}

static void finish(u32 cpu, s32 state) {
  const u32 index = ghost_outcome_index(state);

  oae_sched_finish(cpu, state, cpu_at(cpu)->sequence);
  if (index < GHOST_OUTCOMES) __sync_fetch_and_add(&counts.outcomes[index], 1);
}

/* Refuses a decision for a CPU that runs tasks of a higher class. */
static void refuse(u32 cpu) {
  if (oae_sched_claim(cpu)) finish(cpu, GHOST_CPU_UNAVAIL);
}

/* The agent's decision for the CPU is refused here, or, if it is written after that, by the kick
 * that follows it. A CPU that begins to idle need not pay for a call. */
static __always_inline void become_busy(u32 cpu) {
  if (__sync_lock_test_and_set(&cpu_at(cpu)->use, USE_OTHERS) == USE_OTHERS) return;
  send_about_cpu(cpu, GHOST_BUSY);
  refuse(cpu);
}

/* A CPU was about to run the task, and now is not. Returns whether that was so. It seldom is, so
 * this is not copied into enqueue(). */
static __noinline bool unlatch(struct task_state* state) {
  const u32 latched = __sync_lock_test_and_set(&state->latched, 0);
  struct cpu_state* at = cpu_at(latched - 1);

  if (!latched) return false;
  at->latched = 0;
  if (at->use == USE_SOON_OURS) become_busy(latched - 1);
  return true;
}

static void send_left(struct task_struct* p, u32 type, u32 barrier, bool was_latched) {
  struct ghost_message message = {};
  const u32 cpu = scx_bpf_task_cpu(p);

  message.preempt.gtid = p->scx.tid;
  message.preempt.runtime = p->se.sum_exec_runtime;
  message.preempt.cpu_sequence = cpu_at(cpu)->sequence;
  message.preempt.cpu = cpu;
  message.preempt.was_latched = was_latched;
  send(&message, type, barrier);
}

static void send_wakeup(struct task_struct* p, u32 barrier) {
  struct ghost_message message = {};

  message.wakeup.gtid = p->scx.tid;
  message.wakeup.last_cpu = scx_bpf_task_cpu(p);
  message.wakeup.wakeup_cpu = message.wakeup.last_cpu;
  message.wakeup.waker_cpu = bpf_get_smp_processor_id();
  send(&message, GHOST_WAKEUP, barrier);
}

/* Returns the message's number. */
static u32 send_new(struct task_struct* p, struct task_state* state) {
  struct ghost_message message = {};
  const u32 barrier = next_barrier(state);

  message.task_new.gtid = p->scx.tid;
  message.task_new.parent_gtid = p->real_parent->scx.tid;
  message.task_new.runtime = p->se.sum_exec_runtime;
  message.task_new.runnable = *(volatile bool*)&state->runnable;
  message.task_new.nice = state->nice;
  message.task_new.cpus = state->cpus;
  send(&message, GHOST_NEW, barrier);
  return barrier;
}

static void send_on_cpu(struct task_struct* p, u32 cpu, u32 barrier) {
  struct ghost_message message = {};

  message.on_cpu.gtid = p->scx.tid;
  message.on_cpu.commit_time = bpf_ktime_get_ns();
  message.on_cpu.cpu_sequence = cpu_at(cpu)->sequence;
  message.on_cpu.cpu = cpu;
  send(&message, GHOST_ON_CPU, barrier);
}

#include "watchdog.bpf.h"

/* Without this callback, the kernel would choose a CPU and let it run the task at once. */
SEC("struct_ops/select_cpu")
s32 BPF_PROG(select_cpu, struct task_struct* p, s32 last_cpu, u64 flags) {
  return last_cpu;
}

SEC("struct_ops/enqueue")
void BPF_PROG(enqueue, struct task_struct* p, u64 flags) {
  struct task_state* state = state_of(p);
  u32 barrier;
  bool was_latched;

  if (!state) return;
  state->runnable = true;
  barrier = next_barrier(state); /* so that a CPU that latches the task from now on sees it */
  was_latched = unlatch(state);
  /* A task that was about to run is given back. One that has waited since is only changed. */
  if (!state->owned || was_latched) state->owned_from = barrier;
  state->owned = true;
  if (flags & SCX_ENQ_WAKEUP || (!state->left && !was_latched))
    send_wakeup(p, barrier);
  else
    send_left(p, state->yielded ? GHOST_YIELD : GHOST_PREEMPT, barrier, was_latched);
  state->left = state->yielded = false;
  state->since = bpf_ktime_get_ns();
  /* Either the fallback begins before this and is seen below, or it finds the task in custody. */
  __sync_lock_test_and_set(&state->custody, 1);
  if (fallback && __sync_lock_test_and_set(&state->custody, 0)) enqueue_in_fallback(p, flags);
}

/*
 * Whether the agent has owned the task since the message that the decision names, and this CPU is
 * still about to run it. This is read after the custody. If the task is enqueued anew after that,
 * the CPU is unlatched before it looks here, or the kernel drops the insertion.
 */
static bool is_owned_since(const struct task_state* state, u32 barrier, u32 cpu) {
  const u32 from = *(volatile u32*)&state->owned_from;

  return (s32)(barrier - from) >= 0 && (s32)(*(volatile u32*)&state->barrier - barrier) >= 0 &&
         *(volatile u32*)&state->latched == cpu + 1;
}

/* Why a decision cannot be carried out, or COMPLETE if it can. */
static s32 check(const struct oae_sched_slot* decision, struct task_struct* p,
                 struct task_state* state, u32 cpu) {
  if (!state->managed) return GHOST_TARGET_STALE;
  if (settings.rule == RULE_BARRIER && *(volatile u32*)&state->barrier != decision->task_barrier)
    return GHOST_TARGET_STALE;
  if (state->running) return GHOST_TARGET_ONCPU;
  if (!*(volatile u32*)&state->custody) return GHOST_TARGET_NOT_RUNNABLE;
  if (settings.rule == RULE_OWNER && !is_owned_since(state, decision->task_barrier, cpu))
    return GHOST_TARGET_STALE;
  if (!(p->cpus_ptr->bits[0] >> cpu & 1) || (p->migration_disabled && scx_bpf_task_cpu(p) != cpu))
    return GHOST_INVALID_TARGET;
  return GHOST_COMPLETE;
}

/*
 * Inserts the task first, since the kernel silently drops an insertion if the task was dequeued
 * after it. What happened before is found by the check that follows.
 */
static s32 commit(const struct oae_sched_slot* decision, u32 cpu) {
  struct task_struct* p;
  struct task_state* state;
  s32 end;

  if (decision->version != GHOST_VERSION) return GHOST_UNSUPPORTED_VERSION;
  if (decision->cpu != cpu) return GHOST_INVALID_CPU;
  if (decision->run_flags || decision->commit_flags) return GHOST_INVALID_FLAGS;
  p = scx_bpf_tid_to_task(decision->gtid);
  if (!p) return GHOST_TARGET_NOT_FOUND;
  state = bpf_task_storage_get(&tasks, p, NULL, 0);
  if (!state || !state->barrier) return GHOST_TARGET_NOT_FOUND;
  /* The other CPU may refuse its decision as stale, of which no message about the task tells. */
  if (__sync_val_compare_and_swap(&state->latched, 0, cpu + 1)) return GHOST_AGENT_STALE;
  if (!scx_bpf_dsq_insert___v2___own(p, SCX_DSQ_LOCAL, SCX_SLICE_INF, SCX_ENQ_IMMED)) {
    __sync_val_compare_and_swap(&state->latched, cpu + 1, 0);
    return GHOST_CPU_UNAVAIL;
  }
  cpu_at(cpu)->latched = 1; /* before the check: a change after it takes this back */
  end = check(decision, p, state, cpu);
  if (end != GHOST_COMPLETE) {
    cpu_at(cpu)->latched = 0;
    scx_bpf_dispatch_cancel();
    __sync_val_compare_and_swap(&state->latched, cpu + 1, 0);
  }
  return end;
}

SEC("struct_ops/dispatch")
void BPF_PROG(dispatch, s32 cpu, struct task_struct* last) {
  const struct oae_sched_slot* decision;
  struct task_state* state;
  s32 end;

  cpu_at(cpu)->latched = 0;
  if (fallback) {
    dispatch_in_fallback();
    return;
  }
  if (run_leftover()) return;
  decision = oae_sched_claim(cpu);
  if (decision) {
    end = commit(decision, cpu);
    finish(cpu, end);
    if (end == GHOST_COMPLETE) {
      if (awaited) note_decision();
      return;
    }
  }
  if (!last || !(last->scx.flags & SCX_TASK_QUEUED)) return;
  state = bpf_task_storage_get(&tasks, last, NULL, 0);
  /* A task that was to be preempted for a decision that is refused goes on. */
  if (state && !state->yielded) scx_bpf_task_set_slice(last, SCX_SLICE_INF);
}

SEC("struct_ops/running")
void BPF_PROG(running, struct task_struct* p) {
  struct task_state* state = state_of(p);
  const u32 cpu = scx_bpf_task_cpu(p);
  struct cpu_state* at = cpu_at(cpu);

  if (!state) return;
  at->latched = 0;
  at->use = USE_OURS;
  state->latched = 0;
  state->custody = 0;
  state->left = state->yielded = state->owned = false;
  state->running = true;
  at->sequence++;
  send_on_cpu(p, cpu, next_barrier(state));
}

SEC("struct_ops/stopping")
void BPF_PROG(stopping, struct task_struct* p, bool runnable) {
  struct task_state* state = state_of(p);

  oae_sched_prefetch(scx_bpf_task_cpu(p), p->scx.tid);
  if (!state) return;
  state->running = false;
  state->left = runnable;
  /* Otherwise a task that the agent has not put here would wait here for the CPU, unseen. */
  if (runnable) scx_bpf_task_set_slice(p, 0);
}

SEC("struct_ops/quiescent")
void BPF_PROG(quiescent, struct task_struct* p, u64 flags) {
  struct task_state* state = state_of(p);
  struct ghost_message message = {};
  const u32 cpu = scx_bpf_task_cpu(p);

  if (!state) return;
  state->custody = 0;
  if (!(flags & SCX_DEQ_SLEEP)) return;
  state->runnable = false;
  message.blocked.gtid = p->scx.tid;
  message.blocked.runtime = p->se.sum_exec_runtime;
  message.blocked.cpu_sequence = cpu_at(cpu)->sequence;
  message.blocked.cpu = cpu;
  send(&message, GHOST_BLOCKED, next_barrier(state));
}

SEC("struct_ops/yield")
bool BPF_PROG(yield, struct task_struct* from, struct task_struct* to) {
  struct task_state* state = state_of(from);

  if (state) state->yielded = true;
  scx_bpf_task_set_slice(from, 0);
  return false;
}

SEC("struct_ops/set_cpumask")
void BPF_PROG(set_cpumask, struct task_struct* p, const struct cpumask* cpumask) {
  struct task_state* state = state_of(p);
  struct ghost_message message = {};
  const u64 set = cpumask->bits[0];

  if (!state || !state->managed || state->cpus == set) return;
  state->cpus = set;
  message.affinity.gtid = p->scx.tid;
  message.affinity.cpus = set;
  send(&message, GHOST_AFFINITY_CHANGED, next_barrier(state));
}

SEC("struct_ops/set_weight")
void BPF_PROG(set_weight, struct task_struct* p, u32 weight) {
  struct task_state* state = state_of(p);
  struct ghost_message message = {};

  if (!state || !state->managed || state->nice == nice_of(p)) return;
  state->nice = nice_of(p);
  message.priority.gtid = p->scx.tid;
  message.priority.nice = state->nice;
  send(&message, GHOST_PRIORITY_CHANGED, next_barrier(state));
}

SEC("struct_ops/update_idle")
void BPF_PROG(update_idle, s32 cpu, bool idle) {
  struct cpu_state* at = cpu_at(cpu);

  oae_sched_idle(cpu, idle);
  if (idle) {
    at->use = USE_IDLE;
    send_about_cpu(cpu, GHOST_AVAILABLE);
  } else if (at->latched) {
    at->use = USE_SOON_OURS;
  } else {
    become_busy(cpu);
  }
}

/* A task of a higher class follows a task of ours. */
SEC("struct_ops/cpu_release")
void BPF_PROG(cpu_release, s32 cpu, struct scx_cpu_release_args* arguments) {
  become_busy(cpu);
}

SEC("struct_ops.s/init_task")
s32 BPF_PROG(init_task, struct task_struct* p, struct scx_init_task_args* arguments) {
  int try;

  /* It fails where it would have to wait for another CPU that allocates memory. */
  bpf_for(try, 0, 1000) {
    if (bpf_task_storage_get(&tasks, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE)) return 0;
  }
  return -12;
}

SEC("struct_ops/enable")
void BPF_PROG(enable, struct task_struct* p) {
  struct task_state* state = state_of(p);
  const u64 gtid = p->scx.tid;
  const u8 present = 1;

  if (!state) return;
  state->managed = true;
  state->custody = 0;
  state->runnable = state->running = state->left = state->yielded = state->owned = false;
  state->cpus = p->cpus_ptr->bits[0];
  state->nice = nice_of(p);
  if (bpf_map_update_elem(&managed, &gtid, &present, BPF_ANY))
    __sync_fetch_and_add(&counts.errors, 1);
  send_new(p, state);
}

static void forget(struct task_struct* p, struct task_state* state) {
  const u64 gtid = p->scx.tid;

  state->managed = false;
  state->custody = 0;
  bpf_map_delete_elem(&managed, &gtid);
}

SEC("struct_ops/disable")
void BPF_PROG(disable, struct task_struct* p) {
  struct task_state* state = state_of(p);
  struct ghost_message message = {};
  const u32 cpu = scx_bpf_task_cpu(p);

  if (!state || p->__state == TASK_DEAD) return;
  forget(p, state);
  unlatch(state);
  message.departed.gtid = p->scx.tid;
  message.departed.cpu_sequence = cpu_at(cpu)->sequence;
  message.departed.cpu = cpu;
  message.departed.was_current = state->running;
  send(&message, GHOST_DEPARTED, next_barrier(state));
}

SEC("struct_ops/exit_task")
void BPF_PROG(exit_task, struct task_struct* p, struct scx_exit_task_args* arguments) {
  struct task_state* state = bpf_task_storage_get(&tasks, p, NULL, 0);
  struct ghost_message message = {};

  if (!state || !state->managed) return;
  forget(p, state);
  unlatch(state);
  message.dead.gtid = p->scx.tid;
  send(&message, GHOST_DEAD, next_barrier(state));
}

SEC("struct_ops.s/init")
s32 BPF_PROG(init) {
  return scx_bpf_create_dsq(FALLBACK_QUEUE, -1) ?: prepare_watchdog();
}

SEC("struct_ops/exit")
void BPF_PROG(ended, struct scx_exit_info* info) {
  bpf_probe_read_kernel_str(counts.reason, sizeof(counts.reason), info->msg);
}

/* The module calls this function wherever a CPU has to look at its slot. */
SEC("fentry/oae_sched_kick")
int BPF_PROG(kick, u32 cpu, bool preempt) {
  __sync_fetch_and_add(&counts.kicks, 1); /* also puts the agent's decision before what follows */
  if (*(volatile u32*)&cpu_at(cpu)->use == USE_OTHERS) refuse(cpu);
  scx_bpf_kick_cpu(cpu, preempt ? SCX_KICK_PREEMPT : 0);
  return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops agent_ops = {
    .select_cpu = (void*)select_cpu,
    .enqueue = (void*)enqueue,
    .dispatch = (void*)dispatch,
    .running = (void*)running,
    .stopping = (void*)stopping,
    .quiescent = (void*)quiescent,
    .yield = (void*)yield,
    .set_cpumask = (void*)set_cpumask,
    .set_weight = (void*)set_weight,
    .update_idle = (void*)update_idle,
    .cpu_release = (void*)cpu_release,
    .init_task = (void*)init_task,
    .exit_task = (void*)exit_task,
    .enable = (void*)enable,
    .disable = (void*)disable,
    .init = (void*)init,
    .exit = (void*)ended,
    .flags = SCX_OPS_SWITCH_PARTIAL | SCX_OPS_ENQ_LAST | SCX_OPS_ENQ_EXITING |
             SCX_OPS_ENQ_MIGRATION_DISABLED | SCX_OPS_TID_TO_TASK,
    .timeout_ms = 30000,
    .name = "oae_agent",
};
