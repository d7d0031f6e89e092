// SPDX-License-Identifier: GPL-2.0
/* A swap port: its state, and the hardware side of opening and closing it. */
#include "oae_port.h"

#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "oae_check.h"
#include "oae_claim.h"
#include "oae_fate.h"
#include "oae_map.h"
#include "oae_trace.h"

#define OAE_SETTLE_READS_MAX 16
#define OAE_CLOSE_TRIES 3
#define OAE_RETRY_MIN_MS 100U
#define OAE_RETRY_MAX_MS 10000U

/* A confirmation and a reversal name a swap in the same way. */
static_assert(OAE_PORT_REVERSE_EPOCH_MASK == OAE_PORT_CONFIRM_EPOCH_MASK);
static_assert(OAE_PORT_REVERSE_SEQUENCE_MASK == OAE_PORT_CONFIRM_SEQUENCE_MASK);
static_assert(OAE_PORT_REVERSE_CHECK_SHIFT == OAE_CHECK_SHIFT);
static_assert(OAE_PORT_CONFIRM_CHECK_SHIFT == OAE_CHECK_SHIFT);

static int oae_settle_reads_set(const char *text, const struct kernel_param *param)
{
	return param_set_uint_minmax(text, param, 0, OAE_SETTLE_READS_MAX);
}

static const struct kernel_param_ops oae_settle_reads_ops = {
	.set = oae_settle_reads_set,
	.get = param_get_uint,
};

static unsigned int settle_reads = 3;
module_param_cb(settle_reads, &oae_settle_reads_ops, &settle_reads, 0644);
MODULE_PARM_DESC(settle_reads, "How many times an answer in doubt is asked for again, 0 to 16 (3)");

static unsigned int confirm_limit_us = 1000;
module_param(confirm_limit_us, uint, 0644);
MODULE_PARM_DESC(confirm_limit_us,
		 "How long a slot may wait for its confirmation by the next swap, in us (1000)");

int oae_port_enter(struct oae_port *port)
{
	int ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&port->lock);
	if (ret)
		oae_leave(port->oae);
	return ret;
}

void oae_port_leave(struct oae_port *port)
{
	mutex_unlock(&port->lock);
	oae_leave(port->oae);
}

unsigned int oae_port_settle_reads(void)
{
	return READ_ONCE(settle_reads);
}

void oae_port_arm(struct oae_port *port, u64 armed)
{
	unsigned long flags;
	u64 event;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	port->armed |= armed;
	event = OAE_PUT(OAE_HOST_PORT_EVENT_VECTOR, port->vector) | oae_fate_event(port);
	if (oae_port_is_open(port))
		event |= OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | port->armed;
	oae_port_write(port, OAE_HOST_PORT_EVENT, event);
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
}

/* Returns what was armed, which the block may have signalled. */
static u64 oae_port_disarm(struct oae_port *port)
{
	unsigned long flags;
	u64 armed;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	armed = port->armed;
	port->armed = 0;
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
	return armed;
}

/* The slots of a port that is closed may still be on their way, and the driver acknowledges their losses. */
void oae_port_watch(struct oae_port *port)
{
	if (oae_port_is_open(port) || oae_fate_event(port))
		oae_port_arm(port, 0);
}

static u64 oae_port_confirm_limit(struct oae_port *port)
{
	u64 clocks = (u64)READ_ONCE(confirm_limit_us) * port->oae->clock_khz / USEC_PER_MSEC;

	return min_t(u64, clocks, OAE_HOST_PORT_TENTATIVE_LIMIT_CLOCKS_MASK);
}

int oae_port_begin(struct oae_port *port)
{
	u64 before, state;

	before = oae_port_read(port, OAE_HOST_PORT_STATE);
	/* A driver that crashed may have left the port open. */
	oae_port_write(port, OAE_HOST_PORT_CONTROL, 0);
	state = oae_fate_begin(port, OAE_HOST_PORT_CONTROL_OPEN_MASK |
					     OAE_PUT(OAE_HOST_PORT_CONTROL_EPOCH, port->exchange.epoch));
	if (!oae_exchange_open(&port->exchange, before, state)) {
		/* Nobody knows the epoch of the hardware. The next swap begins another one. */
		WRITE_ONCE(port->stale, true);
		return -EIO;
	}
	WRITE_ONCE(port->stale, port->maps);
	return 0;
}

void oae_port_count_doubt(struct oae_port *port, const struct oae_answer *answer)
{
	if (port->exchange.doubt || answer->reads)
		port->doubts++;
	if (!port->exchange.doubt && answer->reads)
		port->settled++;
}

int oae_port_settle(struct oae_port *port)
{
	enum oae_outcome outcome;

	outcome = oae_exchange_settle(&port->exchange, max(oae_port_settle_reads(), 1U),
				      &port->settlement);
	trace_oae_settle(port, outcome, &port->settlement);
	if (outcome == OAE_IN_DOUBT)
		return -EIO;
	port->has_settlement = true;
	port->settled++;
	if (outcome == OAE_COMMITTED && port->exchange.verb == OAE_VERB_REMOTE)
		oae_fate_request(port, port->exchange.sequence);
	return 0;
}

