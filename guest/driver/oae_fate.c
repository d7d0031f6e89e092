// SPDX-License-Identifier: GPL-2.0
/* What became of slots that have left the cell: deliveries, and losses by name. */
#include "oae_fate.h"

#include <linux/io.h>

#include "oae_port.h"
#include "oae_trace.h"

/* All registers with a name have its parts at the same places. */
static_assert(OAE_HOST_PORT_DELIVERED_EPOCH_MASK == OAE_HOST_PORT_LOST_LAST_EPOCH_MASK);
static_assert(OAE_HOST_PORT_DELIVERED_SEQUENCE_MASK == OAE_HOST_PORT_LOST_LAST_SEQUENCE_MASK);
static_assert(OAE_HOST_PORT_LOST_FIRST_EPOCH_MASK == OAE_HOST_PORT_LOST_LAST_EPOCH_MASK);
static_assert(OAE_HOST_PORT_LOST_FIRST_SEQUENCE_MASK == OAE_HOST_PORT_LOST_LAST_SEQUENCE_MASK);
static_assert(OAE_HOST_PORT_LOST_REMOTE_EPOCH_MASK == OAE_HOST_PORT_LOST_LAST_EPOCH_MASK);
static_assert(OAE_HOST_PORT_LOST_REMOTE_SEQUENCE_MASK == OAE_HOST_PORT_LOST_LAST_SEQUENCE_MASK);

bool oae_fate_is_told(const struct oae_port *port)
{
	return port->oae->features & OAE_HOST_FEATURES_FATES_MASK;
}

u64 oae_fate_event(const struct oae_port *port)
{
	/* Only a file has a mapping. A claim of a port is open without one. */
	if (!oae_fate_is_told(port) || (oae_port_is_open(port) && !port->mapping))
		return 0;
	return OAE_HOST_PORT_EVENT_LOST_ENABLE_MASK;
}

/* The caller has locked the losses. Names stand still until they are acknowledged. */
static int oae_fate_collect_locked(struct oae_port *port)
{
	u64 lost, last, first, remote;

	lost = oae_port_read(port, OAE_HOST_PORT_LOST);
	if (lost == ~0ULL)
		return -EIO;
	if (!(lost & (OAE_HOST_PORT_LOST_SLOTS_MASK | OAE_HOST_PORT_LOST_REMOTE_MASK)))
		return 0;
	last = oae_port_read(port, OAE_HOST_PORT_LOST_LAST);
	first = oae_port_read(port, OAE_HOST_PORT_LOST_FIRST);
	remote = oae_port_read(port, OAE_HOST_PORT_LOST_REMOTE);
	if (last == ~0ULL || first == ~0ULL || remote == ~0ULL)
		return -EIO;
	if (oae_losses_take(&port->losses, lost, last, first, remote))
		trace_oae_loss(port, lost, first, last, remote);
	oae_port_write(port, OAE_HOST_PORT_LOST, OAE_HOST_PORT_LOST_ACKNOWLEDGE_MASK);
	return 0;
}

int oae_fate_collect(struct oae_port *port)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	ret = oae_fate_collect_locked(port);
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
	return ret;
}

u64 oae_fate_begin(struct oae_port *port, u64 control)
{
	u64 delivered = 0, state = ~0ULL;
	bool told = oae_fate_is_told(port);
	unsigned long flags;

	/* The new epoch acknowledges what is lost, whose names would be gone. */
	raw_spin_lock_irqsave(&port->losses_lock, flags);
	if (told && oae_fate_collect_locked(port))
		goto unlock;
	oae_port_write(port, OAE_HOST_PORT_CONTROL, control);
	state = oae_port_read(port, OAE_HOST_PORT_STATE);
	if (told)
		delivered = oae_port_read(port, OAE_HOST_PORT_DELIVERED);
	if (delivered == ~0ULL)
		state = ~0ULL;
	if (state != ~0ULL)
		oae_losses_begin(&port->losses, OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH), delivered);
unlock:
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
	return state;
}

void oae_fate_request(struct oae_port *port, u32 sequence)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	oae_losses_request(&port->losses, sequence);
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
}

static int oae_fate_look_locked(struct oae_port *port, struct oae_fate *fate)
{
	struct oae_losses *losses = &port->losses;
	u64 delivered, state;
	u32 last;

	if (oae_fate_collect_locked(port))
		return -EIO;
	fate->forgotten = losses->forgotten;
	if (fate->flags & OAE_FATE_NEXT_LOSS) {
		fate->epoch = losses->epoch;
		fate->sequence = oae_losses_next(losses);
		fate->fate = fate->sequence ? OAE_FATE_LOST : OAE_FATE_PENDING;
		return 0;
	}
	state = oae_port_read(port, OAE_HOST_PORT_STATE);
	delivered = oae_port_read(port, OAE_HOST_PORT_DELIVERED);
	if (state == ~0ULL || delivered == ~0ULL)
		return -EIO;
	if (fate->epoch != losses->epoch || fate->epoch != OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH))
		return -ENODATA;
	last = OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE);
	if (!fate->sequence || !last || oae_sequence_is_after(fate->sequence, last))
		return -EINVAL;
	fate->fate = oae_losses_fate(losses, fate->sequence, delivered);
	return 0;
}

int oae_fate_look(struct oae_port *port, struct oae_fate *fate)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	ret = oae_fate_look_locked(port, fate);
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
	return ret;
}

void oae_fate_fetched(struct oae_port *port, u32 sequence)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	oae_losses_fetched(&port->losses, sequence);
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
}

struct oae_fate_news oae_fate_news(struct oae_port *port)
{
	struct oae_fate_news news = { .unread = false };
	unsigned long flags;

	raw_spin_lock_irqsave(&port->losses_lock, flags);
	if (!oae_fate_collect_locked(port)) {
		news.unread = oae_losses_next(&port->losses);
		news.remote = port->losses.remote;
	}
	raw_spin_unlock_irqrestore(&port->losses_lock, flags);
	return news;
}
