/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_H
#define OAE_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/wait.h>
#include <uapi/linux/oae.h>

#include "oae_exchange.h"
#include "oae_registers.h"

#define OAE_MAX_PORTS OAE_HOST_PORT_CONTROL_COUNT
#define OAE_MAX_DEVICES 64

/* BAR 0 */
#define OAE_BAR_HOST 0
#define OAE_BAR_PORTS 2
#define OAE_BAR_STREAMS 4
#define OAE_MAILBOX_OFFSET 0x4000

/* MSI-X vectors */
#define OAE_VECTOR_MAILBOX 0

enum oae_state {
	OAE_LIVE,
	OAE_FROZEN, /* being reset or asleep: requests fail, open files stay */
	OAE_GONE, /* unbound: for good */
};

struct oae_device;

/* What an interrupt is told. */
struct oae_vector {
	struct oae_device *oae;
	unsigned int index;
};

struct oae_mailbox {
	void __iomem *base;
	struct mutex lock; /* one request at a time */
	struct completion replied;
};

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

/* Lives until the last file of its ports is closed; the hardware is touched only while LIVE. */
struct oae_device {
	struct kref kref;
	struct pci_dev *pdev;
	int id;
	enum oae_state state;
	struct rw_semaphore lock; /* read: a request is at work; write: state changes */
	void __iomem *host; /* BAR 0 */
	void __iomem *pages; /* BAR 2 */
	void __iomem *streams; /* BAR 4, write-combining, or NULL */
	struct pci_saved_state *configuration; /* of the function when it was bound */
	u64 identity;
	u64 features;
	u32 clock_khz;
	unsigned int num_ports;
	unsigned int num_vectors;
	struct oae_mailbox mailbox;
	struct oae_port *ports[OAE_MAX_PORTS];
	struct oae_vector vectors[1 + OAE_MAX_PORTS];
};

/* Begins a request, or says why not (-ENODEV, -EIO); oae_leave() ends it. */
int oae_enter(struct oae_device *oae);
void oae_leave(struct oae_device *oae);

static inline bool oae_is_live(const struct oae_device *oae)
{
	return READ_ONCE(oae->state) == OAE_LIVE;
}

void oae_get(struct oae_device *oae);
void oae_put(struct oae_device *oae);

/* Creates the port's state, or the node that users open; the unbinding takes them back. */
int oae_port_create(struct oae_device *oae, unsigned int index);
int oae_port_publish(struct oae_port *port);
/* The hardware side of an open and of a close; the device is locked. */
int oae_port_start(struct oae_port *port);
void oae_port_stop(struct oae_port *port);
/* The port's vector: an offer stands, or a confirmation is missing. */
void oae_port_signal(struct oae_port *port);
/* Begins an epoch; the port is locked. */
int oae_port_begin(struct oae_port *port);

/* mmap() of a port's file. */
int oae_port_mmap(struct file *file, struct vm_area_struct *vma);
/* The pages of a mapping come to stand for the port, or do so no more; the port is locked. */
void oae_map_show(struct oae_port *port);
void oae_map_hide(struct oae_port *port);

int oae_ports_init(void);
void oae_ports_exit(void);

/*
 * Sends words 0 to 7 to the firmware and replaces them by its reply. -ETIMEDOUT: no reply;
 * -EPROTO: the reply is an error; -EIO: the device does not answer; -EINTR: a signal.
 */
int oae_mailbox_call(struct oae_device *oae, u64 *words);
void oae_mailbox_start(struct oae_device *oae);

#endif
