// SPDX-License-Identifier: GPL-2.0
/*
 * The transport to an agent on a device by swap ports: each CPU swaps for a decision on one port,
 * and sends events on another (port_layout.h).
 *
 * A CPU waits for each swap and each SEND, for as long as a read of the device takes. What the
 * device has no room for is kept here, in order, until the CPU uses a port again or its period is
 * over. Only its own CPU uses a port, with interrupts off, so that nothing here needs a lock.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "oae_kernel.h"
#include "oae_sched.h"
#include "oae_sched_calls.h"
#include "port_layout.h"

static unsigned int first_port;
module_param(first_port, uint, 0644);
MODULE_PARM_DESC(first_port, "first of the swap ports; each CPU has two, one after the other (0)");

static bool streamed = true;
module_param(streamed, bool, 0644);
MODULE_PARM_DESC(streamed, "get answers in the completion of a read, else pushed by DMA");

static unsigned int period_us = 4000;
module_param(period_us, uint, 0644);
MODULE_PARM_DESC(period_us, "how often a CPU looks for a decision without a call, 0 for never (4000)");

static unsigned int patience_us = 50;
module_param(patience_us, uint, 0644);
MODULE_PARM_DESC(patience_us, "how long a CPU waits for room for an event (50)");

static unsigned int tries = 3;
module_param(tries, uint, 0644);
MODULE_PARM_DESC(tries, "how often a CPU asks for a decision while no offer stands (3)");

static unsigned int kept_events = 256;
module_param(kept_events, uint, 0644);
MODULE_PARM_DESC(kept_events, "room for events of a CPU that wait: a power of two from 8 (256)");

static bool carry_events = true;
module_param(carry_events, bool, 0644);
MODULE_PARM_DESC(carry_events, "give the message that a task blocks with the swap that follows it, and let the message that a task runs end its decision");

static unsigned int silence_ms = 15;
module_param(silence_ms, uint, 0644);
MODULE_PARM_DESC(silence_ms, "how long no offer may stand until the agent counts as dead, 0 for ever (15)");

static unsigned int answer_timeout_ms = 1000;
module_param(answer_timeout_ms, uint, 0644);
MODULE_PARM_DESC(answer_timeout_ms, "how long events may take to leave at the end (1000)");

#define KEPT_MIN 8
#define KEPT_MAX 65536

struct oae_sched_event {
	u64 words[PORT_WORDS];
};

struct oae_sched_way {
	struct oae_claim *claim; /* of a port */
	bool doubt; /* It is not known whether the last swap took place. */
};

/* Of a CPU, which alone uses it, with interrupts off. */
struct oae_sched_ports {
	struct oae_sched_way decisions;
	struct oae_sched_way events;
	u64 number; /* of the last decision, 0 for none */
	struct {
		bool due; /* Its end as COMPLETE has not been reported. */
		u64 time;
		u64 cpu_sequence;
	} end;
	struct oae_sched_event *kept; /* events that have not left */
	unsigned int head; /* of these, modulo their number */
	unsigned int tail;
	u32 sent; /* events that have left by a SEND, modulo 2^32 */
	bool last_may_ride; /* The last event that is kept may be given with a swap. */
	bool riding; /* The first one is given with a swap whose end is not known. */
	bool crowded; /* The agent had no room for the first one. */
	bool lost; /* Events after the last one that is kept are lost. */
	u64 silent_since; /* No offer has stood since then, 0 for none: */
	u64 silent_at; /* when that was seen last */
	struct hrtimer timer;
	struct port_counts counts;
};

static struct {
	u64 cpus;
	u32 run; /* number of the request that has started the agent */
	unsigned int first_port;
	bool streamed;
	unsigned int kept_events;
	struct oae_sched_ports ports[OAE_SCHED_CPUS];
} device;

/*
 * Swaps, or settles the swap before. Returns its status, or -1 if there is none: the device does
 * not work for a while, or for good. Doubt may come from a single answer that was lost; if it is
 * still there when the port is used next, the device does not answer.
 */
static int exchange(struct oae_sched_way *way, u8 verb, const u64 *words,
		    struct port_counts *counts, struct oae_claim_answer *answer)
{
	int ret = 0;

