// SPDX-License-Identifier: GPL-2.0
/*
 * Events for the agent: messages, and the ends of decisions. What the device has no room for is kept
 * here, in order, until the CPU uses a port again or its period is over.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "oae_sched_port.h"

static unsigned int patience_us = 50;
module_param(patience_us, uint, 0644);
MODULE_PARM_DESC(patience_us, "how long a CPU waits for room for an event (50)");

static bool carry_events = true;
module_param(carry_events, bool, 0644);
MODULE_PARM_DESC(carry_events, "give the message that a task blocks with the swap that follows it, and let the message that a task runs end its decision");

static unsigned int answer_timeout_ms = 1000;
module_param(answer_timeout_ms, uint, 0644);
MODULE_PARM_DESC(answer_timeout_ms, "how long events may take to leave at the end (1000)");

bool oae_sched_events_send_to(struct oae_sched_ports *ports, unsigned int tail)
{
	struct oae_claim_answer answer;
	int status;

	ports->crowded = false;
	while (ports->head != tail && !ports->riding) {
		status = oae_sched_way_exchange(&ports->events, OAE_SWAP_VERB_SEND,
						oae_sched_event(ports, ports->head)->words,
						&ports->counts, &answer);
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
	return ports->kept &&
	       ports->tail + events - ports->head <= oae_sched_port_device.kept_events;
}

static u64 *keep(struct oae_sched_ports *ports, const union queue_entry *entry, u64 time)
{
	struct oae_sched_event *event = oae_sched_event(ports, ports->tail);

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

void oae_sched_events_keep_due_end(struct oae_sched_ports *ports)
{
	if (!ports->end.due)
		return;
	ports->end.due = false;
	keep_end(ports, GHOST_COMPLETE, ports->end.time, ports->end.cpu_sequence);
}

bool oae_sched_events_drain(struct oae_sched_ports *ports)
{
	oae_sched_events_keep_due_end(ports);
	return oae_sched_events_send_to(ports, ports->tail);
}

void oae_sched_events_send_kept(struct oae_sched_ports *ports)
{
	const bool patient = !ports->crowded;
	const u64 end = ktime_get_mono_fast_ns() + (u64)READ_ONCE(patience_us) * NSEC_PER_USEC;

	while (oae_sched_events_send_to(ports, ports->tail) && patient &&
	       ktime_get_mono_fast_ns() < end)
		;
	ports->counts.kept += ports->head != ports->tail;
}

/* Whether a swap follows this message at once, or else another message. */
static bool may_ride(unsigned int cpu, const struct ghost_message *message)
{
	return READ_ONCE(carry_events) && message->header.type == GHOST_BLOCKED &&
	       message->blocked.cpu == cpu && oae_sched_port_device.cpus >> cpu & 1;
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

bool oae_sched_port_send(unsigned int cpu, const struct ghost_message *message, u64 time)
{
	const struct ghost_header lost = { .type = QUEUE_LOST, .length = sizeof(lost) };
	const union queue_entry mark = { .message.header = lost };
	struct oae_sched_ports *ports = &oae_sched_port_device.ports[cpu];

	if (!is_end(ports, message))
		oae_sched_events_keep_due_end(ports);
	/* There is always room for the end of a decision and the mark of a loss. */
	if (!has_room(ports, 3)) {
		ports->lost = true;
		oae_sched_events_drain(ports);
		return false;
	}
	if (ports->lost)
		keep(ports, &mark, time);
	ports->lost = !keep_message(ports, message, time);
	ports->last_may_ride = !ports->lost && may_ride(cpu, message);
	if (!ports->last_may_ride)
		oae_sched_events_send_kept(ports);
	return !ports->lost;
}

void oae_sched_port_finish(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence)
{
	struct oae_sched_ports *ports = &oae_sched_port_device.ports[cpu];

	if (state == GHOST_COMPLETE && READ_ONCE(carry_events)) {
		ports->end.due = true;
		ports->end.time = time;
		ports->end.cpu_sequence = cpu_sequence;
		return;
	}
	keep_end(ports, state, time, cpu_sequence);
	oae_sched_events_send_kept(ports);
}

static void drain_here(void *left)
{
	struct oae_sched_ports *ports = &oae_sched_port_device.ports[smp_processor_id()];

	oae_sched_events_drain(ports);
	if (ports->head != ports->tail)
		atomic_inc(left);
}

int oae_sched_events_drain_all(void)
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
