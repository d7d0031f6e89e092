// SPDX-License-Identifier: GPL-2.0
/*
 * Driver of the device `checksum`: what is written to /dev/checksum goes to the device, and a read of
 * /dev/checksum returns the CRC-32 of the last write.
 *
 * The device can be removed while the file is open. So the driver's data about it live until the last
 * file is closed, and only the registers and the buffer end with the device.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
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

/* The registers of checksum.h */
#define ADDRESS 0x00
#define UPPER_ADDRESS 0x04
#define LENGTH 0x08
#define START 0x0c
#define STATUS 0x10
#define BUSY 1
#define DONE 2
#define FAILED 4
#define RESULT 0x14
#define BUFFER_SIZE 65536

struct checksum {
	struct kref references; /* of the device until it is removed, and of each open file */
	struct miscdevice misc;
	void __iomem *registers;
	void *buffer;
	dma_addr_t address;
	struct mutex lock; /* of registers, buffer and result: one file operation at a time */
	bool gone; /* Registers and buffer are no longer there. Whoever holds the lock has to look. */
	u32 result;
	spinlock_t status_lock; /* of the status register and of `ended` */
	u32 ended; /* how the device has ended, or 0 while it is at work */
	wait_queue_head_t wait; /* for `ended` or `gone` */
};

static void checksum_free(struct kref *references)
{
	kfree(container_of(references, struct checksum, references));
}

static void checksum_put(void *checksum)
{
	kref_put(&((struct checksum *)checksum)->references, checksum_free);
}

/* The status register says what has ended: the interrupt of earlier work may arrive late. */
static irqreturn_t checksum_interrupt(int irq, void *data)
{
	struct checksum *checksum = data;
	u32 status, ended;

	spin_lock(&checksum->status_lock);
	status = ioread32(checksum->registers + STATUS);
	ended = status & (DONE | FAILED);
	/* All ones: the device does not answer any more. */
	if (status == ~0u)
		ended = 0;
	if (ended) {
		iowrite32(0, checksum->registers + STATUS);
		WRITE_ONCE(checksum->ended, ended);
	}
	spin_unlock(&checksum->status_lock);
	if (!ended)
		return IRQ_NONE;
	wake_up(&checksum->wait);
	return IRQ_HANDLED;
}

/* Whether the device is free. What took too long may still be in progress. */
static int checksum_ready(struct checksum *checksum)
{
	u32 status = ioread32(checksum->registers + STATUS);

	if (status == ~0u)
		return -ENODEV;
	return status & BUSY ? -EBUSY : 0;
}

/* The caller holds the lock, the device is free, and the bytes are in the buffer. */
static int checksum_compute(struct checksum *checksum, size_t length)
{
	u32 ended;

	spin_lock_irq(&checksum->status_lock);
	/* The end of earlier work that nobody has waited for does not count. */
	iowrite32(0, checksum->registers + STATUS);
	checksum->ended = 0;
	iowrite32(lower_32_bits(checksum->address), checksum->registers + ADDRESS);
	iowrite32(upper_32_bits(checksum->address), checksum->registers + UPPER_ADDRESS);
	iowrite32(length, checksum->registers + LENGTH);
	iowrite32(1, checksum->registers + START);
	spin_unlock_irq(&checksum->status_lock);

	wait_event_timeout(checksum->wait,
			   READ_ONCE(checksum->ended) || READ_ONCE(checksum->gone), HZ);
	ended = READ_ONCE(checksum->ended);
	if (!ended)
		return READ_ONCE(checksum->gone) ? -ENODEV : -ETIMEDOUT;
	if (ended & FAILED)
		return -EIO;
	checksum->result = ioread32(checksum->registers + RESULT);
	return 0;
}

static struct checksum *checksum_of(struct file *file)
{
	return container_of(file->private_data, struct checksum, misc);
}

/* Begins a file operation, which ends when the lock is released. */
static int checksum_lock(struct checksum *checksum)
{
	if (mutex_lock_interruptible(&checksum->lock))
		return -ERESTARTSYS;
	if (!checksum->gone)
		return 0;
	mutex_unlock(&checksum->lock);
	return -ENODEV;
}

/* misc_deregister() waits for it, so that the reference of the device still exists. */
static int checksum_open(struct inode *inode, struct file *file)
{
	kref_get(&checksum_of(file)->references);
	return 0;
}

