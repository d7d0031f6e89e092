// SPDX-License-Identifier: GPL-2.0
/* A swap port: its state, and the hardware side of opening and closing it. */
#include "oae_port.h"

#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "oae_map.h"

static unsigned int settle_reads = 3;
module_param(settle_reads, uint, 0644);
MODULE_PARM_DESC(settle_reads, "How often an answer in doubt is asked for again (3)");

static unsigned int confirm_limit_us = 1000;
module_param(confirm_limit_us, uint, 0644);
MODULE_PARM_DESC(confirm_limit_us,
		 "How long a slot may wait for its confirmation by the next swap, in us (1000)");

unsigned int oae_port_settle_reads(void)
{
	return READ_ONCE(settle_reads);
}

void oae_port_arm(struct oae_port *port, u64 armed)
{
	oae_port_write(port, OAE_HOST_PORT_EVENT,
		       OAE_PUT(OAE_HOST_PORT_EVENT_VECTOR, port->vector) |
			       OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | armed);
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
	/* A driver that crashed may have left it open. */
	oae_port_write(port, OAE_HOST_PORT_CONTROL, 0);
	oae_port_write(port, OAE_HOST_PORT_CONTROL, OAE_HOST_PORT_CONTROL_OPEN_MASK);
	state = oae_port_read(port, OAE_HOST_PORT_STATE);
	/* In an epoch that is not new, the swaps of the one who had it before would be taken for ours. */
	if (before == ~0ULL || state == ~0ULL ||
	    OAE_GET(state, OAE_HOST_PORT_STATE_STATE) == OAE_PORT_STATE_CLOSED ||
	    OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH) ==
		    OAE_GET(before, OAE_HOST_PORT_STATE_EPOCH)) {
		dev_err(&port->dev, "port does not open, state %#llx\n", state);
		return -EIO;
	}
	oae_exchange_begin(&port->exchange, OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH),
			   OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE));
	port->stale = port->maps;
	return 0;
}

int oae_port_start(struct oae_port *port)
{
	int ret = 0;

	mutex_lock(&port->lock);
	oae_port_write(port, OAE_HOST_PORT_CELL, port->cell);
	oae_port_write(port, OAE_HOST_PORT_TENTATIVE_LIMIT, oae_port_confirm_limit(port));
	oae_port_arm(port, 0);
	/*
	 * The journal has survived what brought this about. A new epoch rolls it forward and forgets
	 * its last answer, so that nobody would ever know.
	 */
	if (port->exchange.doubt) {
		if (oae_exchange_settle(&port->exchange, max(oae_port_settle_reads(), 1U),
					&port->settlement) == OAE_IN_DOUBT) {
			dev_err(&port->dev, "a swap stays in doubt, the port does not open\n");
			ret = -EIO;
			goto unlock;
		}
		port->has_settlement = true;
	}
	/* What is in doubt where it is mapped, its process alone knows: it settles that, and begins. */
	if (!port->maps)
		ret = oae_port_begin(port);
	if (!ret)
		oae_map_show(port);
unlock:
	mutex_unlock(&port->lock);
	return ret;
}

/* Of a swap in a mapping, the process leaves word. */
static void oae_port_confirm(struct oae_port *port)
{
	u64 confirmation = READ_ONCE(port->page->confirmation);

	if (!READ_ONCE(port->stale))
		oae_exchange_confirm(&port->exchange);
	else if (confirmation)
		writeq(confirmation, port->exchange.page + OAE_PORT_CONFIRM);
}

void oae_port_stop(struct oae_port *port)
{
	oae_port_confirm(port);
	oae_port_write(port, OAE_HOST_PORT_CONTROL, 0);
	oae_port_write(port, OAE_HOST_PORT_EVENT, 0);
	oae_port_write(port, OAE_HOST_PORT_CELL, 0);
	/* No answer is on its way to the cell any more once this has returned. */
	oae_port_read(port, OAE_HOST_PORT_STATE);
}

void oae_port_signal(struct oae_port *port)
{
	atomic64_inc(&port->signals);
	wake_up_interruptible(&port->wait);
	oae_port_confirm(port);
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
	/* Vectors that are fewer than ports are shared, the mailbox's last. */
	port->vector = oae->num_vectors > 1 ? 1 + index % (oae->num_vectors - 1) : 0;
	port->exchange.page = oae->pages + index * OAE_PORT_SIZE;
	if (oae->streams)
		port->exchange.stream = oae->streams + index * OAE_STREAM_SIZE;
	mutex_init(&port->lock);
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
	/* All of a page, since its owner may have it mapped. */
	port->page = dmam_alloc_coherent(parent, PAGE_SIZE, &port->cell, GFP_KERNEL);
	if (!port->page)
		return -ENOMEM;
	port->exchange.cell = port->page->slot;
	return dev_set_name(&port->dev, "oae%dp%u", oae->id, index);
}
