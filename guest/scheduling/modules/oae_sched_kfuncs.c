// SPDX-License-Identifier: GPL-2.0
/*
 * Where the scheduler in BPF and this module meet: the kfuncs that the scheduler calls, and the
 * functions that its programs are attached to.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "oae_sched.h"

/* The decision that was taken last for each CPU. */
static struct oae_sched_slot oae_sched_decisions[OAE_SCHED_CPUS];

static bool claim_here(u32 cpu, struct oae_sched_slot *decision)
{
	struct oae_sched_record *record = oae_sched_trace_next();
	const u64 time = record ? ktime_get_mono_fast_ns() : 0;
	const bool claimed = READ_ONCE(oae_sched_transport)->claim(cpu, decision);

	if (record)
		oae_sched_trace_claimed(record, time, claimed ? decision : NULL);
	return claimed;
}

/* Has the CPU where it runs look at its slot. */
static void kick_here(void *unused)
{
	oae_sched_kick(smp_processor_id(), false);
}

static DEFINE_PER_CPU(call_single_data_t, oae_sched_look) = CSD_INIT(kick_here, NULL);

__bpf_kfunc_start_defs();

/**
 * oae_sched_send - sends a message to the agent, from this CPU
 * @message: the message
 *
 * Return: false if it is lost.
 */
__bpf_kfunc bool oae_sched_send(const struct ghost_message *message)
{
	struct oae_sched_record *record;
	unsigned long flags;
	bool sent;
	u64 time;

	local_irq_save(flags);
	record = oae_sched_trace_next(); /* before the agent can answer */
	time = ktime_get_mono_fast_ns();
	sent = READ_ONCE(oae_sched_transport)->send(smp_processor_id(), message, time);
	if (record)
		oae_sched_trace_sent(record, time, message,
				     sent ? OAE_SCHED_ON_ITS_WAY : OAE_SCHED_LOST);
	local_irq_restore(flags);
	return sent;
}

/**
 * oae_sched_withhold - notes a message that is not sent, since there is no agent
 * @message: the message
 */
__bpf_kfunc void oae_sched_withhold(const struct ghost_message *message)
{
	struct oae_sched_record *record;
	unsigned long flags;

	local_irq_save(flags);
	record = oae_sched_trace_next();
	if (record)
		oae_sched_trace_sent(record, ktime_get_mono_fast_ns(), message, OAE_SCHED_WITHHELD);
	local_irq_restore(flags);
}

/**
 * oae_sched_claim - takes the agent's decision for a CPU
 * @cpu: the CPU
 *
 * The caller has to report the end of the decision, by oae_sched_finish(). Only the CPU itself can
 * take its decision; another one has it kicked.
 *
 * Return: the decision, or NULL if there is none.
 */
__bpf_kfunc const struct oae_sched_slot *oae_sched_claim(u32 cpu)
{
	unsigned long flags;
	bool claimed = false;

	if (cpu >= nr_cpu_ids)
		return NULL;
	local_irq_save(flags);
	if (cpu == smp_processor_id())
		claimed = claim_here(cpu, &oae_sched_decisions[cpu]);
	else
		/* If the call is already on its way, it is not made again. */
		smp_call_function_single_async(cpu, per_cpu_ptr(&oae_sched_look, cpu));
	local_irq_restore(flags);
	return claimed ? &oae_sched_decisions[cpu] : NULL;
}

/**
 * oae_sched_finish - reports the end of the decision that was taken last for a CPU
 * @cpu: the CPU
 * @state: how it ended: enum ghost_state
 * @cpu_sequence: number of tasks that the CPU has switched to
 */
__bpf_kfunc void oae_sched_finish(u32 cpu, s32 state, u64 cpu_sequence)
{
	struct oae_sched_record *record;
	unsigned long flags;
	u64 time;

	if (cpu >= nr_cpu_ids)
		return;
	local_irq_save(flags);
	record = oae_sched_trace_next();
	time = ktime_get_mono_fast_ns();
	READ_ONCE(oae_sched_transport)->finish(cpu, state, time, cpu_sequence);
	if (record)
		oae_sched_trace_ended(record, time, &oae_sched_decisions[cpu], state, cpu_sequence);
	local_irq_restore(flags);
}

