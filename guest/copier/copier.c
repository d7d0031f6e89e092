// SPDX-License-Identifier: GPL-2.0
/*
 * Driver of the copier (models/copier), an example for drivers of one's own RTL. Each device has a
 * file /dev/copierN with a size of 64 KiB. What is written to the file goes into a buffer, and the
 * device copies it to a second buffer. What is read from the file comes from the second one.
 *
 * A device can be removed while its file is open. So the driver's data about it live until the last
 * file is closed, and only the registers and the buffers end with the device.
 */
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>
#include <linux/kref.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#define COPIER_VENDOR 0xf0ae
#define COPIER_DEVICE 0x0ae6
#define COPIER_SIZE 0x10000 /* of each buffer */
#define COPIER_VECTORS 2    /* done, failed */

/* Registers in BAR 0, see models/copier/README.md. */
#define COPIER_IDENTITY 0x00
#define COPIER_CONTROL 0x04
#define COPIER_STATUS 0x08
#define COPIER_LENGTH 0x0c
#define COPIER_SOURCE 0x10
#define COPIER_DESTINATION 0x18

#define COPIER_COPY 0x434f5059
#define COPIER_START BIT(0)
#define COPIER_BUSY BIT(0)
#define COPIER_DONE BIT(1)
#define COPIER_FAILED BIT(2)

#ifndef PCI_IRQ_INTX
#define PCI_IRQ_INTX PCI_IRQ_LEGACY
#endif

static unsigned int skew;
module_param(skew, uint, 0644);
MODULE_PARM_DESC(skew, "bytes by which the second buffer is shifted, below 4096");

static bool absent;
module_param(absent, bool, 0644);
MODULE_PARM_DESC(absent, "whether the source is an address at which there is no memory");

static DEFINE_IDA(copier_ids);

struct copier {
	struct kref references; /* of the device until it is removed, and of each open file */
	struct pci_dev *pdev;
	void __iomem *registers;
	struct miscdevice misc;
	char name[16];
	int id;
	unsigned int vectors;
	struct mutex lock; /* of the registers and buffers: one file operation at a time */
	bool gone; /* They are no longer there. Whoever holds the lock has to look. */
	spinlock_t status_lock; /* of the status register and of `ended` */
	u32 ended; /* how the copy has ended, or 0 while it is in progress */
	wait_queue_head_t wait; /* for `ended` or `gone` */
	void *source;
	void *destination;
	dma_addr_t source_address;
	dma_addr_t destination_address;
};

static void copier_free(struct kref *references)
{
	kfree(container_of(references, struct copier, references));
}

static void copier_put(void *copier)
{
	kref_put(&((struct copier *)copier)->references, copier_free);
}

/*
 * The status register says whether a copy has ended, and not that there is an interrupt: that of a copy
 * which took too long may arrive while the next one is in progress, and finds nothing to do.
 */
static irqreturn_t copier_interrupt(int irq, void *context)
{
	struct copier *copier = context;
	u32 status, ended;

	spin_lock(&copier->status_lock);
	status = readl(copier->registers + COPIER_STATUS);
	ended = status & (COPIER_DONE | COPIER_FAILED);
	/* All ones: the device does not answer any more. */
	if (status == ~0u)
		ended = 0;
	if (ended) {
		writel(ended, copier->registers + COPIER_STATUS);
		WRITE_ONCE(copier->ended, ended);
	}
	spin_unlock(&copier->status_lock);
	if (!ended)
		return IRQ_NONE;
	wake_up(&copier->wait);
	return IRQ_HANDLED;
}

/* Whether a copy may begin. One that took too long may still be in progress. */
static int copier_ready(struct copier *copier)
{
	u32 status = readl(copier->registers + COPIER_STATUS);

	if (status == ~0u)
		return -ENODEV;
	return status & COPIER_BUSY ? -EBUSY : 0;
}

