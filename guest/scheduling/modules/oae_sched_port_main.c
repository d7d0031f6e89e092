// SPDX-License-Identifier: GPL-2.0
/*
 * The module, and the life of an agent that swap ports lead to: the ports are claimed, it starts,
 * CPUs are made to look for its decisions, and it ends.
 */
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "oae_sched_calls.h"
#include "oae_sched_port.h"

static unsigned int first_port;
module_param(first_port, uint, 0644);
MODULE_PARM_DESC(first_port, "first of the swap ports; each CPU has two, one after the other (0)");

static bool streamed = true;
module_param(streamed, bool, 0644);
MODULE_PARM_DESC(streamed, "get answers in the completion of a read, else pushed by DMA");

static unsigned int period_us = 4000;
module_param(period_us, uint, 0644);
MODULE_PARM_DESC(period_us, "how often a CPU looks for a decision without a call, 0 for never (4000)");

static unsigned int kept_events = 256;
module_param(kept_events, uint, 0644);
MODULE_PARM_DESC(kept_events, "room for events of a CPU that wait: a power of two from 8 (256)");

/* How soon a CPU tries again to send what the agent had no room for. */
#define DRAIN_US 50U

#define KEPT_MIN 8
#define KEPT_MAX 65536

struct oae_sched_port_device oae_sched_port_device;

/* The parameters of the ports that are claimed. */
static struct {
	unsigned int first_port;
	bool streamed;
} claimed;

static void port_prefetch(unsigned int cpu)
{
}

static void port_idle(unsigned int cpu, bool idle)
{
	/* A CPU that ceases to idle runs a task next, and says so. */
	if (idle)
		oae_sched_events_drain(&oae_sched_port_device.ports[cpu]);
}

static void port_called(unsigned int cpu, enum queue_call call)
{
	if (READ_ONCE(oae_sched_port_device.cpus))
		oae_sched_kick(cpu, call == QUEUE_CALL_PREEMPT);
}

static enum hrtimer_restart port_period(struct hrtimer *timer)
{
	struct oae_sched_ports *ports = container_of(timer, struct oae_sched_ports, timer);
	const unsigned int cpu = ports - oae_sched_port_device.ports;
	const ktime_t period = us_to_ktime(max(READ_ONCE(period_us), 1U));
	const ktime_t expiry = hrtimer_get_expires(timer);
	ktime_t next;
	bool full;

	/* A CPU that goes offline leaves its timers to another one. */
	if (!READ_ONCE(oae_sched_port_device.cpus) || cpu != smp_processor_id())
		return HRTIMER_NORESTART;
	full = oae_sched_events_drain(ports);
	if (ktime_sub(expiry, ports->looked) >= period) {
		ports->looked = expiry;
		oae_sched_kick(cpu, false);
	}
	next = ktime_sub(ktime_add(ports->looked, period), expiry);
	/* A port has room for two events, and many may be kept by a CPU that sends nothing more. */
	if (full)
		next = min(next, us_to_ktime(DRAIN_US));
	hrtimer_forward_now(timer, next);
	return HRTIMER_RESTART;
}

static void start_period(void *unused)
{
	struct oae_sched_ports *ports = &oae_sched_port_device.ports[smp_processor_id()];
	const ktime_t period = us_to_ktime(READ_ONCE(period_us));

	hrtimer_start(&ports->timer, period, HRTIMER_MODE_REL_PINNED_HARD);
	ports->looked = ktime_sub(hrtimer_get_expires(&ports->timer), period);
}

static void release(struct oae_sched_ports *ports)
{
	oae_sched_way_release(&ports->decisions);
	oae_sched_way_release(&ports->events);
	kvfree(ports->kept);
	ports->kept = NULL;
}

static void stop_periods(void)
{
	unsigned int cpu;

	WRITE_ONCE(oae_sched_port_device.cpus, 0);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		hrtimer_cancel(&oae_sched_port_device.ports[cpu].timer);
}

static void release_ports(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		release(&oae_sched_port_device.ports[cpu]);
}

static int claim(unsigned int cpu)
{
	const u8 form = claimed.streamed ? OAE_SWAP_FORM_STREAMED : OAE_SWAP_FORM_PUSHED;
	struct oae_sched_ports *ports = &oae_sched_port_device.ports[cpu];

	ports->kept = kvcalloc(oae_sched_port_device.kept_events, sizeof(*ports->kept), GFP_KERNEL);
	if (!ports->kept)
		return -ENOMEM;
	return oae_sched_way_claim(&ports->decisions, port_of_decisions(claimed.first_port, cpu),
				   form) ?:
	       oae_sched_way_claim(&ports->events, port_of_events(claimed.first_port, cpu), form);
}

static int claim_ports(void)
{
	unsigned int cpu;
	int ret = 0;

	claimed.first_port = first_port;
	claimed.streamed = streamed;
	oae_sched_port_device.kept_events = kept_events;
	for (cpu = 0; cpu < nr_cpu_ids && !ret; cpu++)
		ret = claim(cpu);
	return ret;
}

