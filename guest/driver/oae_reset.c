// SPDX-License-Identifier: GPL-2.0
/* Freezing and thawing a device around resets, errors, sleep and unbinding. */
#include "oae_reset.h"

#include <linux/interrupt.h>
#include <linux/io.h>

#include "oae_claim.h"
#include "oae_mailbox.h"
#include "oae_map.h"
#include "oae_port.h"
#include "oae_trace.h"

#define OAE_THAW_TRIES 3

void oae_freeze(struct oae_device *oae, enum oae_state state)
{
	unsigned int i;

	WRITE_ONCE(oae->state, state);
	atomic_inc(&oae->freezes);
	trace_oae_state(oae, state);
	complete_all(&oae->mailbox.replied);
	for (i = 0; i < oae->num_ports; i++)
		wake_up_all(&oae->ports[i]->wait);
	down_write(&oae->lock);
	up_write(&oae->lock);
	for (i = 0; i < oae->num_ports; i++) {
		mutex_lock(&oae->ports[i]->lock);
		oae_map_hide(oae->ports[i]);
		oae_claim_freeze(oae->ports[i]);
		mutex_unlock(&oae->ports[i]->lock);
	}
	for (i = 0; i < oae->num_vectors; i++)
		synchronize_irq(pci_irq_vector(oae->pdev, i));
}

/*
 * The function has lost its addresses if it was reset while no driver was bound. So it has if an error
 * and a reset overlap, because the kernel then saves the configuration that the first one has left. The
 * driver restores the addresses that it knows from before.
 */
bool oae_answers(struct oae_device *oae)
{
	if (readq(oae->host + OAE_HOST_ID) == oae->identity)
		return true;
	pci_load_saved_state(oae->pdev, oae->configuration);
	pci_restore_state(oae->pdev);
	return readq(oae->host + OAE_HOST_ID) == oae->identity;
}

static int oae_start(struct oae_device *oae)
{
	if (!oae_answers(oae))
		return -EIO;
	pci_set_master(oae->pdev);
	oae_mailbox_start(oae);
	return 0;
}

/* Interrupts are handled again by now, so that those which claims arm are not lost. */
static void oae_thaw_claims(struct oae_device *oae)
{
	unsigned int i;

	for (i = 0; i < oae->num_ports; i++) {
		mutex_lock(&oae->ports[i]->lock);
		oae_claim_thaw(oae->ports[i]);
		mutex_unlock(&oae->ports[i]->lock);
	}
}

/* A port that fails is tried again later, and does not keep the others from coming back. */
static void oae_sync_ports(struct oae_device *oae)
{
	unsigned int i, tries;

	for (i = 0; i < oae->num_ports; i++)
		for (tries = 0; tries < OAE_THAW_TRIES; tries++)
			if (!oae_port_sync(oae->ports[i]))
				break;
}

int oae_thaw(struct oae_device *oae)
{
	unsigned int i, tries = OAE_THAW_TRIES;
	int ret;

	down_write(&oae->lock);
	reinit_completion(&oae->mailbox.replied);
	do {
		ret = oae_start(oae);
	} while (ret && --tries);
	if (!ret) {
		oae_sync_ports(oae);
		WRITE_ONCE(oae->state, OAE_LIVE);
		trace_oae_state(oae, OAE_LIVE);
		/* No interrupt was handled until now. */
		for (i = 0; i < oae->num_ports; i++)
			oae_port_watch(oae->ports[i]);
		oae_thaw_claims(oae);
	}
	up_write(&oae->lock);
	/* Processes that poll have to arm their ports again. */
	for (i = 0; i < oae->num_ports; i++)
		wake_up_all(&oae->ports[i]->wait);
	return ret;
}

void oae_stop(struct oae_device *oae, bool for_good)
{
	unsigned int i;

	for (i = 0; i < oae->num_ports; i++)
		oae_port_cancel(oae->ports[i]);
	if (pci_device_is_present(oae->pdev)) {
		writeq(0, oae->mailbox.base + OAE_MAILBOX_VECTOR);
		for (i = 0; i < oae->num_ports; i++) {
			if (for_good)
				oae_port_retire(oae->ports[i]);
			else if (oae_port_is_open(oae->ports[i]))
				oae_port_stop(oae->ports[i]);
		}
	}
	pci_clear_master(oae->pdev);
	for (i = 0; for_good && i < oae->num_ports; i++) {
		oae_map_retire(oae->ports[i]);
		oae_claim_retire(oae->ports[i]);
	}
}
