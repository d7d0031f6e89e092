/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_PORT_H
#define OAE_PORT_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/linux/oae.h>

#include "oae_device.h"
#include "oae_exchange.h"
#include "oae_losses.h"
#include "oae_swap.h"

/* Bits of oae_port.flags */
#define OAE_PORT_OWNED 0 /* There is a file or a claim, or it is being made or given up. */
#define OAE_PORT_OPENED 1 /* The hardware is to be open. The port is locked to change this. */

/*
 * Locks are taken in this order: requests, the device's lock, lock, that of a claim, losses_lock. Memory of
 * a process is never accessed under the last four, since a process decides how long such an access takes.
 */
struct oae_port {
	struct oae_device *oae;
	unsigned int index;
	unsigned int vector;
	struct device dev;
	struct cdev cdev;
	struct dentry *debugfs;

	struct mutex requests; /* one swap or settlement at a time, until its caller has the outcome */

	struct mutex lock; /* protects the fields from here to mapped_by, unless a claim has them */
	struct oae_exchange exchange;
	struct oae_answer settlement; /* an outcome that the port's owner does not have yet, */
	bool has_settlement; /* if there is one */
	dma_addr_t answer_address; /* of the answer buffer */
	struct oae_durations times; /* of the last swap that the kernel has made */
	u64 doubts, settled;
	bool pending; /* the hardware does not stand as @flags say, and retry brings it there */
	unsigned int retry_delay_ms;
	bool stale; /* the epoch of the hardware is no longer that of the exchange */
	bool present; /* mapped pages show the port; if not, they show the absent page */
	struct oae_answer_buffer *page; /* the answer buffer has a page of its own */
	u64 generation; /* how many times the mapped pages have begun to show the port */
	void *absent; /* the page that is shown instead of all of the port's pages */
	struct address_space *mapping; /* of the file that is open, or NULL */
	unsigned int maps;
	const struct mm_struct *mapped_by;

	raw_spinlock_t losses_lock; /* protects losses, what the block knows of them, and its event register */
	struct oae_losses losses;
	u64 armed; /* what has been armed since the last interrupt */

	struct oae_claim __rcu *claim; /* or NULL; the port is locked to change this */

	struct delayed_work retry;
	unsigned long flags;
	wait_queue_head_t wait; /* for an offer of the firmware, or a change of the device's state */
	atomic64_t signals;
};

/* Creates the port's state; the unbinding takes it back. */
int oae_port_create(struct oae_device *oae, unsigned int index);

/*
 * Takes the port for a new owner, and opens it in the hardware; -EBUSY: it has an owner. @mapping is that
 * of the owner's file, or NULL for a claim. The device is locked.
 */
int oae_port_take(struct oae_port *port, struct address_space *mapping);
/* The owner gives the port up, and the hardware follows where it can. The device is locked, and perhaps LIVE. */
void oae_port_give_up(struct oae_port *port, bool live);

/* Locks the device and the port, to access the hardware. */
int oae_port_enter(struct oae_port *port);
void oae_port_leave(struct oae_port *port);

static inline bool oae_port_is_open(const struct oae_port *port)
{
	return test_bit(OAE_PORT_OPENED, &port->flags);
}

/*
 * Brings the hardware to where the port's owner wants it: to a new epoch if there is one, else
 * closed, with nothing left that waits for an owner. If that fails, it is tried again later. The
 * device is locked by the caller, and the port too where the name says so.
 */
int oae_port_sync(struct oae_port *port);
int oae_port_sync_locked(struct oae_port *port);
/* Ends the retries of oae_port_sync(). */
void oae_port_cancel(struct oae_port *port);

/* Stops what reaches into the host's memory, for a while: a swap in doubt is settled later. */
void oae_port_stop(struct oae_port *port);
/* Closes the port for good; its owner may still ask for the outcome of its last swap. */
void oae_port_retire(struct oae_port *port);

/* Handles the port's interrupt: an offer or a result stands, a confirmation is missing, or slots are lost. */
void oae_port_signal(struct oae_port *port);
/* Begins an epoch. The port is locked. */
int oae_port_begin(struct oae_port *port);
/*
 * Asks the block for the outcome of the swap in doubt, and keeps it as the settlement. -EIO: it
 * stays in doubt. The port is locked.
 */
int oae_port_settle(struct oae_port *port);
/* Counts the swap that has just been made, if its answer was in doubt. */
void oae_port_count_doubt(struct oae_port *port, const struct oae_answer *answer);
/*
 * Has the block signal once when what the bits of @armed name stands: an offer of the firmware, a result. Whoever
 * has been woken for nothing looks for losses before that. May be called wherever interrupts may be off.
 */
void oae_port_arm(struct oae_port *port, u64 armed);
/* Has the block signal what it signals without being asked for it each time. */
void oae_port_watch(struct oae_port *port);
/* How many times an answer in doubt is asked for again. */
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
