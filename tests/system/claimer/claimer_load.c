// SPDX-License-Identifier: GPL-2.0
/* Swaps on all CPUs at once, in contexts that must not sleep. */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/fpu/api.h>

#include "claimer.h"

#define OFFER_MS 1000 /* how long an offer of the firmware may take */
#define SETTLE_MS 1000 /* how long a doubt may last */

/* Of one CPU. */
struct load {
	struct task_struct *thread;
	struct completion done;
	struct irq_work interrupt;
	struct claimer_port *own;
	bool in_switch; /* The next switch of this CPU makes the round. */
	int error; /* of the own port's last swap */
	u8 status; /* or its status */
	int shared_error;
	u8 shared_status;
	u64 made[CLAIMER_CONTEXTS];
};

static DEFINE_PER_CPU(struct load, loads);
static struct claimer_port *shared; /* by which all CPUs send */
static u64 wanted; /* rounds of each CPU */
static bool stopping;
static struct tracepoint *sched_switch;

static void count(struct claimer_counts *counts, int error, u8 status)
{
	if (error == -EIO)
		atomic64_inc(&counts->frozen_swaps);
	else if (error == -ENODEV)
		atomic64_inc(&counts->gone_swaps);
	else if (error == -EINPROGRESS)
		atomic64_inc(&counts->refused_swaps);
	else if (error)
		atomic64_inc(&counts->failed);
	else if (status == OAE_SWAP_STATUS_OK)
		atomic64_inc(&counts->committed);
	else if (status == OAE_SWAP_STATUS_NOT_READY)
		atomic64_inc(&counts->not_ready);
	else if (status == OAE_SWAP_STATUS_BUSY)
		atomic64_inc(&counts->busy);
	else if (status == OAE_CLAIM_IN_DOUBT)
		atomic64_inc(&counts->doubts);
	else
		atomic64_inc(&counts->other);
}

/*
 * A committed swap has the next sequence of its epoch, and so has the firmware's slot. The firmware
 * shows the word that was committed last, or the one before if it made its offer earlier.
 */
static void check(struct claimer_port *port, const struct oae_claim_answer *answer)
{
	const u64 shown = answer->payload[3];
	const bool goes_on = port->epoch == answer->epoch;
	bool right = answer->payload[1] == answer->sequence;

	if (port->words > 2)
		right = right && (shown == port->committed[0] || shown == port->committed[1]);
	right = right && answer->sequence > (goes_on ? port->sequence : 0);
	if (!right)
		atomic64_inc(&port->counts.wrong);
	port->epoch = answer->epoch;
	port->sequence = answer->sequence;
	port->committed[1] = port->committed[0];
	port->committed[0] = ++port->words;
}

static void swap_own(struct load *load)
{
	struct claimer_port *port = load->own;
	const u64 payload[OAE_PAYLOAD_WORDS] = { port->words + 1 };
	struct oae_claim_answer answer = {};

	load->error = oae_claim_swap(port->claim, OAE_SWAP_VERB_SWAP, payload, &answer);
	load->status = answer.status;
	count(&port->counts, load->error, load->status);
	if (!load->error && load->status == OAE_SWAP_STATUS_OK)
		check(port, &answer);
}

static void send_shared(struct load *load)
{
	const u64 payload[OAE_PAYLOAD_WORDS] = { raw_smp_processor_id() };
	struct oae_claim_answer answer = {};

	load->shared_error = oae_claim_swap(shared->claim, OAE_SWAP_VERB_SEND, payload, &answer);
	load->shared_status = answer.status;
	count(&shared->counts, load->shared_error, load->shared_status);
}

/* Interrupts are off. The second swap often comes before the firmware's next offer. */
static void make(struct load *load, enum claimer_context context)
{
	swap_own(load);
	swap_own(load);
	send_shared(load);
	load->made[context]++;
}

static void make_in_interrupt(struct irq_work *work)
{
	make(container_of(work, struct load, interrupt), CLAIMER_INTERRUPT);
}

/* The runqueue of this CPU is locked. */
static void make_in_switch(void *unused, bool preempt, struct task_struct *from,
			   struct task_struct *to, unsigned int state)
{
	struct load *load = this_cpu_ptr(&loads);

	if (!READ_ONCE(load->in_switch))
		return;
	make(load, CLAIMER_SWITCH);
	WRITE_ONCE(load->in_switch, false);
}

/* The kernel is using a vector register, whose contents a swap must not change. */
static void make_with_registers(struct load *load)
{
	const u64 held = 0x0123456789abcdef + load->made[CLAIMER_REGISTERS];
	unsigned long flags;
	u64 found;

	kernel_fpu_begin();
	local_irq_save(flags);
	asm volatile("movq %0, %%xmm0" : : "r"(held));
	make(load, CLAIMER_REGISTERS);
	asm volatile("movq %%xmm0, %0" : "=r"(found));
	local_irq_restore(flags);
	kernel_fpu_end();
	if (found != held)
		atomic64_inc(&load->own->counts.wrong);
}

