// SPDX-License-Identifier: GPL-2.0
/* The transports that modules offer, and the one in use. */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "oae_sched.h"

static bool send_nothing(unsigned int cpu, const struct ghost_message *message, u64 time)
{
	return false;
}

static bool claim_nothing(unsigned int cpu, struct oae_sched_slot *decision)
{
	return false;
}

static void finish_nothing(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence)
{
}

static void prefetch_nothing(unsigned int cpu)
{
}

static void idle_nothing(unsigned int cpu, bool idle)
{
}

static u64 no_liveness(void)
{
	return 0;
}

/* In use while an agent begins anew. */
static const struct oae_sched_transport oae_sched_nothing = {
	.name = "nothing",
	.owner = THIS_MODULE,
	.send = send_nothing,
	.claim = claim_nothing,
	.finish = finish_nothing,
	.prefetch = prefetch_nothing,
	.idle = idle_nothing,
	.liveness = no_liveness,
};

const struct oae_sched_transport *oae_sched_transport = &oae_sched_memory;

static DEFINE_MUTEX(lock);
static LIST_HEAD(transports);
static struct oae_sched_transport *started;
static struct oae_sched_start started_with;

/* Of the agent that is given up, until the next one works. */
static struct {
	bool known; /* the rest */
	struct oae_sched_left left[OAE_SCHED_CPUS];
	u64 undelivered; /* the sum; U64_MAX: unknown */
} stock;

#define RESTART_MS 20

static void start_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(again, start_again);

/**
 * oae_sched_register - offers a transport to those who start agents
 * @transport: the transport; its name must be its own
 */
int oae_sched_register(struct oae_sched_transport *transport)
{
	struct oae_sched_transport *other;
	int ret = 0;

	mutex_lock(&lock);
	list_for_each_entry(other, &transports, list)
		if (!strcmp(other->name, transport->name))
			ret = -EEXIST;
	if (!ret)
		list_add_tail(&transport->list, &transports);
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_sched_register);

/**
 * oae_sched_unregister - takes a transport back
 * @transport: the transport, which must not be in use: its module is held while it is
 */
void oae_sched_unregister(struct oae_sched_transport *transport)
{
	mutex_lock(&lock);
	list_del(&transport->list);
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(oae_sched_unregister);

static struct oae_sched_transport *find(const char *name)
{
	struct oae_sched_transport *transport;

	list_for_each_entry(transport, &transports, list)
		if (!strncmp(transport->name, name, sizeof_field(struct oae_sched_start, transport)))
			return transport;
	return NULL;
}

/* Those who use the old one have interrupts off. */
static void use(const struct oae_sched_transport *transport)
{
	WRITE_ONCE(oae_sched_transport, transport);
	synchronize_rcu_expedited(); /* Tasks wait while an agent begins anew. */
}

static int start_locked(const struct oae_sched_start *start)
{
	struct oae_sched_transport *transport = find(start->transport);
	int ret;

	if (started)
		return -EBUSY;
	if (!transport || !try_module_get(transport->owner))
		return -ENODEV;
	ret = transport->start(start);
	if (ret) {
		module_put(transport->owner);
		return ret;
	}
	started = transport;
	started_with = *start;
	stock.known = false;
	use(transport);
	return 0;
}

static void trace_left(unsigned int cpu)
{
	struct oae_sched_record *record;
	unsigned long flags;

	local_irq_save(flags);
	record = oae_sched_trace_next();
	if (record)
		oae_sched_trace_left(record, cpu, &stock.left[cpu]);
	local_irq_restore(flags);
}

static void take_stock(void)
{
	unsigned int cpu;

	memset(stock.left, 0, sizeof(stock.left));
	started->take_stock(stock.left);
	stock.undelivered = 0;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		trace_left(cpu);
		if (stock.left[cpu].undelivered == U64_MAX)
			stock.undelivered = U64_MAX;
		else if (stock.undelivered != U64_MAX)
			stock.undelivered += stock.left[cpu].undelivered;
	}
	stock.known = true;
}

/* The record precedes what the new agent is told, and what it decides. */
static void resume(void)
{
	struct oae_sched_record *record;
	u64 time;

	rcu_read_lock(); /* The trace stays. */
	record = oae_sched_trace_next();
	time = record ? ktime_get_mono_fast_ns() : 0;
	oae_sched_resume(stock.undelivered);
	if (record)
		oae_sched_trace_resumed(record, time, stock.undelivered);
	rcu_read_unlock();
}

/* Nobody uses the transport meanwhile. */
static void start_again(struct work_struct *work)
{
	bool tried;

	mutex_lock(&lock);
	tried = started;
	if (tried) {
		use(&oae_sched_nothing);
		if (!stock.known)
			take_stock();
		tried = started->start(&started_with);
		if (!tried) {
			stock.known = false;
			use(started);
			resume();
		}
	}
	mutex_unlock(&lock);
	if (tried)
		schedule_delayed_work(&again, msecs_to_jiffies(RESTART_MS));
}

void oae_sched_start_again(void)
{
	schedule_delayed_work(&again, 0);
}

static void raise_alarm(struct irq_work *work);

/* The sign that was seen first, until the scheduler has been told. */
static struct {
	atomic_t seen;
	enum oae_sched_sign sign;
	u64 time;
	struct irq_work work; /* since signs are also seen where the scheduler cannot act */
} notice = { .work = IRQ_WORK_INIT_HARD(raise_alarm) };

static void raise_alarm(struct irq_work *work)
{
	oae_sched_alarm(notice.sign, notice.time);
	atomic_set_release(&notice.seen, 0);
}

void oae_sched_notice(enum oae_sched_sign sign)
{
	if (atomic_cmpxchg(&notice.seen, 0, 1))
		return;
	notice.sign = sign;
	notice.time = ktime_get_mono_fast_ns();
	irq_work_queue(&notice.work);
}
EXPORT_SYMBOL_GPL(oae_sched_notice);

int oae_sched_start(const struct oae_sched_start *start)
{
	int ret;

	mutex_lock(&lock);
	ret = start_locked(start);
	mutex_unlock(&lock);
	return ret;
}

int oae_sched_finish_work(struct oae_sched_counts *counts)
{
	int ret;

	mutex_lock(&lock);
	ret = started ? started->finish_work(counts) : -ENODEV;
	mutex_unlock(&lock);
	return ret;
}

void oae_sched_stop(void)
{
	cancel_delayed_work_sync(&again);
	mutex_lock(&lock);
	if (started) {
		use(&oae_sched_memory);
		started->stop();
		module_put(started->owner);
		started = NULL;
	}
	mutex_unlock(&lock);
}

/* Nobody notices anything any more. */
void oae_sched_transport_exit(void)
{
	irq_work_sync(&notice.work);
	cancel_delayed_work_sync(&again);
}
