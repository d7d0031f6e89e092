// SPDX-License-Identifier: GPL-2.0
/* A device: its number, its lifetime, and the access to its hardware. */
#include "oae_device.h"

#include <linux/idr.h>
#include <linux/slab.h>

static DEFINE_IDA(oae_ids);

static int oae_error(const struct oae_device *oae)
{
	switch (READ_ONCE(oae->state)) {
	case OAE_LIVE:
		return 0;
	case OAE_FROZEN:
		return -EIO;
	default:
		return -ENODEV;
	}
}

int oae_enter(struct oae_device *oae)
{
	int ret;

	ret = down_read_killable(&oae->lock);
	if (ret)
		return ret;
	ret = oae_error(oae);
	if (ret)
		up_read(&oae->lock);
	return ret;
}

bool oae_enter_always(struct oae_device *oae)
{
	down_read(&oae->lock);
	return oae_is_live(oae);
}

void oae_leave(struct oae_device *oae)
{
	up_read(&oae->lock);
}

static void oae_free(struct kref *kref)
{
	struct oae_device *oae = container_of(kref, struct oae_device, kref);

	ida_free(&oae_ids, oae->id);
	pci_dev_put(oae->pdev);
	kfree(oae);
}

void oae_get(struct oae_device *oae)
{
	kref_get(&oae->kref);
}

void oae_put(struct oae_device *oae)
{
	kref_put(&oae->kref, oae_free);
}

static void oae_put_action(void *oae)
{
	oae_put(oae);
}

struct oae_device *oae_device_create(struct pci_dev *pdev)
{
	struct oae_device *oae;
	int ret;

	oae = kzalloc(sizeof(*oae), GFP_KERNEL);
	if (!oae)
		return ERR_PTR(-ENOMEM);
	oae->id = ida_alloc_max(&oae_ids, OAE_MAX_DEVICES - 1, GFP_KERNEL);
	if (oae->id < 0) {
		ret = oae->id;
		kfree(oae);
		return ERR_PTR(ret);
	}
	kref_init(&oae->kref);
	oae->pdev = pci_dev_get(pdev);
	oae->state = OAE_FROZEN;
	init_rwsem(&oae->lock);
	mutex_init(&oae->mailbox.lock);
	init_completion(&oae->mailbox.replied);
	ret = devm_add_action_or_reset(&pdev->dev, oae_put_action, oae);
	return ret ? ERR_PTR(ret) : oae;
}