	if (way->doubt) {
		ret = oae_claim_settle(way->claim, answer);
		if (!ret && answer->status == OAE_CLAIM_IN_DOUBT) {
			oae_sched_notice(OAE_SCHED_DOUBT);
			return answer->status;
		}
	}
	/* An answer to a swap in doubt counts. If that has not taken place, it is made now. */
	if (!way->doubt || ret == -ENODATA || (!ret && answer->status != OAE_SWAP_STATUS_OK))
		ret = oae_claim_swap(way->claim, verb, words, answer);
	if (ret == -EINPROGRESS)
		way->doubt = true;
	else if (ret)
		oae_sched_notice(ret == -ENODEV ? OAE_SCHED_REMOVAL : OAE_SCHED_RESET);
	if (ret)
		return -1;
	way->doubt = answer->status == OAE_CLAIM_IN_DOUBT;
	counts->doubts += way->doubt;
	return answer->status;
}

/* Sends the events that are kept up to this one. Returns whether one of them finds no room. */
static bool drain_to(struct oae_sched_ports *ports, unsigned int tail)
{
	const unsigned int mask = device.kept_events - 1;
	struct oae_claim_answer answer;
	int status;

	ports->crowded = false;
	while (ports->head != tail && !ports->riding) {
		status = exchange(&ports->events, OAE_SWAP_VERB_SEND,
				  ports->kept[ports->head & mask].words, &ports->counts, &answer);
		if (status == OAE_SWAP_STATUS_NOT_READY) {
			ports->counts.send_not_ready++;
			ports->crowded = true;
			return true;
		}
		if (status != OAE_SWAP_STATUS_OK)
			return false;
		ports->counts.sends++;
		ports->sent++;
		ports->head++;
	}
	return false;
}

static bool has_room(const struct oae_sched_ports *ports, unsigned int events)
{
	return ports->kept && ports->tail + events - ports->head <= device.kept_events;
}

static u64 *keep(struct oae_sched_ports *ports, const union queue_entry *entry, u64 time)
{
	struct oae_sched_event *event = &ports->kept[ports->tail & (device.kept_events - 1)];

	if (!port_pack(entry, time, event->words))
		return NULL;
	ports->last_may_ride = false;
	ports->tail++;
	return event->words;
}

static void keep_end(struct oae_sched_ports *ports, enum ghost_state state, u64 time,
		     u64 cpu_sequence)
{
	const union queue_entry end = {
		.outcome = { .header = { .type = QUEUE_OUTCOME, .length = sizeof(end.outcome) },
			     .number = ports->number,
			     .state = state,
			     .time = time,
			     .cpu_sequence = cpu_sequence },
	};

	if (has_room(ports, 1))
		keep(ports, &end, time);
	else
		ports->lost = true;
}

/* Keeps the end of a decision for which no message that a task runs has come. */
static void keep_due_end(struct oae_sched_ports *ports)
{
	if (!ports->end.due)
		return;
	ports->end.due = false;
	keep_end(ports, GHOST_COMPLETE, ports->end.time, ports->end.cpu_sequence);
}

/* Sends all that is kept. Returns whether an event finds no room. */
static bool drain(struct oae_sched_ports *ports)
{
	keep_due_end(ports);
	return drain_to(ports, ports->tail);
}

/* Sends what is kept. The CPU waits for room unless other events wait for it already. */
static void send_kept(struct oae_sched_ports *ports)
{
	const bool patient = !ports->crowded;
	const u64 end = ktime_get_mono_fast_ns() + (u64)READ_ONCE(patience_us) * NSEC_PER_USEC;

	while (drain_to(ports, ports->tail) && patient && ktime_get_mono_fast_ns() < end)
		;
	ports->counts.kept += ports->head != ports->tail;
}

/* Whether a swap follows this message at once, or else another message. */
static bool may_ride(unsigned int cpu, const struct ghost_message *message)
{
	return READ_ONCE(carry_events) && message->header.type == GHOST_BLOCKED &&
	       message->blocked.cpu == cpu && device.cpus >> cpu & 1;
}

