// SPDX-License-Identifier: GPL-2.0
/* Claims: ports that other modules of the kernel own, and swap on where nothing may sleep. */
#include "oae_claim.h"

#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "oae_fate.h"
#include "oae_file.h"
#include "oae_kernel.h"
#include "oae_port.h"
#include "oae_trace.h"

static_assert(OAE_CLAIM_IN_DOUBT > OAE_STATUS_BAD_VERB);

/*
 * While @error is 0, whoever holds @lock has the port's exchange and its counters of doubts. Otherwise
 * they belong to whoever has locked the port, as those of other ports do. So a swap needs no lock that
 * sleeps, and a reset that has set @error waits for the swap at work and for no other.
 */
struct oae_claim {
	struct oae_port *port;
	const struct oae_client *client;
	void *context;
	u8 form;
	raw_spinlock_t lock; /* protects what follows */
	unsigned long looked; /* jiffies, when losses were looked for last */
	int error; /* why there can be no swap now, or 0 */
	bool has_settlement; /* An outcome is kept that the client does not have yet. */
	struct oae_claim_answer settlement;
};

static void oae_claim_call(const struct oae_claim *claim, void (*what)(void *context))
{
	if (what)
		what(claim->context);
}

static struct oae_claim *oae_claim_of(struct oae_port *port)
{
	return rcu_dereference_protected(port->claim, lockdep_is_held(&port->lock));
}

/* Returns what @error was. */
static int oae_claim_set_error(struct oae_claim *claim, int error)
{
	unsigned long flags;
	int before;

	raw_spin_lock_irqsave(&claim->lock, flags);
	before = claim->error;
	claim->error = error;
	raw_spin_unlock_irqrestore(&claim->lock, flags);
	return before;
}

/* Begins an answer with what is known before it has come. */
static void oae_claim_name(const struct oae_exchange *exchange, u8 verb,
			   struct oae_claim_answer *answer)
{
	answer->verb = verb;
	answer->epoch = exchange->epoch;
	answer->sequence = oae_exchange_next(exchange);
}

static void oae_claim_fill(enum oae_outcome outcome, const struct oae_answer *from,
			   struct oae_claim_answer *answer)
{
	memcpy(answer->payload, &from->slot[1], sizeof(answer->payload));
	answer->reads = from->reads;
	answer->status = outcome == OAE_IN_DOUBT ?
				 OAE_CLAIM_IN_DOUBT :
				 OAE_GET(from->slot[0], OAE_SLOT_HEADER_STATUS);
}

/* The claim gets the outcome that a reset or an unbinding has found out. The port is locked. */
static void oae_claim_take_settlement(struct oae_claim *claim)
{
	struct oae_port *port = claim->port;
	const u64 header = port->settlement.slot[0];
	unsigned long flags;

	if (!port->has_settlement)
		return;
	port->has_settlement = false;
	raw_spin_lock_irqsave(&claim->lock, flags);
	claim->has_settlement = true;
	claim->settlement = (struct oae_claim_answer){
		.verb = port->exchange.verb,
		.epoch = OAE_GET(header, OAE_SLOT_HEADER_EPOCH),
		.sequence = OAE_GET(header, OAE_SLOT_HEADER_SEQUENCE),
	};
	oae_claim_fill(OAE_COMMITTED, &port->settlement, &claim->settlement);
	raw_spin_unlock_irqrestore(&claim->lock, flags);
}

void oae_claim_freeze(struct oae_port *port)
{
	struct oae_claim *claim = oae_claim_of(port);
	int error = READ_ONCE(port->oae->state) == OAE_GONE ? -ENODEV : -EIO;

	if (claim && !oae_claim_set_error(claim, error) && error == -EIO)
		oae_claim_call(claim, claim->client->frozen);
}

void oae_claim_thaw(struct oae_port *port)
{
	struct oae_claim *claim = oae_claim_of(port);

	if (!claim || port->pending)
		return;
	oae_claim_take_settlement(claim);
	if (oae_claim_set_error(claim, 0))
		oae_claim_call(claim, claim->client->begun);
}

void oae_claim_retire(struct oae_port *port)
{
	struct oae_claim *claim;

	mutex_lock(&port->lock);
	claim = oae_claim_of(port);
	if (claim) {
		oae_claim_take_settlement(claim);
		oae_claim_call(claim, claim->client->gone);
	}
	mutex_unlock(&port->lock);
}

void oae_claim_signal(struct oae_port *port)
{
	const struct oae_claim *claim;

	rcu_read_lock();
	claim = rcu_dereference(port->claim);
	if (claim)
		oae_claim_call(claim, claim->client->offered);
	rcu_read_unlock();
}

/* @claim may be NULL. */
static void oae_claim_publish(struct oae_port *port, struct oae_claim *claim)
{
	mutex_lock(&port->lock);
	rcu_assign_pointer(port->claim, claim);
	mutex_unlock(&port->lock);
}

static int oae_claim_open(struct oae_claim *claim)
{
	struct oae_port *port = claim->port;
	int ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	ret = oae_port_take(port, NULL);
	if (!ret)
		oae_claim_publish(port, claim);
	oae_leave(port->oae);
	return ret;
}