/**
 * oae_sched_prefetch - prepares a CPU to take a decision
 * @cpu: the CPU; if it is another one, nothing is prepared
 * @gtid: the task that leaves it
 */
__bpf_kfunc void oae_sched_prefetch(u32 cpu, u64 gtid)
{
	struct oae_sched_record *record;
	unsigned long flags;

	local_irq_save(flags);
	record = oae_sched_trace_next();
	if (record)
		oae_sched_trace_stopping(record, cpu, gtid);
	if (cpu == smp_processor_id())
		READ_ONCE(oae_sched_transport)->prefetch(cpu);
	local_irq_restore(flags);
}

/**
 * oae_sched_idle - says whether a CPU idles
 * @cpu: the CPU
 * @idle: whether it idles
 */
__bpf_kfunc void oae_sched_idle(u32 cpu, bool idle)
{
	unsigned long flags;

	local_irq_save(flags);
	if (cpu == smp_processor_id())
		READ_ONCE(oae_sched_transport)->idle(cpu, idle);
	local_irq_restore(flags);
}

/**
 * oae_sched_liveness - the agent's sign of life
 *
 * Return: a number that changes while the agent works, or 0 if there is no sign.
 */
__bpf_kfunc u64 oae_sched_liveness(void)
{
	unsigned long flags;
	u64 liveness;

	local_irq_save(flags);
	liveness = READ_ONCE(oae_sched_transport)->liveness();
	local_irq_restore(flags);
	return liveness;
}

/**
 * oae_sched_give_up - notes that tasks take turns without the agent from now on
 * @sign: by what it was noticed that the agent does not work: enum oae_sched_sign
 * @seen: when
 */
__bpf_kfunc void oae_sched_give_up(u32 sign, u64 seen)
{
	struct oae_sched_record *record;
	unsigned long flags;

	local_irq_save(flags);
	record = oae_sched_trace_next();
	if (record)
		oae_sched_trace_given_up(record, sign, seen);
	local_irq_restore(flags);
}

/**
 * oae_sched_restart - has the agent begin anew, since it does not work
 *
 * oae_sched_resume() follows when it has. The scheduler asks the agent for nothing until then.
 */
__bpf_kfunc void oae_sched_restart(void)
{
	oae_sched_start_again();
}

__bpf_kfunc_end_defs();

/* Only a BPF program that is attached here can kick a CPU: modules cannot. */
noinline void oae_sched_kick(u32 cpu, bool preempt)
{
	barrier_data(&cpu);
}
EXPORT_SYMBOL_GPL(oae_sched_kick);

noinline void oae_sched_resume(u64 undelivered)
{
	barrier_data(&undelivered);
}

noinline void oae_sched_alarm(enum oae_sched_sign sign, u64 time)
{
	barrier_data(&time);
}

BTF_KFUNCS_START(oae_sched_kfuncs)
BTF_ID_FLAGS(func, oae_sched_send)
BTF_ID_FLAGS(func, oae_sched_withhold)
BTF_ID_FLAGS(func, oae_sched_claim, KF_RET_NULL)
BTF_ID_FLAGS(func, oae_sched_finish)
BTF_ID_FLAGS(func, oae_sched_prefetch)
BTF_ID_FLAGS(func, oae_sched_idle)
BTF_ID_FLAGS(func, oae_sched_liveness)
BTF_ID_FLAGS(func, oae_sched_give_up)
BTF_ID_FLAGS(func, oae_sched_restart)
BTF_KFUNCS_END(oae_sched_kfuncs)

static const struct btf_kfunc_id_set oae_sched_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &oae_sched_kfuncs,
};

int oae_sched_kfuncs_init(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &oae_sched_kfunc_set) ?:
	       register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &oae_sched_kfunc_set);
}

static void do_nothing(void *unused)
{
}

/* A CPU takes its calls in order. */
void oae_sched_kfuncs_exit(void)
{
	on_each_cpu(do_nothing, NULL, true);
}