/* Whether the task of this message runs by the decision whose end is due. */
static bool is_end(const struct oae_sched_ports *ports, const struct ghost_message *message)
{
	return ports->end.due && message->header.type == GHOST_ON_CPU &&
	       message->on_cpu.cpu_sequence == ports->end.cpu_sequence + 1;
}

/* Keeps a message, with the end of the decision by which its task runs. */
static bool keep_message(struct oae_sched_ports *ports, const struct ghost_message *message,
			 u64 time)
{
	union queue_entry entry = { .message = *message };
	const bool ends = is_end(ports, message);
	u64 *words;

	if (ends)
		entry.message.on_cpu.commit_time = ports->end.time;
	words = keep(ports, &entry, time);
	if (words && ends) {
		port_event_note(words, port_end_note(ports->number));
		ports->end.due = false;
	}
	return words;
}

static bool port_send(unsigned int cpu, const struct ghost_message *message, u64 time)
{
	const struct ghost_header lost = { .type = QUEUE_LOST, .length = sizeof(lost) };
	const union queue_entry mark = { .message.header = lost };
	struct oae_sched_ports *ports = &device.ports[cpu];

	if (!is_end(ports, message))
		keep_due_end(ports);
	/* There is always room for the end of a decision and the mark of a loss. */
	if (!has_room(ports, 3)) {
		ports->lost = true;
		drain(ports);
		return false;
	}
	if (ports->lost)
		keep(ports, &mark, time);
	ports->lost = !keep_message(ports, message, time);
	ports->last_may_ride = !ports->lost && may_ride(cpu, message);
	if (!ports->last_may_ride)
		send_kept(ports);
	return !ports->lost;
}

static void port_finish(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence)
{
	struct oae_sched_ports *ports = &device.ports[cpu];

	if (state == GHOST_COMPLETE && READ_ONCE(carry_events)) {
		ports->end.due = true;
		ports->end.time = time;
		ports->end.cpu_sequence = cpu_sequence;
		return;
	}
	keep_end(ports, state, time, cpu_sequence);
	send_kept(ports);
}

/*
 * An offer always stands while the agent works, but for moments. A CPU that has not looked for a
 * while does not know what was in between.
 */
static void note_answer(struct oae_sched_ports *ports, int status)
{
	const u64 limit = (u64)READ_ONCE(silence_ms) * NSEC_PER_MSEC;
	u64 now;

	if (status != OAE_SWAP_STATUS_NOT_READY) {
		ports->silent_since = 0;
		return;
	}
	now = ktime_get_mono_fast_ns();
	if (!ports->silent_since || now - ports->silent_at > limit / 2)
		ports->silent_since = now;
	ports->silent_at = now;
	if (limit && now - ports->silent_since > limit)
		oae_sched_notice(OAE_SCHED_SILENCE);
}

/* Swaps for a decision, and gives an event or none. Returns its status, or -1. */
static int ask(struct oae_sched_ports *ports, struct oae_claim_answer *answer)
{
	const struct oae_sched_event none = { .words = { PORT_NO_EVENT, ktime_get_mono_fast_ns() } };
	struct oae_sched_event given = none;
	unsigned int try = 0;
	int status;

	/* If the swap before is in doubt, it has given the first event, or this one does. */
	if (ports->riding || (ports->last_may_ride && ports->tail - ports->head == 1)) {
		given = ports->kept[ports->head & (device.kept_events - 1)];
		port_event_note(given.words, ports->sent);
		ports->riding = true;
	}
	/* No offer stands while the agent replaces one. */
	do {
		status = exchange(&ports->decisions, OAE_SWAP_VERB_SWAP, given.words,
				  &ports->counts, answer);
		ports->counts.swap_not_ready += status == OAE_SWAP_STATUS_NOT_READY;
	} while (status == OAE_SWAP_STATUS_NOT_READY && ++try < READ_ONCE(tries));
	if (status == OAE_SWAP_STATUS_OK && ports->riding)
		ports->head++;
	if (!ports->decisions.doubt)
		ports->riding = false;
	note_answer(ports, status);
	return status;
}