static void make_in(struct load *load, enum claimer_context context)
{
	unsigned long flags;

	switch (context) {
	case CLAIMER_SWITCH:
		WRITE_ONCE(load->in_switch, true);
		while (READ_ONCE(load->in_switch))
			usleep_range(10, 20);
		return;
	case CLAIMER_INTERRUPT:
		irq_work_queue(&load->interrupt);
		irq_work_sync(&load->interrupt);
		return;
	case CLAIMER_REGISTERS:
		make_with_registers(load);
		return;
	default:
		local_irq_save(flags);
		make(load, context);
		local_irq_restore(flags);
	}
}

/* Settles what is in doubt; nobody else may have done that. */
static void settle(struct claimer_port *port, bool own)
{
	const unsigned long end = jiffies + msecs_to_jiffies(SETTLE_MS);
	struct oae_claim_answer answer = {};
	int ret;

	do {
		ret = oae_claim_settle(port->claim, &answer);
		if (ret == -ENODATA || ret == -ENODEV)
			return;
		if (!ret && answer.status != OAE_CLAIM_IN_DOUBT) {
			count(&port->counts, 0, answer.status);
			if (own && answer.status == OAE_SWAP_STATUS_OK)
				check(port, &answer);
			return;
		}
		msleep(20);
	} while (time_before(jiffies, end));
	atomic64_inc(&port->counts.stuck);
}

static void await_offer(struct claimer_port *port)
{
	reinit_completion(&port->offered);
	if (oae_claim_arm(port->claim))
		return;
	if (!wait_for_completion_timeout(&port->offered, msecs_to_jiffies(OFFER_MS)))
		atomic64_inc(&port->counts.stuck);
}

/* Does what has to be done before the next round. */
static void recover(struct load *load, u64 made)
{
	if (load->error == -EIO || load->shared_error == -EIO)
		msleep(20);
	if (load->error == -EINPROGRESS || (!load->error && load->status == OAE_CLAIM_IN_DOUBT))
		settle(load->own, true);
	if (load->shared_error == -EINPROGRESS ||
	    (!load->shared_error && load->shared_status == OAE_CLAIM_IN_DOUBT))
		settle(shared, false);
	/* An offer that stands already is signalled, too. */
	if (!load->error && (load->status == OAE_SWAP_STATUS_NOT_READY || made % 16 == 15))
		await_offer(load->own);
}

static int run(void *argument)
{
	struct load *load = argument;
	u64 made;

	for (made = 0; made < wanted && !READ_ONCE(stopping); made++) {
		make_in(load, made % CLAIMER_CONTEXTS);
		if (load->error == -ENODEV)
			break;
		recover(load, made);
		cond_resched();
	}
	/* Nothing is left in doubt. */
	settle(load->own, true);
	settle(shared, false);
	complete(&load->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return 0;
}

int claimer_load_start(u64 rounds, unsigned int port)
{
	struct load *load;
	unsigned int cpu;

	if (!claimer_ports[port].claim || num_online_cpus() > port)
		return -EINVAL;
	for_each_online_cpu(cpu)
		if (!claimer_ports[cpu].claim || per_cpu(loads, cpu).thread)
			return -EINVAL;
	shared = &claimer_ports[port];
	wanted = rounds;
	WRITE_ONCE(stopping, false);
	for_each_online_cpu(cpu) {
		load = per_cpu_ptr(&loads, cpu);
		*load = (struct load){ .own = &claimer_ports[cpu] };
		init_completion(&load->done);
		init_irq_work(&load->interrupt, make_in_interrupt);
		load->thread = kthread_create_on_cpu(run, load, cpu, "claimer/%u");
		if (IS_ERR(load->thread)) {
			load->thread = NULL;
			claimer_load_stop(true);
			return -ENOMEM;
		}
		wake_up_process(load->thread);
	}
	return 0;
}

void claimer_load_stop(bool now)
{
	unsigned int cpu;

	if (now)
		WRITE_ONCE(stopping, true);
	for_each_possible_cpu(cpu) {
		struct load *load = per_cpu_ptr(&loads, cpu);

		if (!load->thread)
			continue;
		wait_for_completion(&load->done);
		kthread_stop(load->thread);
		load->thread = NULL;
	}
}

u64 claimer_load_made(enum claimer_context context)
{
	unsigned int cpu;
	u64 made = 0;

	for_each_possible_cpu(cpu)
		made += per_cpu(loads, cpu).made[context];
	return made;
}

static void find_sched_switch(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		sched_switch = tracepoint;
}

int claimer_load_init(void)
{
	for_each_kernel_tracepoint(find_sched_switch, NULL);
	if (!sched_switch)
		return -EOPNOTSUPP;
	return tracepoint_probe_register(sched_switch, (void *)make_in_switch, NULL);
}

void claimer_load_exit(void)
{
	claimer_load_stop(true);
	tracepoint_probe_unregister(sched_switch, (void *)make_in_switch, NULL);
	tracepoint_synchronize_unregister();
}
