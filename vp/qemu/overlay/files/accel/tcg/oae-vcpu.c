/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vCPUs that the caller runs. They have no thread, and each has a local time,
 * which is counted in instructions and stalls.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/timer.h"
#include "exec/cpu-common.h"
#include "exec/cpu-interrupt.h"
#include "hw/core/cpu.h"
#include "system/cpu-timers.h"
#include "system/cpus.h"
#include "system/oae-answer.h"
#include "system/oae-vcpu.h"
#include "system/runstate.h"
#include "exec/tb-flush.h"
#include "exec/translation-block.h"
#include "tcg/startup.h"
#include "tcg/tcg.h"
#include "tb-context.h"
#include "tcg-accel-ops.h"

#define PS_PER_SECOND 1000000000000ull
#define PS_PER_NS 1000

/* How many instructions a run may execute at most; far more than any horizon allows. */
#define MAX_GRANT (1 << 30)
/* How many of these go into QEMU's 16-bit decrementer, to which a fault adds some back. */
#define MAX_DECREMENTER 0xf000

bool oae_embedded;
bool oae_debuggable;
OaeCallbacks oae_callbacks;

static OaeVcpu **vcpus;
static int vcpu_count;
static uint64_t ips;
static uint64_t ps_per_instruction; /* 0 if it is not a whole number */
static int inside_access;
static bool flush_put_off; /* translated code is to be thrown away */

/* Where the one thread has these variables. Asking for them takes a call each time. */
static CPUState **current;
static const TCGContext *translator;

static OaeVcpu *vcpu_at(int index)
{
    return vcpus[index];
}

/* Instructions of the run in progress that have not been executed. */
static uint32_t remaining(const OaeVcpu *v)
{
    return v->cpu->neg.icount_decr.u16.low + v->cpu->icount_extra;
}

static uint64_t instructions(const OaeVcpu *v)
{
    return v->executed + v->granted - remaining(v);
}

/* The local time after `n` instructions. */
static inline int64_t time_after(const OaeVcpu *v, uint64_t n)
{
    return v->stalled + (ps_per_instruction
                         ? n * ps_per_instruction
                         : (unsigned __int128)n * PS_PER_SECOND / ips);
}

static int64_t local_time(const OaeVcpu *v)
{
    return time_after(v, instructions(v));
}

/* The least number of further instructions after which `v`, which has executed `n`, has reached `until`. */
static inline uint32_t instructions_until(const OaeVcpu *v, uint64_t n, int64_t until)
{
    int64_t left = until - time_after(v, n);
    unsigned __int128 total;

    if (left <= 0) {
        return 0;
    }
    if (ps_per_instruction) {
        return MIN((left + ps_per_instruction - 1) / ps_per_instruction, MAX_GRANT);
    }
    total = ((unsigned __int128)(uint64_t)(until - v->stalled) * ips + PS_PER_SECOND - 1) / PS_PER_SECOND;
    return MIN(total - n, MAX_GRANT);
}

/* Lets `v`, which has executed `n` instructions, execute `count` more. */
static inline void grant(OaeVcpu *v, uint64_t n, uint32_t count)
{
    CPUState *cpu = v->cpu;

    v->executed = n;
    v->granted = count;
    cpu->icount_budget = count;
    /* Written as the one word that the next block loads, see 05-speed.patch. */
    cpu->neg.icount_decr.u32 = deposit32(cpu->neg.icount_decr.u32, 0, 16,
                                         MIN(MAX_DECREMENTER, count));
    cpu->icount_extra = count - cpu->neg.icount_decr.u16.low;
}

void oae_vcpu_init(uint64_t rate)
{
    oae_embedded = true;
    rcu_one_thread = true;
    current = &current_cpu;
    ips = rate;
    ps_per_instruction = PS_PER_SECOND % ips ? 0 : PS_PER_SECOND / ips;
}

int oae_vcpu_count(void)
{
    return vcpu_count;
}

int64_t oae_vcpu_local_time(int cpu)
{
    return local_time(vcpu_at(cpu));
}

uint64_t oae_vcpu_instructions(int cpu)
{
    return instructions(vcpu_at(cpu));
}