static struct oae_sched_slot decision_of(const struct port_offer *offer)
{
	return (struct oae_sched_slot){ .version = offer->version,
					.cpu = offer->cpu,
					.state = GHOST_READY,
					.task_barrier = offer->barrier,
					.gtid = offer->gtid,
					.newest = offer->newest,
					.number = offer->number };
}

static bool port_claim(unsigned int cpu, struct oae_sched_slot *decision)
{
	struct oae_sched_ports *ports = &device.ports[cpu];
	union port_payload payload;
	struct oae_claim_answer answer;
	const struct port_offer *offer = &payload.offer;
	int status;

	if (!(device.cpus >> cpu & 1))
		return false;
	keep_due_end(ports);
	drain_to(ports, ports->tail - ports->last_may_ride);
	status = ask(ports, &answer);
	/* What no swap has given is sent. */
	if (ports->head != ports->tail)
		send_kept(ports);
	if (status != OAE_SWAP_STATUS_OK)
		return false;
	ports->counts.swaps++;
	memcpy(payload.words, answer.payload, sizeof(payload.words));
	if (offer->run != device.run) {
		ports->counts.foreign++;
		return false;
	}
	if (offer->kind == PORT_NOTHING)
		return false;
	ports->number = offer->number;
	*decision = decision_of(offer);
	return true;
}

static void port_prefetch(unsigned int cpu)
{
}

static void port_idle(unsigned int cpu, bool idle)
{
	/* A CPU that ceases to idle runs a task next, and says so. */
	if (idle)
		drain(&device.ports[cpu]);
}

static void port_called(unsigned int cpu, enum queue_call call)
{
	if (READ_ONCE(device.cpus))
		oae_sched_kick(cpu, call == QUEUE_CALL_PREEMPT);
}

static enum hrtimer_restart port_period(struct hrtimer *timer)
{
	struct oae_sched_ports *ports = container_of(timer, struct oae_sched_ports, timer);
	const unsigned int cpu = ports - device.ports;

	/* A CPU that goes offline leaves its timers to another one. */
	if (!READ_ONCE(device.cpus) || cpu != smp_processor_id())
		return HRTIMER_NORESTART;
	drain(ports);
	oae_sched_kick(cpu, false);
	hrtimer_forward_now(timer, us_to_ktime(max(READ_ONCE(period_us), 1U)));
	return HRTIMER_RESTART;
}

static void start_period(void *unused)
{
	struct hrtimer *timer = &device.ports[smp_processor_id()].timer;

	hrtimer_start(timer, us_to_ktime(READ_ONCE(period_us)), HRTIMER_MODE_REL_PINNED_HARD);
}

static void release_port(struct oae_sched_way *way)
{
	if (way->claim)
		oae_claim_release(way->claim);
	*way = (struct oae_sched_way){};
}

static void release(struct oae_sched_ports *ports)
{
	release_port(&ports->decisions);
	release_port(&ports->events);
	kvfree(ports->kept);
	ports->kept = NULL;
}

static void stop_periods(void)
{
	unsigned int cpu;

	WRITE_ONCE(device.cpus, 0);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		hrtimer_cancel(&device.ports[cpu].timer);
}

static void release_ports(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		release(&device.ports[cpu]);
}

static int claim_port(struct oae_sched_way *way, unsigned int port)
{
	static const struct oae_client client;
	static bool said; /* since the last claim that succeeded: a start may be tried again and again */
	const u8 form = device.streamed ? OAE_SWAP_FORM_STREAMED : OAE_SWAP_FORM_PUSHED;
	struct oae_claim *claim = oae_claim_port(0, port, form, &client, NULL);

	if (IS_ERR(claim)) {
		if (!said)
			pr_err("oae_sched_port: port %u cannot be claimed: %pe\n", port, claim);
		said = true;
		return PTR_ERR(claim);
	}
	said = false;
	way->claim = claim;
	return 0;
}

static int claim_ports(void)
{
	struct oae_sched_ports *ports;
	unsigned int cpu;
	int ret = 0;

	device.first_port = first_port;
	device.streamed = streamed;
	device.kept_events = kept_events;
	for (cpu = 0; cpu < nr_cpu_ids && !ret; cpu++) {
		ports = &device.ports[cpu];
		ports->kept = kvcalloc(device.kept_events, sizeof(*ports->kept), GFP_KERNEL);
		if (!ports->kept)
			return -ENOMEM;
		ret = claim_port(&ports->decisions, port_of_decisions(first_port, cpu)) ?:
		      claim_port(&ports->events, port_of_events(first_port, cpu));
	}
	return ret;
}

