/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The transport to an agent on a device by swap ports: each CPU swaps for a decision on one port,
 * and sends events on another (port_layout.h).
 *
 * A CPU waits for each swap and each SEND, for as long as a read of the device takes. Only its own
 * CPU uses a port, with interrupts off, so that nothing here needs a lock.
 */
#ifndef OAE_SCHED_PORT_H
#define OAE_SCHED_PORT_H

#include <linux/hrtimer.h>
#include <linux/types.h>

#include "oae_kernel.h"
#include "oae_sched.h"
#include "port_layout.h"

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
	struct hrtimer timer; /* of the period, or until the CPU sends again what it has kept */
	ktime_t looked; /* when the timer made the CPU look for a decision last */
	struct port_counts counts;
};

struct oae_sched_port_device {
	u64 cpus; /* that run tasks of the agent; 0: nobody uses the ports */
	u32 run; /* number of the request that has started the agent */
	unsigned int kept_events;
	struct oae_sched_ports ports[OAE_SCHED_CPUS];
};

/* oae_sched_port_main.c */
extern struct oae_sched_port_device oae_sched_port_device;

/* The event that is or becomes the n-th one to be kept, modulo 2^32. */
static inline struct oae_sched_event *oae_sched_event(const struct oae_sched_ports *ports,
						      unsigned int n)
{
	return &ports->kept[n & (oae_sched_port_device.kept_events - 1)];
}

/* oae_sched_port_way.c: a port that a CPU owns. */
int oae_sched_way_claim(struct oae_sched_way *way, unsigned int port, u8 form);
void oae_sched_way_release(struct oae_sched_way *way);
/*
 * Swaps, or settles the swap before. Returns its status, or -1 if there is none: the device does
 * not work for a while, or for good. Doubt may come from a single answer that was lost; if it is
 * still there when the port is used next, the device does not answer.
 */
int oae_sched_way_exchange(struct oae_sched_way *way, u8 verb, const u64 *words,
			   struct port_counts *counts, struct oae_claim_answer *answer);

/* oae_sched_port_events.c: events for the agent, which are kept and sent. */
bool oae_sched_port_send(unsigned int cpu, const struct ghost_message *message, u64 time);
void oae_sched_port_finish(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence);
/* Keeps the end of a decision for which no message that a task runs has come. */
void oae_sched_events_keep_due_end(struct oae_sched_ports *ports);
/* Sends the events that are kept up to this one. Returns whether one of them finds no room. */
bool oae_sched_events_send_to(struct oae_sched_ports *ports, unsigned int tail);
/* Sends what is kept. The CPU waits for room unless other events wait for it already. */
void oae_sched_events_send_kept(struct oae_sched_ports *ports);
/* Sends all that is kept or due, without waiting. Returns whether an event finds no room. */
bool oae_sched_events_drain(struct oae_sched_ports *ports);
/* Sends all that is kept on all CPUs, while nobody sends anything new. */
int oae_sched_events_drain_all(void);

/* oae_sched_port_decisions.c: what the agent offers. */
bool oae_sched_port_claim(unsigned int cpu, struct oae_sched_slot *decision);
/*
 * Takes the offer that stands on a port, which nobody uses any more. A port that is in doubt, or a
 * device that may not answer, is left alone.
 */
void oae_sched_port_take_offer(struct oae_sched_ports *ports, struct oae_sched_left *left);

#endif