void oae_vcpu_stall(int cpu, int64_t span)
{
    vcpu_at(cpu)->stalled += span;
}

static inline void set_limit(OaeVcpu *v, uint64_t n, int64_t until, unsigned limit)
{
    v->until = until;
    v->limit = limit;
    grant(v, n, instructions_until(v, n, until));
}

void oae_vcpu_set_limit(int cpu, int64_t until, unsigned limit)
{
    OaeVcpu *v = vcpu_at(cpu);

    set_limit(v, instructions(v), until, limit);
}

void oae_vcpu_remember(int cpu, const OaeAnswer *answer)
{
    uint64_t key = oae_answer_key(answer->address, answer->size);
    OaeRemembered *r = oae_answer_place(vcpu_at(cpu), key);
    uint64_t n = ps_per_instruction && !answer->period ? answer->latency / ps_per_instruction : 0;

    r->key = key;
    r->answer = *answer;
    r->instructions = n <= UINT16_MAX && n * ps_per_instruction == answer->latency ? n : 0;
}

bool oae_pass_time(CPUState *cpu, const OaeRemembered *r)
{
    OaeVcpu *v = cpu->accel;
    const OaeAnswer *a = &r->answer;
    uint64_t n = instructions(v);
    int64_t start = time_after(v, n);
    int64_t span = a->latency;

    if (a->period) {
        int64_t end = ((start + a->before) / a->period + a->edges) * a->period;

        if (end >= v->until) {
            return false;
        }
        span = end + a->after - start;
    } else if (start >= v->until) {
        return false;
    }
    v->stalled += span;
    grant(v, n, instructions_until(v, n, v->until));
    oae_count_answer(a);
    return true;
}

bool oae_ends_early(CPUState *cpu)
{
    OaeVcpu *v = cpu->accel;

    v->ended_early = !(v->limit & OAE_LIMIT_EXACT) && remaining(v) < v->granted;
    return v->ended_early;
}

void oae_exception_taken(CPUState *cpu)
{
    OaeVcpu *v = cpu->accel;
    bool endless = instructions(v) == v->faulted;

    if (endless) {
        if (cpu->neg.icount_decr.u16.low) {
            cpu->neg.icount_decr.u16.low--;
        } else if (cpu->icount_extra) {
            cpu->icount_extra--;
        } else {
            v->executed++;
        }
    }
    v->faulted = instructions(v);
}

void oae_pause_taken(CPUState *cpu)
{
    OaeVcpu *v = cpu->accel;

    v->stalled += OAE_PAUSE_PS;
    v->paused = true;
}

bool oae_holds(CPUState *cpu)
{
    return tcg_cflags_has(cpu, CF_OAE_HOLDS);
}

void oae_vcpu_set_holding(int index, bool holding)
{
    CPUState *cpu = vcpu_at(index)->cpu;

    if (oae_holds(cpu) != holding) {
        cpu->tcg_cflags ^= CF_OAE_HOLDS;
        /* The next block is looked up anew, in code for the new state. */
        qatomic_set(&cpu->neg.icount_decr.u16.high, -1);
    }
}

bool oae_translating(void)
{
    return tcg_ctx && tcg_ctx->gen_tb;
}

bool oae_put_off_tb_flush(void)
{
    flush_put_off = inside_access > 0;
    return flush_put_off;
}

/*
 * A vCPU that is inside an access returns to translated code, which must not be thrown away until
 * then. So code is thrown away early, while there is still room, at any moment without an access.
 */
static bool make_room_for_code(CPUState *cpu)
{
    size_t room = translator->code_gen_highwater - translator->code_gen_ptr;

    if (inside_access) {
        return !flush_put_off;
    }
    if (flush_put_off || room < translator->code_gen_buffer_size / 4) {
        flush_put_off = false;
        tb_flush(cpu);
    }
    return true;
}

static bool asleep(CPUState *cpu)
{
    return cpu->halted && !cpu_has_work(cpu);
}

static inline bool can_run(const CPUState *cpu)
{
    return !cpu->stop && !cpu->stopped && runstate_is_running();
}