static int copier_copy(struct copier *copier, dma_addr_t from, dma_addr_t to, size_t count)
{
	void __iomem *registers = copier->registers;
	u32 ended;

	spin_lock_irq(&copier->status_lock);
	/* The end of an earlier copy that nobody has waited for does not count. */
	writel(COPIER_DONE | COPIER_FAILED, registers + COPIER_STATUS);
	copier->ended = 0;
	writel(count, registers + COPIER_LENGTH);
	writeq(from, registers + COPIER_SOURCE);
	writeq(to, registers + COPIER_DESTINATION);
	writel(COPIER_START, registers + COPIER_CONTROL);
	spin_unlock_irq(&copier->status_lock);

	wait_event_timeout(copier->wait, READ_ONCE(copier->ended) || READ_ONCE(copier->gone), HZ);
	ended = READ_ONCE(copier->ended);
	if (ended)
		return ended & COPIER_FAILED ? -EIO : 0;
	return READ_ONCE(copier->gone) ? -ENODEV : -ETIMEDOUT;
}

static struct copier *copier_of(struct file *file)
{
	return container_of(file->private_data, struct copier, misc);
}

/* Begins a file operation, which ends when the lock is released. */
static int copier_lock(struct copier *copier)
{
	if (mutex_lock_interruptible(&copier->lock))
		return -EINTR;
	if (!copier->gone)
		return 0;
	mutex_unlock(&copier->lock);
	return -ENODEV;
}

/* misc_deregister() waits for it, so that the reference of the device still exists. */
static int copier_open(struct inode *inode, struct file *file)
{
	kref_get(&copier_of(file)->references);
	return 0;
}

static int copier_release(struct inode *inode, struct file *file)
{
	copier_put(copier_of(file));
	return 0;
}

static ssize_t copier_write(struct file *file, const char __user *from, size_t count,
			    loff_t *position)
{
	struct copier *copier = copier_of(file);
	u64 at = *position;
	ssize_t result;

	if (at >= COPIER_SIZE)
		return -ENOSPC;
	if (skew >= PAGE_SIZE)
		return -EINVAL;
	count = min_t(u64, count, COPIER_SIZE - at);
	result = copier_lock(copier);
	if (result)
		return result;
	result = copier_ready(copier);
	if (!result && copy_from_user(copier->source + at, from, count))
		result = -EFAULT;
	if (!result)
		result = copier_copy(copier, absent ? BIT_ULL(51) : copier->source_address + at,
				     copier->destination_address + skew + at, count);
	if (!result) {
		*position += count;
		result = count;
	}
	mutex_unlock(&copier->lock);
	return result;
}

static ssize_t copier_read(struct file *file, char __user *to, size_t count, loff_t *position)
{
	struct copier *copier = copier_of(file);
	ssize_t result;

	if (skew >= PAGE_SIZE)
		return -EINVAL;
	result = copier_lock(copier);
	if (result)
		return result;
	result = simple_read_from_buffer(to, count, position, copier->destination + skew,
					 COPIER_SIZE);
	mutex_unlock(&copier->lock);
	return result;
}

static const struct file_operations copier_operations = {
	.owner = THIS_MODULE,
	.open = copier_open,
	.release = copier_release,
	.read = copier_read,
	.write = copier_write,
	.llseek = default_llseek,
};

static void copier_free_interrupts(struct copier *copier)
{
	while (copier->vectors > 0)
		pci_free_irq(copier->pdev, --copier->vectors, copier);
	pci_free_irq_vectors(copier->pdev);
}

static int copier_request_interrupts(struct copier *copier)
{
	struct pci_dev *pdev = copier->pdev;
	int count = pci_alloc_irq_vectors(pdev, COPIER_VECTORS, COPIER_VECTORS, PCI_IRQ_MSIX);
	int error;

	if (count < 0)
		count = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_INTX);
	if (count < 0)
		return count;
	for (copier->vectors = 0; copier->vectors < count; copier->vectors++) {
		error = pci_request_irq(pdev, copier->vectors, copier_interrupt, NULL, copier,
					"%s-%u", copier->name, copier->vectors);
		if (error) {
			copier_free_interrupts(copier);
			return error;
		}
	}
	return 0;
}