struct oae_claim *oae_claim_port(unsigned int device, unsigned int port, u8 form,
				 const struct oae_client *client, void *context)
{
	struct oae_claim *claim;
	int ret;

	if (form > OAE_SWAP_FORM_STREAMED)
		return ERR_PTR(-EINVAL);
	claim = kzalloc(sizeof(*claim), GFP_KERNEL);
	if (!claim)
		return ERR_PTR(-ENOMEM);
	raw_spin_lock_init(&claim->lock);
	claim->looked = jiffies;
	claim->client = client;
	claim->context = context;
	ret = -ENODEV;
	claim->port = oae_file_find(device, port);
	if (!claim->port)
		goto free;
	claim->form = claim->port->exchange.stream ? form : OAE_SWAP_FORM_PUSHED;
	ret = oae_claim_open(claim);
	if (ret)
		goto put;
	__module_get(THIS_MODULE);
	return claim;
put:
	put_device(&claim->port->dev);
free:
	kfree(claim);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(oae_claim_port);

void oae_claim_release(struct oae_claim *claim)
{
	struct oae_port *port = claim->port;
	bool live = oae_enter_always(port->oae);

	oae_claim_publish(port, NULL);
	oae_port_give_up(port, live);
	oae_leave(port->oae);
	synchronize_rcu(); /* for a handler that calls the client */
	kfree(claim);
	put_device(&port->dev);
	module_put(THIS_MODULE);
}
EXPORT_SYMBOL_GPL(oae_claim_release);

/*
 * A port whose loss is not acknowledged passes nothing on, so that the client's swaps are answered
 * NOT_READY sooner or later. Nothing signals it to a claim, whose interrupts would come later.
 */
static void oae_claim_look(struct oae_claim *claim, const struct oae_claim_answer *answer)
{
	if (answer->status != OAE_STATUS_NOT_READY || !time_after(jiffies, claim->looked) ||
	    !oae_fate_is_told(claim->port))
		return;
	claim->looked = jiffies;
	oae_fate_collect(claim->port);
}

static int oae_claim_swap_locked(struct oae_claim *claim, u8 verb, const u64 *payload,
				 struct oae_claim_answer *answer)
{
	struct oae_exchange *exchange = &claim->port->exchange;
	struct oae_answer from;
	enum oae_outcome outcome;

	if (claim->error)
		return claim->error;
	if (exchange->doubt || claim->has_settlement)
		return -EINPROGRESS;
	oae_claim_name(exchange, verb, answer);
	outcome = oae_exchange_swap(exchange, claim->form, verb, 0, payload,
				    oae_port_settle_reads(), &from);
	oae_port_count_doubt(claim->port, &from);
	trace_oae_swap(claim->port, outcome, &from);
	oae_claim_fill(outcome, &from, answer);
	oae_claim_look(claim, answer);
	return 0;
}

int oae_claim_swap(struct oae_claim *claim, u8 verb, const u64 payload[OAE_PAYLOAD_WORDS],
		   struct oae_claim_answer *answer)
{
	unsigned long flags;
	int ret;

	ret = oae_verb_check(verb, claim->port->oae->features);
	if (ret)
		return ret;
	raw_spin_lock_irqsave(&claim->lock, flags);
	ret = oae_claim_swap_locked(claim, verb, payload, answer);
	raw_spin_unlock_irqrestore(&claim->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_claim_swap);

static int oae_claim_settle_locked(struct oae_claim *claim, struct oae_claim_answer *answer)
{
	struct oae_port *port = claim->port;
	struct oae_exchange *exchange = &port->exchange;
	struct oae_answer from;
	enum oae_outcome outcome;

	if (claim->has_settlement) {
		*answer = claim->settlement;
		claim->has_settlement = false;
		return 0;
	}
	if (claim->error)
		return claim->error;
	if (!exchange->doubt)
		return -ENODATA;
	oae_claim_name(exchange, exchange->verb, answer);
	outcome = oae_exchange_settle(exchange, max(oae_port_settle_reads(), 1U), &from);
	trace_oae_settle(port, outcome, &from);
	if (outcome != OAE_IN_DOUBT)
		port->settled++;
	oae_claim_fill(outcome, &from, answer);
	return 0;
}

int oae_claim_settle(struct oae_claim *claim, struct oae_claim_answer *answer)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&claim->lock, flags);
	ret = oae_claim_settle_locked(claim, answer);
	raw_spin_unlock_irqrestore(&claim->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_claim_settle);

int oae_claim_arm(struct oae_claim *claim)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&claim->lock, flags);
	ret = claim->error;
	if (!ret)
		oae_port_arm(claim->port, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK);
	raw_spin_unlock_irqrestore(&claim->lock, flags);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_claim_arm);

int oae_claim_set_cpu(struct oae_claim *claim, unsigned int cpu)
{
	struct oae_device *oae = claim->port->oae;
	int ret;

	if (cpu >= nr_cpu_ids)
		return -EINVAL;
	ret = oae_enter(oae);
	if (ret)
		return ret;
	if (oae->num_vectors <= oae->num_ports)
		ret = -EOPNOTSUPP;
	else
		ret = irq_set_affinity(pci_irq_vector(oae->pdev, claim->port->vector), cpumask_of(cpu));
	oae_leave(oae);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_claim_set_cpu);
