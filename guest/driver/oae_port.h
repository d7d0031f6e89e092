/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_PORT_H
#define OAE_PORT_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <uapi/linux/oae.h>

#include "oae_device.h"
#include "oae_exchange.h"

#define OAE_OPENED 0

struct oae_port {
	struct oae_device *oae;
	unsigned int index;
	unsigned int vector;
	struct device dev;
	struct cdev cdev;

	struct mutex lock; /* what follows up to mapped_by */
	struct oae_exchange exchange;
	struct oae_answer settlement; /* of a swap in doubt, if a reset had to settle it */
	bool has_settlement;
	dma_addr_t cell;
	u64 doubts, settled;
	bool stale; /* the epoch is not the exchange's any more */
	bool present; /* its pages stand for the port, and not what stands in for them */
	struct oae_cell *page; /* the page that the cell is in */
	u64 generation; /* how often they have come to */
	void *absent; /* the page that stands in for all of them */
	struct address_space *mapping; /* of the file that is open, or NULL */
	unsigned int maps;
	const struct mm_struct *mapped_by;

	unsigned long opened; /* bit 0 */
	wait_queue_head_t wait; /* for an offer of the firmware */
	atomic64_t signals;
};

/* Creates the port's state; the unbinding takes it back. */
int oae_port_create(struct oae_device *oae, unsigned int index);

/* The hardware side of an open and of a close; the device is locked. */
int oae_port_start(struct oae_port *port);
void oae_port_stop(struct oae_port *port);
/* The port's vector: an offer stands, or a confirmation is missing. */
void oae_port_signal(struct oae_port *port);
/* Begins an epoch; the port is locked. */
int oae_port_begin(struct oae_port *port);
/* Asks for a signal once an offer of the firmware stands, if @armed says so. */
void oae_port_arm(struct oae_port *port, u64 armed);
/* How often an answer in doubt is asked for again. */
unsigned int oae_port_settle_reads(void);

static inline u64 oae_port_read(struct oae_port *port, unsigned int reg)
{
	return readq(port->oae->host + reg + port->index * OAE_HOST_PORT_CONTROL_STRIDE);
}

static inline void oae_port_write(struct oae_port *port, unsigned int reg, u64 value)
{
	writeq(value, port->oae->host + reg + port->index * OAE_HOST_PORT_CONTROL_STRIDE);
}

#endif