/* Whether another agent can use the ports as they are, which makes its start quick. */
static bool is_reusable(void)
{
	const struct oae_sched_ports *ports;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		ports = &oae_sched_port_device.ports[cpu];
		if (!ports->decisions.claim || !ports->events.claim || ports->decisions.doubt ||
		    ports->events.doubt)
			return false;
	}
	return claimed.first_port == first_port && claimed.streamed == streamed &&
	       oae_sched_port_device.kept_events == kept_events;
}

static void forget(struct oae_sched_ports *ports)
{
	ports->number = 0;
	ports->end.due = false;
	ports->head = 0;
	ports->tail = 0;
	ports->sent = 0;
	ports->last_may_ride = false;
	ports->riding = false;
	ports->crowded = false;
	ports->lost = false;
	ports->silent_since = 0;
	ports->counts = (struct port_counts){};
}

static int start_agent(const struct oae_sched_start *start)
{
	struct queue_control control = {
		.command = QUEUE_START,
		.policy = start->policy,
		.cpus = start->cpus,
		.time_slice = start->time_slice,
		.host_cpus = nr_cpu_ids,
		.prestage = start->prestage,
		.ports = 1,
		.first_port = claimed.first_port,
		.time = ktime_get_mono_fast_ns(),
	};
	int ret;

	ret = oae_sched_calls_request(&control);
	oae_sched_port_device.run = control.request;
	return ret;
}

/* Nobody uses the ports. */
static int start_anew(const struct oae_sched_start *start)
{
	struct range memory;
	unsigned int cpu;
	int ret;

	if (!is_power_of_2(kept_events) || kept_events < KEPT_MIN || kept_events > KEPT_MAX)
		return -EINVAL;
	if (!is_reusable()) {
		release_ports();
		ret = claim_ports();
		if (ret)
			return ret;
	}
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		forget(&oae_sched_port_device.ports[cpu]);
	return oae_sched_calls_begin(port_called, &memory) ?: start_agent(start);
}

static int port_start(const struct oae_sched_start *start)
{
	int ret;

	stop_periods();
	ret = start_anew(start);
	if (ret) {
		oae_sched_calls_end();
		release_ports(); /* Another try begins with new epochs. */
		return ret;
	}
	WRITE_ONCE(oae_sched_port_device.cpus, start->cpus);
	if (period_us)
		on_each_cpu(start_period, NULL, true);
	return 0;
}

/* Adds what the CPUs have counted to what the agent has. */
static void add_counts(struct oae_sched_counts *counts)
{
	struct port_counts *sum = (struct port_counts *)&counts->words[PORT_COUNTS_AT];
	const struct port_counts *of;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		of = &oae_sched_port_device.ports[cpu].counts;
		sum->swaps += of->swaps;
		sum->sends += of->sends;
		sum->swap_not_ready += of->swap_not_ready;
		sum->send_not_ready += of->send_not_ready;
		sum->doubts += of->doubts;
		sum->foreign += of->foreign;
		sum->kept += of->kept;
	}
}

static int port_finish_work(struct oae_sched_counts *counts)
{
	int ret;

	/* If the last start has failed, there are no ports. */
	if (!oae_sched_port_device.cpus)
		return -EIO;
	ret = oae_sched_events_drain_all() ?: oae_sched_calls_finish(counts);
	if (!ret)
		add_counts(counts);
	return ret;
}

/* The agent may have left unread what has gone, two events of a CPU at most. */
static void port_take_stock(struct oae_sched_left *left)
{
	struct oae_sched_ports *ports;
	unsigned int cpu;

	stop_periods(); /* They send what is kept. */
	for (cpu = 0; cpu < nr_cpu_ids; cpu++, left++) {
		ports = &oae_sched_port_device.ports[cpu];
		left->undelivered = ports->tail - ports->head + ports->end.due;
		oae_sched_port_take_offer(ports, left);
	}
}

static void port_stop(void)
{
	struct queue_control control = { .command = QUEUE_STOP };

	stop_periods();
	oae_sched_calls_request(&control);
	oae_sched_calls_end();
	release_ports();
}

static struct oae_sched_transport oae_sched_port = {
	.name = "port",
	.owner = THIS_MODULE,
	.send = oae_sched_port_send,
	.claim = oae_sched_port_claim,
	.finish = oae_sched_port_finish,
	.prefetch = port_prefetch,
	.idle = port_idle,
	.liveness = oae_sched_calls_liveness,
	.start = port_start,
	.finish_work = port_finish_work,
	.stop = port_stop,
	.take_stock = port_take_stock,
};

static int __init port_init(void)
{
	unsigned int cpu;

	BUILD_BUG_ON(sizeof(union port_payload) != 8 * OAE_PAYLOAD_WORDS);
	BUILD_BUG_ON(sizeof(struct port_counts) >
		     sizeof(struct oae_sched_counts) - 8 * PORT_COUNTS_AT);
	for (cpu = 0; cpu < OAE_SCHED_CPUS; cpu++)
		hrtimer_setup(&oae_sched_port_device.ports[cpu].timer, port_period,
			      CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	return oae_sched_register(&oae_sched_port);
}
module_init(port_init);

static void __exit port_exit(void)
{
	oae_sched_unregister(&oae_sched_port);
}
module_exit(port_exit);

MODULE_DESCRIPTION("Swap ports to a scheduling agent on a device");
MODULE_LICENSE("GPL");