/* Why `v` does not go on, after QEMU has returned `reason`. */
static enum OaeRun state_after(const OaeVcpu *v, int reason, int64_t local)
{
    CPUState *cpu = v->cpu;

    switch (reason) {
    case EXCP_DEBUG:
        cpu_handle_guest_debug(cpu);
        return OAE_RUN_STOPPED;
    case EXCP_ATOMIC:
        /* Code that is not translated for parallel execution does not ask for this. */
        g_assert_not_reached();
    default:
        break;
    }
    if (!can_run(cpu)) {
        return OAE_RUN_STOPPED;
    }
    if (asleep(cpu)) {
        return OAE_RUN_HALTED;
    }
    if (v->paused || reason == EXCP_YIELD) {
        return OAE_RUN_YIELDED;
    }
    return v->ended_early || local >= v->until ? OAE_RUN_LIMIT : OAE_RUN_EXIT;
}

enum OaeRun oae_vcpu_run(int index, int64_t now, int64_t until, unsigned limit, int64_t *local)
{
    OaeVcpu *v = vcpu_at(index);
    CPUState *cpu = v->cpu;
    uint64_t n = instructions(v);
    int reason;

    *local = time_after(v, n);
    if (!make_room_for_code(cpu)) {
        return OAE_RUN_BUSY;
    }
    /*
     * This includes exclusive work, which flushes TLBs: no other vCPU executes now. There is one
     * thread, so that the list needs no lock.
     */
    if (!QSIMPLEQ_EMPTY(&cpu->work_list)) {
        *current = cpu;
        process_queued_cpu_work(cpu);
        *current = NULL;
    }
    if (!can_run(cpu)) {
        return OAE_RUN_STOPPED;
    }
    if (asleep(cpu)) {
        return OAE_RUN_HALTED;
    }
    /* It slept until now. */
    if (*local < now) {
        v->stalled += now - *local;
        *local = now;
    }
    set_limit(v, n, until, limit);
    if (!v->granted) {
        return OAE_RUN_LIMIT;
    }

    v->ended_early = false;
    v->paused = false;
    qatomic_set(&cpu->exit_request, 0);
    qatomic_set(&cpu->running, true);
    oae_bql_locked = false;
    reason = cpu_exec(cpu);
    oae_bql_locked = true;
    qatomic_set(&cpu->running, false);
    *current = NULL;

    n = instructions(v);
    grant(v, n, 0);
    *local = time_after(v, n);
    return state_after(v, reason, *local);
}

int oae_access_begin(void)
{
    CPUState *cpu = *current;

    if (!cpu) {
        return -1;
    }
    inside_access++;
    cpu->accel->invalidated = tb_ctx.tb_phys_invalidate_count;
    *current = NULL;
    qatomic_set(&cpu->running, false);
    return cpu->cpu_index;
}

void oae_access_end(int index)
{
    CPUState *cpu;

    if (index < 0) {
        return;
    }
    cpu = vcpu_at(index)->cpu;
    qatomic_set(&cpu->running, true);
    *current = cpu;
    inside_access--;
    if (tb_ctx.tb_phys_invalidate_count != vcpu_at(index)->invalidated) {
        /* The vCPU's own block may be invalid, and so may its jumps: the next is looked up. */
        qatomic_set(&cpu->neg.icount_decr.u16.high, -1);
    }
}

void oae_drain(CPUState *cpu)
{
    int index;

    if (!oae_holds(cpu)) {
        return;
    }
    BQL_LOCK_GUARD();
    index = oae_access_begin();
    oae_callbacks.drain(oae_callbacks.opaque, index);
    oae_access_end(index);
}

void oae_line(CPUState *cpu, enum OaeLineOperation operation,
              enum OaeMemoryType type, hwaddr address, unsigned size)
{
    BQL_LOCK_GUARD();
    int index = oae_access_begin();

    oae_callbacks.line(oae_callbacks.opaque, index, operation, type, address,
                       size);
    oae_access_end(index);
}

