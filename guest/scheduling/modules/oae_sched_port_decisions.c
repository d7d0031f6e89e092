// SPDX-License-Identifier: GPL-2.0
/* Decisions: a CPU swaps for one, and gives an event or none with the swap. */
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "oae_sched_calls.h"
#include "oae_sched_port.h"

static unsigned int tries = 3;
module_param(tries, uint, 0644);
MODULE_PARM_DESC(tries, "how often a CPU asks for a decision while no offer stands (3)");

static unsigned int silence_ms = 15;
module_param(silence_ms, uint, 0644);
MODULE_PARM_DESC(silence_ms, "how long no offer may stand until the agent counts as dead, 0 for ever (15)");

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
		given = *oae_sched_event(ports, ports->head);
		port_event_note(given.words, ports->sent);
		ports->riding = true;
	}
	/* No offer stands while the agent replaces one. */
	do {
		status = oae_sched_way_exchange(&ports->decisions, OAE_SWAP_VERB_SWAP, given.words,
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

bool oae_sched_port_claim(unsigned int cpu, struct oae_sched_slot *decision)
{
	struct oae_sched_ports *ports = &oae_sched_port_device.ports[cpu];
	union port_payload payload;
	struct oae_claim_answer answer;
	const struct port_offer *offer = &payload.offer;
	int status;

	if (!(oae_sched_port_device.cpus >> cpu & 1))
		return false;
	oae_sched_events_keep_due_end(ports);
	oae_sched_events_send_to(ports, ports->tail - ports->last_may_ride);
	status = ask(ports, &answer);
	/* What no swap has given is sent. */
	if (ports->head != ports->tail)
		oae_sched_events_send_kept(ports);
	if (status != OAE_SWAP_STATUS_OK)
		return false;
	ports->counts.swaps++;
	memcpy(payload.words, answer.payload, sizeof(payload.words));
	if (offer->run != oae_sched_port_device.run) {
		ports->counts.foreign++;
		return false;
	}
	if (offer->kind == PORT_NOTHING)
		return false;
	ports->number = offer->number;
	*decision = decision_of(offer);
	return true;
}

void oae_sched_port_take_offer(struct oae_sched_ports *ports, struct oae_sched_left *left)
{
	const struct oae_sched_event none = { .words = { PORT_NO_EVENT, ktime_get_mono_fast_ns() } };
	union port_payload payload;
	struct oae_claim_answer answer;
	int status = -1;

	if (ports->decisions.claim && !ports->decisions.doubt && !ports->events.doubt &&
	    oae_sched_calls_known())
		status = oae_sched_way_exchange(&ports->decisions, OAE_SWAP_VERB_SWAP, none.words,
						&ports->counts, &answer);
	left->decision.number = ports->number;
	if (status == OAE_SWAP_STATUS_NOT_READY)
		return;
	left->standing = OAE_SCHED_UNKNOWN;
	if (status != OAE_SWAP_STATUS_OK)
		return;
	memcpy(payload.words, answer.payload, sizeof(payload.words));
	left->standing = OAE_SCHED_NONE_STOOD;
	if (payload.offer.run != oae_sched_port_device.run || payload.offer.kind == PORT_NOTHING)
		return;
	left->standing = OAE_SCHED_ONE_STOOD;
	left->decision = decision_of(&payload.offer);
}