static int checksum_release(struct inode *inode, struct file *file)
{
	checksum_put(checksum_of(file));
	return 0;
}

static ssize_t checksum_write(struct file *file, const char __user *data, size_t length, loff_t *at)
{
	struct checksum *checksum = checksum_of(file);
	int error;

	if (length == 0 || length > BUFFER_SIZE)
		return -EINVAL;
	error = checksum_lock(checksum);
	if (error)
		return error;
	error = checksum_ready(checksum);
	if (!error && copy_from_user(checksum->buffer, data, length))
		error = -EFAULT;
	if (!error)
		error = checksum_compute(checksum, length);
	mutex_unlock(&checksum->lock);
	return error ? error : length;
}

static ssize_t checksum_read(struct file *file, char __user *data, size_t length, loff_t *at)
{
	struct checksum *checksum = checksum_of(file);
	char text[10];
	int size, error;

	error = checksum_lock(checksum);
	if (error)
		return error;
	size = scnprintf(text, sizeof(text), "%08x\n", checksum->result);
	mutex_unlock(&checksum->lock);
	return simple_read_from_buffer(data, length, at, text, size);
}

static const struct file_operations checksum_operations = {
	.owner = THIS_MODULE,
	.open = checksum_open,
	.release = checksum_release,
	.read = checksum_read,
	.write = checksum_write,
};

static int checksum_probe(struct pci_dev *device, const struct pci_device_id *id)
{
	struct checksum *checksum = kzalloc(sizeof(*checksum), GFP_KERNEL);
	u32 status;
	int error;

	if (!checksum)
		return -ENOMEM;
	kref_init(&checksum->references);
	mutex_init(&checksum->lock);
	spin_lock_init(&checksum->status_lock);
	init_waitqueue_head(&checksum->wait);
	/* Of what is managed, this is undone last. */
	error = devm_add_action_or_reset(&device->dev, checksum_put, checksum);
	if (error)
		return error;
	error = pcim_enable_device(device);
	if (error)
		return error;
	error = pcim_iomap_regions(device, BIT(0), KBUILD_MODNAME);
	if (error)
		return error;
	checksum->registers = pcim_iomap_table(device)[0];
	/* What was in progress when a driver was removed fails, since the device cannot reach memory. */
	error = readl_poll_timeout(checksum->registers + STATUS, status, !(status & BUSY), 100,
				   USEC_PER_SEC);
	if (error)
		return error;
	error = dma_set_mask_and_coherent(&device->dev, DMA_BIT_MASK(64));
	if (error)
		return error;
	checksum->buffer = dmam_alloc_coherent(&device->dev, BUFFER_SIZE, &checksum->address,
					       GFP_KERNEL);
	if (!checksum->buffer)
		return -ENOMEM;
	pci_set_master(device);
	error = pci_alloc_irq_vectors(device, 1, 1, PCI_IRQ_MSIX);
	if (error < 0)
		return error;
	error = devm_request_irq(&device->dev, pci_irq_vector(device, 0), checksum_interrupt, 0,
				 KBUILD_MODNAME, checksum);
	if (error)
		return error;
	checksum->misc.minor = MISC_DYNAMIC_MINOR;
	checksum->misc.name = "checksum";
	checksum->misc.fops = &checksum_operations;
	checksum->misc.parent = &device->dev;
	pci_set_drvdata(device, checksum);
	return misc_register(&checksum->misc);
}

static void checksum_remove(struct pci_dev *device)
{
	struct checksum *checksum = pci_get_drvdata(device);

	misc_deregister(&checksum->misc);
	/* What is in progress ends at once with an error, and all later file operations fail. */
	WRITE_ONCE(checksum->gone, true);
	wake_up(&checksum->wait);
	mutex_lock(&checksum->lock);
	mutex_unlock(&checksum->lock);
	/* From here on the device does not reach the buffer, which is freed after this function. */
	pci_clear_master(device);
}

static const struct pci_device_id checksum_ids[] = { { PCI_DEVICE(0xf0ae, 0x0c00) }, {} };
MODULE_DEVICE_TABLE(pci, checksum_ids);

static struct pci_driver checksum_driver = {
	.name = KBUILD_MODNAME,
	.id_table = checksum_ids,
	.probe = checksum_probe,
	.remove = checksum_remove,
};
module_pci_driver(checksum_driver);

MODULE_DESCRIPTION("Driver of the device of the tutorial");
MODULE_LICENSE("GPL");