/* Whether another agent can use the ports as they are, which makes its start quick. */
static bool is_reusable(void)
{
	const struct oae_sched_ports *ports;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		ports = &device.ports[cpu];
		if (!ports->decisions.claim || !ports->events.claim || ports->decisions.doubt ||
		    ports->events.doubt)
			return false;
	}
	return device.first_port == first_port && device.streamed == streamed &&
	       device.kept_events == kept_events;
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
		.first_port = device.first_port,
		.time = ktime_get_mono_fast_ns(),
	};
	int ret;

	ret = oae_sched_calls_request(&control);
	device.run = control.request;
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
		forget(&device.ports[cpu]);
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
	WRITE_ONCE(device.cpus, start->cpus);
	if (period_us)
		on_each_cpu(start_period, NULL, true);
	return 0;
}

static void drain_here(void *left)
{
	struct oae_sched_ports *ports = &device.ports[smp_processor_id()];

	drain(ports);
	if (ports->head != ports->tail)
		atomic_inc(left);
}

/* Sends all that is kept, while nobody sends anything new. */
static int drain_all(void)
{
	const unsigned long end = jiffies + msecs_to_jiffies(answer_timeout_ms);
	atomic_t left;

	for (;;) {
		atomic_set(&left, 0);
		on_each_cpu(drain_here, &left, true);
		if (!atomic_read(&left))
			return 0;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(50, 100);
	}
}

/* Adds what the CPUs have counted to what the agent has. */
static void add_counts(struct oae_sched_counts *counts)
{
	struct port_counts *sum = (struct port_counts *)&counts->words[PORT_COUNTS_AT];
	const struct port_counts *of;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		of = &device.ports[cpu].counts;
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
	if (!device.cpus)
		return -EIO;
	ret = drain_all() ?: oae_sched_calls_finish(counts);
	if (!ret)
		add_counts(counts);
	return ret;
}

/*
 * Takes the offer that stands on a port, which nobody uses any more. A port that is in doubt, or a
 * device that may not answer, is left alone.
 */
static void take_offer(struct oae_sched_ports *ports, struct oae_sched_left *left)
{
	const struct oae_sched_event none = { .words = { PORT_NO_EVENT, ktime_get_mono_fast_ns() } };
	union port_payload payload;
	struct oae_claim_answer answer;
	int status = -1;

	if (ports->decisions.claim && !ports->decisions.doubt && !ports->events.doubt &&
	    oae_sched_calls_known())
		status = exchange(&ports->decisions, OAE_SWAP_VERB_SWAP, none.words, &ports->counts,
				  &answer);
	left->decision.number = ports->number;
	if (status == OAE_SWAP_STATUS_NOT_READY)
		return;
	left->standing = OAE_SCHED_UNKNOWN;
	if (status != OAE_SWAP_STATUS_OK)
		return;
	memcpy(payload.words, answer.payload, sizeof(payload.words));
	left->standing = OAE_SCHED_NONE_STOOD;
	if (payload.offer.run != device.run || payload.offer.kind == PORT_NOTHING)
		return;
	left->standing = OAE_SCHED_ONE_STOOD;
	left->decision = decision_of(&payload.offer);
}

/* The agent may have left unread what has gone, two events of a CPU at most. */
static void port_take_stock(struct oae_sched_left *left)
{
	struct oae_sched_ports *ports;
	unsigned int cpu;

	stop_periods(); /* They send what is kept. */
	for (cpu = 0; cpu < nr_cpu_ids; cpu++, left++) {
		ports = &device.ports[cpu];
		left->undelivered = ports->tail - ports->head + ports->end.due;
		take_offer(ports, left);
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
	.send = port_send,
	.claim = port_claim,
	.finish = port_finish,
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
		hrtimer_setup(&device.ports[cpu].timer, port_period, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
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