/* Opens the port in the hardware, or opens it again after a reset. */
static int oae_port_start(struct oae_port *port)
{
	int ret = 0;

	oae_port_write(port, OAE_HOST_PORT_ANSWER_ADDRESS, port->answer_address);
	oae_port_write(port, OAE_HOST_PORT_TENTATIVE_LIMIT, oae_port_confirm_limit(port));
	oae_port_arm(port, 0);
	/*
	 * The block's journal has survived the reset, and knows the outcome. A new epoch would make it
	 * forget the last answer.
	 */
	if (port->exchange.doubt) {
		ret = oae_port_settle(port);
		if (ret)
			return ret;
	}
	/*
	 * Only the process knows what is in doubt where the port is mapped. It settles that, and
	 * begins the epoch itself.
	 */
	if (!port->maps)
		ret = oae_port_begin(port);
	if (!ret)
		oae_map_show(port);
	return ret;
}

/*
 * Confirms the last swap. If the port is mapped, the process has left the confirmation in the answer
 * buffer.
 */
static void oae_port_confirm(struct oae_port *port)
{
	u64 confirmation = READ_ONCE(port->page->confirmation);

	if (!READ_ONCE(port->stale))
		oae_exchange_confirm(&port->exchange);
	else if (confirmation)
		writeq(confirmation, port->exchange.page + OAE_PORT_CONFIRM);
}

static void oae_port_silence(struct oae_port *port)
{
	oae_port_write(port, OAE_HOST_PORT_CONTROL, 0);
	oae_port_disarm(port);
	oae_port_write(port, OAE_HOST_PORT_EVENT, 0);
	oae_port_write(port, OAE_HOST_PORT_ANSWER_ADDRESS, 0);
}

void oae_port_stop(struct oae_port *port)
{
	oae_port_confirm(port);
	oae_port_silence(port);
	/* No answer is on its way to the answer buffer any more once this read has returned. */
	oae_port_read(port, OAE_HOST_PORT_STATE);
}

static bool oae_port_may_be_tentative(struct oae_port *port)
{
	u64 state = oae_port_read(port, OAE_HOST_PORT_STATE);

	return state == ~0ULL || OAE_GET(state, OAE_HOST_PORT_STATE_STATE) == OAE_PORT_STATE_TENTATIVE;
}

/*
 * Closes the port in the hardware. The block then commits a swap that its owner has left tentative,
 * since the owner may have seen the answer; if the owner had decided to reverse it, it is reversed first.
 */
static int oae_port_close(struct oae_port *port)
{
	unsigned int tries;

	for (tries = 0; tries < OAE_CLOSE_TRIES; tries++) {
		/* A reversal is of no use once the port is closed, so the device must answer. */
		if (oae_port_read(port, OAE_HOST_PORT_STATE) == ~0ULL)
			continue;
		/* Closing commits a tentative swap, so that a reversal has to arrive before. */
		if (port->exchange.doubt && port->exchange.reversing) {
			oae_exchange_demand_reversal(&port->exchange);
			if (oae_port_may_be_tentative(port))
				continue;
		}
		oae_port_silence(port);
		if (oae_port_read(port, OAE_HOST_PORT_CONTROL) == 0) {
			if (port->exchange.doubt)
				port->settled++;
			port->exchange.doubt = false;
			return 0;
		}
	}
	return -EIO;
}

void oae_port_retire(struct oae_port *port)
{
	mutex_lock(&port->lock);
	if (port->exchange.doubt)
		oae_port_settle(port);
	if (oae_port_close(port))
		oae_port_silence(port);
	mutex_unlock(&port->lock);
}

int oae_port_sync_locked(struct oae_port *port)
{
	int ret = oae_port_is_open(port) ? oae_port_start(port) : oae_port_close(port);

	if (!ret && !oae_port_is_open(port))
		oae_port_watch(port);
	trace_oae_port(port, oae_port_is_open(port), ret);
	if (!ret) {
		port->retry_delay_ms = OAE_RETRY_MIN_MS;
	} else {
		/* A card that was pulled out is no trouble of the port's. */
		if (!port->pending && pci_device_is_present(port->oae->pdev))
			dev_err(&port->dev, "port does not %s, which is tried again\n",
				oae_port_is_open(port) ? "open" : "close");
		schedule_delayed_work(&port->retry, msecs_to_jiffies(port->retry_delay_ms));
		port->retry_delay_ms = min(2 * port->retry_delay_ms, OAE_RETRY_MAX_MS);
	}
	port->pending = ret;
	return ret;
}

int oae_port_sync(struct oae_port *port)
{
	int ret;

	mutex_lock(&port->lock);
	ret = oae_port_sync_locked(port);
	mutex_unlock(&port->lock);
	return ret;
}

