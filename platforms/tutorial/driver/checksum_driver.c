// SPDX-License-Identifier: GPL-2.0
/*
 * Driver of the device `checksum`: what is written to /dev/checksum goes to the device, and a read of
 * /dev/checksum returns the CRC-32 of the last write.
 */
#include <linux/completion.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/uaccess.h>

/* The registers of checksum.h */
#define ADDRESS 0x00
#define UPPER_ADDRESS 0x04
#define LENGTH 0x08
#define START 0x0c
#define STATUS 0x10
#define DONE 2
#define FAILED 4
#define RESULT 0x14
#define BUFFER_SIZE 65536

struct checksum {
	struct miscdevice misc;
	void __iomem *registers;
	void *buffer;
	dma_addr_t address;
	struct mutex lock; /* of the device and of what follows */
	struct completion finished;
	u32 status;
	u32 result;
};

static irqreturn_t checksum_interrupt(int irq, void *data)
{
	struct checksum *checksum = data;

	checksum->status = ioread32(checksum->registers + STATUS);
	if (!(checksum->status & (DONE | FAILED)))
		return IRQ_NONE;
	iowrite32(0, checksum->registers + STATUS);
	complete(&checksum->finished);
	return IRQ_HANDLED;
}

/* The caller holds the lock, and the bytes are in the buffer. */
static int checksum_compute(struct checksum *checksum, size_t length)
{
	reinit_completion(&checksum->finished);
	iowrite32(lower_32_bits(checksum->address), checksum->registers + ADDRESS);
	iowrite32(upper_32_bits(checksum->address), checksum->registers + UPPER_ADDRESS);
	iowrite32(length, checksum->registers + LENGTH);
	iowrite32(1, checksum->registers + START);
	if (!wait_for_completion_timeout(&checksum->finished, HZ))
		return -ETIMEDOUT;
	if (checksum->status & FAILED)
		return -EIO;
	checksum->result = ioread32(checksum->registers + RESULT);
	return 0;
}

static ssize_t checksum_write(struct file *file, const char __user *data, size_t length, loff_t *at)
{
	struct checksum *checksum = container_of(file->private_data, struct checksum, misc);
	int error;

	if (length == 0 || length > BUFFER_SIZE)
		return -EINVAL;
	if (mutex_lock_interruptible(&checksum->lock))
		return -ERESTARTSYS;
	if (copy_from_user(checksum->buffer, data, length))
		error = -EFAULT;
	else
		error = checksum_compute(checksum, length);
	mutex_unlock(&checksum->lock);
	return error ? error : length;
}

static ssize_t checksum_read(struct file *file, char __user *data, size_t length, loff_t *at)
{
	struct checksum *checksum = container_of(file->private_data, struct checksum, misc);
	char text[10];
	int size;

	if (mutex_lock_interruptible(&checksum->lock))
		return -ERESTARTSYS;
	size = scnprintf(text, sizeof(text), "%08x\n", checksum->result);
	mutex_unlock(&checksum->lock);
	return simple_read_from_buffer(data, length, at, text, size);
}

static const struct file_operations checksum_operations = {
	.owner = THIS_MODULE,
	.read = checksum_read,
	.write = checksum_write,
};

static int checksum_probe(struct pci_dev *device, const struct pci_device_id *id)
{
	struct checksum *checksum = devm_kzalloc(&device->dev, sizeof(*checksum), GFP_KERNEL);
	int error;

	if (!checksum)
		return -ENOMEM;
	mutex_init(&checksum->lock);
	init_completion(&checksum->finished);
	error = pcim_enable_device(device);
	if (error)
		return error;
	error = pcim_iomap_regions(device, BIT(0), KBUILD_MODNAME);
	if (error)
		return error;
	checksum->registers = pcim_iomap_table(device)[0];
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