static int copier_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct copier *copier;
	u32 status;
	int error;

	copier = kzalloc(sizeof(*copier), GFP_KERNEL);
	if (!copier)
		return -ENOMEM;
	kref_init(&copier->references);
	copier->pdev = pdev;
	mutex_init(&copier->lock);
	spin_lock_init(&copier->status_lock);
	init_waitqueue_head(&copier->wait);
	pci_set_drvdata(pdev, copier);
	/* Of what is managed, this is undone last. */
	error = devm_add_action_or_reset(&pdev->dev, copier_put, copier);
	if (error)
		return error;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	error = pcim_iomap_regions(pdev, BIT(0), KBUILD_MODNAME);
	if (error)
		return error;
	copier->registers = pcim_iomap_table(pdev)[0];
	if (readl(copier->registers + COPIER_IDENTITY) != COPIER_COPY) {
		dev_err(&pdev->dev, "this is no copier\n");
		return -ENODEV;
	}
	/* A copy that was in progress when a driver was removed fails, since the device cannot reach memory. */
	error = readl_poll_timeout(copier->registers + COPIER_STATUS, status,
				   !(status & COPIER_BUSY), 100, USEC_PER_SEC);
	if (error) {
		dev_err(&pdev->dev, "a copy of an earlier driver does not end\n");
		return error;
	}
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	copier->source = dmam_alloc_coherent(&pdev->dev, COPIER_SIZE, &copier->source_address,
					     GFP_KERNEL);
	copier->destination = dmam_alloc_coherent(&pdev->dev, COPIER_SIZE + PAGE_SIZE,
						  &copier->destination_address, GFP_KERNEL);
	if (!copier->source || !copier->destination)
		return -ENOMEM;

	copier->id = ida_alloc(&copier_ids, GFP_KERNEL);
	if (copier->id < 0)
		return copier->id;
	snprintf(copier->name, sizeof(copier->name), "copier%d", copier->id);
	pci_set_master(pdev);
	error = copier_request_interrupts(copier);
	if (error)
		goto free_id;
	copier->misc.minor = MISC_DYNAMIC_MINOR;
	copier->misc.name = copier->name;
	copier->misc.fops = &copier_operations;
	copier->misc.parent = &pdev->dev;
	error = misc_register(&copier->misc);
	if (error)
		goto free_interrupts;
	return 0;

free_interrupts:
	copier_free_interrupts(copier);
free_id:
	pci_clear_master(pdev);
	ida_free(&copier_ids, copier->id);
	return error;
}

static void copier_remove(struct pci_dev *pdev)
{
	struct copier *copier = pci_get_drvdata(pdev);

	misc_deregister(&copier->misc);
	/* A copy in progress ends at once with an error, and all later file operations fail. */
	WRITE_ONCE(copier->gone, true);
	wake_up(&copier->wait);
	mutex_lock(&copier->lock);
	mutex_unlock(&copier->lock);
	copier_free_interrupts(copier);
	/* From here on the device does not reach the buffers, which are freed after this function. */
	pci_clear_master(pdev);
	ida_free(&copier_ids, copier->id);
}

static const struct pci_device_id copier_devices[] = {
	{ PCI_DEVICE(COPIER_VENDOR, COPIER_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, copier_devices);

static struct pci_driver copier_driver = {
	.name = KBUILD_MODNAME,
	.id_table = copier_devices,
	.probe = copier_probe,
	.remove = copier_remove,
};
module_pci_driver(copier_driver);

MODULE_DESCRIPTION("Example of a driver of one's own RTL: a device that copies memory");
MODULE_LICENSE("GPL");