static void oae_port_retry(struct work_struct *work)
{
	struct oae_port *port = container_of(work, struct oae_port, retry.work);

	/* A device that is frozen syncs all its ports when it thaws. */
	if (oae_enter(port->oae))
		return;
	mutex_lock(&port->lock);
	if (port->pending)
		oae_port_sync_locked(port);
	oae_claim_thaw(port);
	mutex_unlock(&port->lock);
	oae_leave(port->oae);
}

void oae_port_cancel(struct oae_port *port)
{
	cancel_delayed_work_sync(&port->retry);
}

void oae_port_signal(struct oae_port *port)
{
	/* What is armed after this belongs to the next interrupt. */
	u64 armed = oae_port_disarm(port);

	atomic64_inc(&port->signals);
	wake_up_interruptible(&port->wait);
	oae_port_confirm(port);
	oae_claim_signal(port);
	if (!oae_fate_event(port))
		return;
	/*
	 * The block does not say what it signals. If something was armed, the interrupt is taken for that, and no
	 * read delays whoever waits for it. If there is a loss, the block signals it again because of the write.
	 */
	if (armed)
		oae_port_arm(port, 0);
	else
		oae_fate_collect(port);
}

static bool oae_port_is_interrupted(void)
{
	return signal_pending(current);
}

/* A device that is frozen closes the port when it thaws. */
static void oae_port_give_up_locked(struct oae_port *port, bool live)
{
	oae_map_hide(port);
	port->mapping = NULL;
	port->exchange.is_interrupted = oae_port_is_interrupted;
	clear_bit(OAE_PORT_OPENED, &port->flags);
	if (live)
		oae_port_sync_locked(port);
}

static int oae_port_take_locked(struct oae_port *port, struct address_space *mapping)
{
	int ret;

	/* The last owner's swap is settled first, as that owner wanted it. */
	if (port->pending) {
		ret = oae_port_sync_locked(port);
		if (ret)
			return ret;
	}
	port->exchange.doubt = false;
	port->has_settlement = false;
	memset(port->page, 0, OAE_MAP_SIZE);
	port->mapping = mapping;
	/* A claim's swaps are no process's, whose signals could end them. */
	if (!mapping)
		port->exchange.is_interrupted = NULL;
	set_bit(OAE_PORT_OPENED, &port->flags);
	return oae_port_sync_locked(port);
}

int oae_port_take(struct oae_port *port, struct address_space *mapping)
{
	int ret;

	if (test_and_set_bit(OAE_PORT_OWNED, &port->flags))
		return -EBUSY;
	mutex_lock(&port->lock);
	ret = oae_port_take_locked(port, mapping);
	if (ret)
		oae_port_give_up_locked(port, true);
	mutex_unlock(&port->lock);
	if (ret)
		clear_bit(OAE_PORT_OWNED, &port->flags);
	return ret;
}

void oae_port_give_up(struct oae_port *port, bool live)
{
	mutex_lock(&port->lock);
	oae_port_give_up_locked(port, live);
	mutex_unlock(&port->lock);
	clear_bit(OAE_PORT_OWNED, &port->flags);
}

static void oae_port_free(struct device *dev)
{
	struct oae_port *port = container_of(dev, struct oae_port, dev);

	oae_put(port->oae);
	free_page((unsigned long)port->absent);
	kfree(port);
}

static void oae_port_put(void *port)
{
	put_device(&((struct oae_port *)port)->dev);
}

int oae_port_create(struct oae_device *oae, unsigned int index)
{
	struct device *parent = &oae->pdev->dev;
	struct oae_port *port;
	int ret;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	oae_get(oae);
	port->oae = oae;
	port->index = index;
	/* Ports share vectors if there are fewer vectors, but do without the mailbox's if they can. */
	port->vector = oae->num_vectors > 1 ? 1 + index % (oae->num_vectors - 1) : 0;
	port->exchange.page = oae->pages + index * OAE_PORT_SIZE;
	if (oae->streams)
		port->exchange.stream = oae->streams + index * OAE_STREAM_SIZE;
	mutex_init(&port->requests);
	mutex_init(&port->lock);
	raw_spin_lock_init(&port->losses_lock);
	INIT_DELAYED_WORK(&port->retry, oae_port_retry);
	port->retry_delay_ms = OAE_RETRY_MIN_MS;
	port->exchange.is_interrupted = oae_port_is_interrupted;
	init_waitqueue_head(&port->wait);
	atomic64_set(&port->signals, 0);
	device_initialize(&port->dev);
	port->dev.parent = parent;
	port->dev.release = oae_port_free;
	oae->ports[index] = port;
	ret = devm_add_action_or_reset(parent, oae_port_put, port);
	if (ret)
		return ret;
	port->absent = (void *)__get_free_page(GFP_KERNEL);
	if (!port->absent)
		return -ENOMEM;
	memset(port->absent, 0xff, PAGE_SIZE);
	/* The answer buffer has a page of its own, because its owner may map it. */
	port->page = dmam_alloc_coherent(parent, PAGE_SIZE, &port->answer_address, GFP_KERNEL);
	if (!port->page)
		return -ENOMEM;
	port->exchange.buffer = port->page->slot;
	return dev_set_name(&port->dev, "oae%dp%u", oae->id, index);
}