void oae_order(CPUState *cpu, enum OaeOrder order)
{
    bool locked = bql_locked();
    int index;

    if (!oae_embedded || !(cpu->accel->limit & OAE_LIMIT_SHARED)) {
        return;
    }
    if (!locked) {
        bql_lock();
    }
    index = oae_access_begin();
    oae_callbacks.order(oae_callbacks.opaque, index, order);
    oae_access_end(index);
    if (!locked) {
        bql_unlock();
    }
}

/* The local time of the vCPU that executes, or else the simulation's time. */
static int64_t present(void)
{
    CPUState *cpu = current_cpu;

    return cpu && cpu->running ? local_time(cpu->accel)
                               : oae_callbacks.now(oae_callbacks.opaque);
}

static int64_t virtual_clock(void)
{
    return present() / PS_PER_NS;
}

int64_t oae_tlb_clock(CPUState *cpu)
{
    bool exists = cpu->cpu_index >= 0 && cpu->cpu_index < vcpu_count;

    /* A vCPU's TLBs are made before it is. */
    return exists ? oae_vcpu_local_time(cpu->cpu_index) / PS_PER_NS : 0;
}

/* Whether no interrupt wakes this vCPU any more, as after HLT with interrupts disabled. */
static bool sleeps_for_good(CPUState *cpu)
{
    int requested = cpu->interrupt_request;
    bool wakes;

    cpu->interrupt_request |= CPU_INTERRUPT_HARD;
    wakes = cpu_has_work(cpu);
    cpu->interrupt_request = requested;
    return cpu->halted && !wakes;
}

static bool all_sleep_for_good(void)
{
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        if (!sleeps_for_good(cpu)) {
            return false;
        }
    }
    return true;
}

int64_t oae_next_deadline(void)
{
    CPUState *cpu = current_cpu;
    int64_t left, clock;

    /* Nobody would notice that a timer has expired. */
    if (all_sleep_for_good()) {
        return INT64_MAX;
    }
    /*
     * The deadline is counted from the simulation's time, since the vCPU that
     * executes may be past the deadline of a sibling's timer.
     */
    current_cpu = NULL;
    left = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    clock = virtual_clock();
    current_cpu = cpu;
    /* Some devices set a timer to the end of time instead of deleting it. */
    if (left < 0 || left > INT64_MAX / PS_PER_NS - clock) {
        return INT64_MAX;
    }
    return (clock + left) * PS_PER_NS;
}

void oae_timers_changed(void)
{
    if (current_cpu) {
        cpu_exit(current_cpu);
    }
    oae_callbacks.timers_changed(oae_callbacks.opaque);
}

static void handle_interrupt(CPUState *cpu, int mask)
{
    cpu->interrupt_request |= mask;
    qatomic_set(&cpu->neg.icount_decr.u16.high, -1);
    if (cpu != current_cpu) {
        oae_callbacks.wake(oae_callbacks.opaque, cpu->cpu_index, present());
    }
}

static void kick_vcpu(CPUState *cpu)
{
    cpu_exit(cpu);
    if (cpu != current_cpu) {
        oae_callbacks.wake(oae_callbacks.opaque, cpu->cpu_index, present());
    }
}

static void create_vcpu(CPUState *cpu)
{
    g_assert(cpu->cpu_index == vcpu_count);
    tcg_cpu_init_cflags(cpu, false);
    if (!vcpu_count) {
        tcg_register_thread();
        translator = tcg_ctx;
    }
    qemu_thread_get_self(cpu->thread);
    cpu->thread_id = qemu_get_thread_id();
    cpu->neg.can_do_io = true;
    cpu->created = true;
    cpu->accel = g_new0(OaeVcpu, 1);
    cpu->accel->cpu = cpu;
    cpu->accel->remembered = g_new0(OaeRemembered, OAE_ANSWERS);
    vcpus = g_renew(OaeVcpu *, vcpus, vcpu_count + 1);
    vcpus[vcpu_count++] = cpu->accel;
}

void oae_accel_ops_init(AccelOpsClass *ops)
{
    ops->create_vcpu_thread = create_vcpu;
    ops->kick_vcpu_thread = kick_vcpu;
    ops->handle_interrupt = handle_interrupt;
    ops->get_virtual_clock = virtual_clock;
    ops->get_elapsed_ticks = virtual_clock;
}
