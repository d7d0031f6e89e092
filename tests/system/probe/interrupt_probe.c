// SPDX-License-Identifier: GPL-2.0
/*
 * A driver whose interrupt handler begins with a write to the device, so that the trace tells when
 * the handler began. Loading it takes 01:00.0, which no driver may hold, and lets the block signal
 * that the firmware's offer of port 0 stands, `count` times: each time with the interrupt's
 * processor idle, where there is more than one.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sched.h>

#include "oae_registers.h"

/* A register without an effect: an argument of a request to the firmware, which nobody sends. */
#define MARK (OAE_HOST_SIZE + OAE_MAILBOX_REQUEST_AT(OAE_MAILBOX_REQUEST_COUNT - 1))

static unsigned int count = 1;
module_param(count, uint, 0);

static void __iomem *mark;
static u64 handled;
static DECLARE_COMPLETION(interrupted);

static irqreturn_t handle(int irq, void *data)
{
	writeq(++handled, mark);
	complete(&interrupted);
	return IRQ_HANDLED;
}

static int signal_often(void __iomem *bar, int irq)
{
	int ret;

	ret = irq_set_affinity(irq, cpumask_of(num_online_cpus() - 1));
	if (!ret)
		ret = set_cpus_allowed_ptr(current, cpumask_of(0));
	if (ret)
		return ret;
	writeq(OAE_HOST_PORT_CONTROL_OPEN_MASK, bar + OAE_HOST_PORT_CONTROL);
	for (unsigned int i = 0; i < count && !ret; i++) {
		usleep_range(50, 60);
		writeq(OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK, bar + OAE_HOST_PORT_EVENT);
		if (!wait_for_completion_timeout(&interrupted, HZ))
			ret = -ETIMEDOUT;
	}
	writeq(0, bar + OAE_HOST_PORT_EVENT);
	writeq(0, bar + OAE_HOST_PORT_CONTROL);
	readq(bar + OAE_HOST_PORT_STATE);
	return ret;
}

static int probe_vectors(struct pci_dev *device, void __iomem *bar)
{
	int ret, irq;

	ret = pci_alloc_irq_vectors(device, 1, 1, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	irq = pci_irq_vector(device, 0);
	ret = request_irq(irq, handle, 0, KBUILD_MODNAME, device);
	if (!ret) {
		ret = signal_often(bar, irq);
		free_irq(irq, device);
	}
	pci_free_irq_vectors(device);
	return ret;
}

static int __init probe(void)
{
	struct pci_dev *device = pci_get_domain_bus_and_slot(0, 1, PCI_DEVFN(0, 0));
	void __iomem *bar;
	int ret;

	if (!device)
		return -ENODEV;
	ret = pci_enable_device(device);
	if (ret)
		goto put;
	pci_set_master(device);
	ret = -ENOMEM;
	bar = pci_iomap(device, 0, 0);
	if (bar) {
		mark = bar + MARK;
		ret = probe_vectors(device, bar);
		pci_iounmap(device, bar);
	}
	pci_clear_master(device);
	pci_disable_device(device);
put:
	pci_dev_put(device);
	return ret;
}

static void __exit leave(void)
{
}

module_init(probe);
module_exit(leave);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probe of the way of an interrupt");
