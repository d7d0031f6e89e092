/* SPDX-License-Identifier: GPL-2.0 */
#ifndef OAE_DEVICE_H
#define OAE_DEVICE_H

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>

#include "oae_memory_map.h"
#include "oae_registers.h"

#define OAE_MAX_PORTS OAE_HOST_PORT_CONTROL_COUNT
#define OAE_MAX_DEVICES 64

#define OAE_BAR_HOST OAE_REGISTER_BAR
#define OAE_BAR_PORTS OAE_PORT_BAR
#define OAE_BAR_STREAMS OAE_STREAM_BAR
#define OAE_MAILBOX_OFFSET OAE_REGISTER_BAR_MAILBOX_BASE

/* MSI-X vectors */
#define OAE_VECTOR_MAILBOX 0

struct oae_device;
struct oae_port;

enum oae_state {
	OAE_LIVE,
	OAE_FROZEN, /* The device is being reset or asleep: requests fail, open files stay. */
	OAE_GONE, /* The driver is unbound for good. */
};

/* What an interrupt handler is given. */
struct oae_vector {
	struct oae_device *oae;
	unsigned int index;
};

struct oae_mailbox {
	void __iomem *base;
	struct mutex lock; /* one request at a time */
	bool synchronised; /* no reply to a request of before a reset can come any more */
	u64 echoes; /* how many were asked for */
	struct completion replied;
};

/* Lives until the last file of its ports is closed. The hardware is touched only while LIVE. */
struct oae_device {
	struct kref kref;
	struct pci_dev *pdev;
	int id;
	enum oae_state state;
	struct rw_semaphore lock; /* read: the hardware is accessed; write: the state changes */
	atomic_t freezes; /* how many times the device has been frozen */
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

/* A device with a number, which the unbinding gives back. */
struct oae_device *oae_device_create(struct pci_dev *pdev);
void oae_get(struct oae_device *oae);
void oae_put(struct oae_device *oae);

/*
 * Begins an access of the hardware, or says why there can be none: -ENODEV, -EIO, or -EINTR if the
 * caller is being killed. oae_leave() ends it. A reset waits for that, so that nobody may wait for a
 * process or access its memory in between.
 */
int oae_enter(struct oae_device *oae);
/* Locks the state as it is; whether it is LIVE. oae_leave() unlocks it. */
bool oae_enter_always(struct oae_device *oae);
void oae_leave(struct oae_device *oae);

static inline bool oae_is_live(const struct oae_device *oae)
{
	return READ_ONCE(oae->state) == OAE_LIVE;
}

#endif
