// SPDX-License-Identifier: GPL-2.0
/* The function of queues of a device: requests to the agent there, and its calls. */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/smp.h>

#include "oae_memory_map.h"
#include "oae_sched.h"
#include "oae_sched_calls.h"

static unsigned int answer_timeout_ms = 1000;
module_param(answer_timeout_ms, uint, 0644);
MODULE_PARM_DESC(answer_timeout_ms, "how long an agent on a device may take to answer a request");

/* The only function, since a host has one agent. */
static struct {
	struct pci_dev *pci;
	bool frozen; /* It is being reset, and must not be touched. */
	bool forgotten; /* It was reset since an agent was started. */
	void __iomem *control; /* the first page */
	void *page; /* of memory that the device can write */
	dma_addr_t page_address;
	u64 requests;
	oae_sched_called *called;
	u64 *open; /* of a transport that reaches the memory: the CPUs that may do so */
} function;

static DEFINE_MUTEX(lock);

/* Whoever has an agent there learns that its way has failed. */
static void notice(enum oae_sched_sign sign)
{
	if (READ_ONCE(function.called))
		oae_sched_notice(sign);
}

static bool is_there(void)
{
	return READ_ONCE(function.pci) && !READ_ONCE(function.frozen);
}

/** oae_sched_calls_known - says whether the memory is still as the last agent has left it */
bool oae_sched_calls_known(void)
{
	bool known;

	mutex_lock(&lock);
	known = is_there() && !function.forgotten;
	mutex_unlock(&lock);
	return known;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_known);

static void do_nothing(void *unused)
{
}

/* Those who use what has changed have interrupts off until they are done. */
static void wait_for_cpus(void)
{
	on_each_cpu(do_nothing, NULL, true);
}

/**
 * oae_sched_calls_begin - prepares to start an agent on a device
 * @called: is called when the agent calls a CPU, on that CPU, by an interrupt's handler
 * @memory: is given the physical address range of the memory that the agent shares
 *
 * Return: ENODEV if there is no such device.
 */
int oae_sched_calls_begin(oae_sched_called *called, struct range *memory)
{
	int ret = -ENODEV;

	mutex_lock(&lock);
	if (is_there()) {
		memory->start = pci_resource_start(function.pci, OAE_QUEUE_MEMORY_BAR);
		memory->end = pci_resource_end(function.pci, OAE_QUEUE_MEMORY_BAR);
		WRITE_ONCE(function.called, called);
		ret = 0;
	}
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_begin);

/**
 * oae_sched_calls_open - lets CPUs reach the memory
 * @open: is set to @cpus, and to 0 when nobody may reach the memory any more
 * @cpus: bit n: CPU n
 *
 * Those who look at @open and reach the memory have interrupts off meanwhile.
 *
 * Return: ENODEV if there is no such device, or if it is being reset.
 */
int oae_sched_calls_open(u64 *open, u64 cpus)
{
	int ret = -ENODEV;

	mutex_lock(&lock);
	if (is_there()) {
		function.open = open;
		function.forgotten = false;
		WRITE_ONCE(*open, cpus);
		ret = 0;
	}
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_open);

static void close_locked(void)
{
	if (function.open)
		WRITE_ONCE(*function.open, 0);
	function.open = NULL;
	wait_for_cpus();
}

/**
 * oae_sched_calls_close - undoes oae_sched_calls_open()
 *
 * Nobody reaches the memory any more when it returns.
 */
void oae_sched_calls_close(void)
{
	mutex_lock(&lock);
	close_locked();
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(oae_sched_calls_close);

/**
 * oae_sched_calls_end - ends the calls
 *
 * No call is at work any more when it returns.
 */
void oae_sched_calls_end(void)
{
	WRITE_ONCE(function.called, NULL);
	wait_for_cpus();
}
EXPORT_SYMBOL_GPL(oae_sched_calls_end);

static int request_locked(struct queue_control *control)
{
	const unsigned long end = jiffies + msecs_to_jiffies(answer_timeout_ms);
	u64 reply;

	if (!is_there())
		return -ENODEV;
	control->request = ++function.requests;
	memcpy_toio(function.control + QUEUE_CONTROL + 8, &control->command, sizeof(*control) - 8);
	wmb(); /* The number comes last. */
	writeq(control->request, function.control + QUEUE_CONTROL);
	for (;;) {
		reply = readq(function.control + QUEUE_STATUS);
		if (reply == control->request)
			break;
		if (reply == QUEUE_NO_ANSWER)
			return -EIO;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(50, 100);
	}
	if (readq(function.control + QUEUE_STATUS + offsetof(struct queue_status, result)))
		return -EINVAL;
	return 0;
}

/**
 * oae_sched_calls_request - makes a request to the agent, and waits until it is carried out
 * @control: the request, which is given its number
 *
 * Return: ENODEV if there is no device, EIO if it cannot be reached, ETIMEDOUT if the agent does not
 * answer, and EINVAL if it refuses.
 */
int oae_sched_calls_request(struct queue_control *control)
{
	int ret;

	mutex_lock(&lock);
	ret = request_locked(control);
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_request);

/**
 * oae_sched_calls_finish - lets the agent end its work, and gets its counts
 * @counts: the counts, if 0 is returned
 *
 * Return: as oae_sched_calls_request().
 */
int oae_sched_calls_finish(struct oae_sched_counts *counts)
{
	struct queue_control control = { .command = QUEUE_FINISH };
	int ret;

	mutex_lock(&lock);
	ret = request_locked(&control);
	if (!ret)
		memcpy_fromio(counts->words, function.control + QUEUE_COUNTS,
			      sizeof(counts->words));
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_finish);

/**
 * oae_sched_calls_page - a page of memory that the device can write
 * @address: is given the page's bus address
 *
 * The page is the driver's, and goes when that leaves the device. So only those may look at it whom
 * oae_sched_calls_open() lets reach the memory.
 *
 * Return: the page, or NULL if there is no such device.
 */
void *oae_sched_calls_page(dma_addr_t *address)
{
	void *page = NULL;

	mutex_lock(&lock);
	if (is_there()) {
		page = function.page;
		*address = function.page_address;
	}
	mutex_unlock(&lock);
	return page;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_page);

/**
 * oae_sched_calls_clear_page - fills that page with zeros
 *
 * Return: ENODEV if there is no such device.
 */
int oae_sched_calls_clear_page(void)
{
	int ret = -ENODEV;

	mutex_lock(&lock);
	if (is_there()) {
		memset(function.page, 0, PAGE_SIZE);
		ret = 0;
	}
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(oae_sched_calls_clear_page);

/**
 * oae_sched_calls_liveness - the agent's sign of life, by a read of the device
 *
 * The caller has interrupts off. So the device does not go while it is read.
 *
 * Return: 0 if there is no sign.
 */
u64 oae_sched_calls_liveness(void)
{
	const size_t at = QUEUE_STATUS + offsetof(struct queue_status, liveness);
	u64 liveness = is_there() ? readq(function.control + at) : 0;

	return liveness == ~0ULL ? 0 : liveness; /* what a device that is gone seems to answer */
}
EXPORT_SYMBOL_GPL(oae_sched_calls_liveness);

static irqreturn_t handle_call(int irq, void *argument)
{
	const unsigned int vector = (unsigned long)argument;
	const unsigned int cpu = smp_processor_id();
	oae_sched_called *called = READ_ONCE(function.called);

	/* A CPU that goes offline leaves its interrupts to another one. */
	if (called && vector / QUEUE_CALLS == cpu)
		called(cpu, vector % QUEUE_CALLS);
	return IRQ_HANDLED;
}

static int map_control(struct pci_dev *pci)
{
	const resource_size_t start = pci_resource_start(pci, OAE_QUEUE_MEMORY_BAR);

	function.control = devm_ioremap(&pci->dev, start, QUEUE_AREAS);
	return function.control ? 0 : -ENOMEM;
}

static int allocate_page(struct pci_dev *pci)
{
	int ret = dma_set_mask_and_coherent(&pci->dev, DMA_BIT_MASK(64));

	if (ret)
		return ret;
	function.page = dmam_alloc_coherent(&pci->dev, PAGE_SIZE, &function.page_address,
					    GFP_KERNEL);
	return function.page ? 0 : -ENOMEM;
}

static int request_vector(struct pci_dev *pci, unsigned int vector)
{
	static const char *const calls[] = { "look", "preempt", "withdraw" };
	const unsigned int cpu = vector / QUEUE_CALLS;
	const int irq = pci_irq_vector(pci, vector);
	const char *name = devm_kasprintf(&pci->dev, GFP_KERNEL, "oae_sched-%s%u",
					  calls[vector % QUEUE_CALLS], cpu);
	int ret;

	if (!name)
		return -ENOMEM;
	/* Before the request, since an interrupt in use moves only when it comes. */
	ret = irq_set_affinity(irq, cpumask_of(cpu));
	if (ret)
		return ret;
	return devm_request_irq(&pci->dev, irq, handle_call, IRQF_NO_THREAD | IRQF_NOBALANCING,
				name, (void *)(unsigned long)vector);
}

static int request_vectors(struct pci_dev *pci)
{
	const unsigned int vectors = nr_cpu_ids * QUEUE_CALLS;
	unsigned int vector;
	int ret;

	ret = pci_alloc_irq_vectors(pci, vectors, vectors, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(&pci->dev, ret, "%u MSI-X vectors are needed\n", vectors);
	for (vector = 0; vector < vectors; vector++) {
		ret = request_vector(pci, vector);
		if (ret)
			return ret;
	}
	return 0;
}

static int probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	int ret;

	if (function.pci)
		return dev_err_probe(&pci->dev, -EBUSY, "a host has one agent\n");
	ret = pcim_enable_device(pci) ?: map_control(pci) ?: allocate_page(pci) ?:
	      request_vectors(pci);
	if (ret)
		return ret;
	pci_set_master(pci);
	pci_save_state(pci);
	function.requests = readq(function.control + QUEUE_STATUS);
	mutex_lock(&lock);
	function.pci = pci;
	function.frozen = false;
	mutex_unlock(&lock);
	return 0;
}

static void remove(struct pci_dev *pci)
{
	mutex_lock(&lock);
	notice(OAE_SCHED_REMOVAL);
	WRITE_ONCE(function.pci, NULL);
	WRITE_ONCE(function.called, NULL);
	close_locked();
	mutex_unlock(&lock);
	pci_clear_master(pci);
}

/* The agent may live on, but does not know what it has missed, and is started again. */
static void freeze(void)
{
	mutex_lock(&lock);
	notice(OAE_SCHED_RESET);
	WRITE_ONCE(function.frozen, true);
	function.forgotten = true;
	close_locked();
	mutex_unlock(&lock);
}

static void thaw(struct pci_dev *pci)
{
	mutex_lock(&lock);
	function.frozen = false;
	mutex_unlock(&lock);
	/* What the kernel saved can be restored only once. */
	pci_save_state(pci);
}

static void reset_prepare(struct pci_dev *pci)
{
	freeze();
}

static void reset_done(struct pci_dev *pci)
{
	thaw(pci);
}

static pci_ers_result_t error_detected(struct pci_dev *pci, pci_channel_state_t channel)
{
	if (channel == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	freeze();
	return channel == pci_channel_io_frozen ? PCI_ERS_RESULT_NEED_RESET :
						  PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t mmio_enabled(struct pci_dev *pci)
{
	return PCI_ERS_RESULT_RECOVERED;
}

static pci_ers_result_t slot_reset(struct pci_dev *pci)
{
	pci_restore_state(pci);
	return PCI_ERS_RESULT_RECOVERED;
}

static void error_resume(struct pci_dev *pci)
{
	thaw(pci);
}

static const struct pci_error_handlers error_handlers = {
	.error_detected = error_detected,
	.mmio_enabled = mmio_enabled,
	.slot_reset = slot_reset,
	.resume = error_resume,
	.reset_prepare = reset_prepare,
	.reset_done = reset_done,
};

static const struct pci_device_id ids[] = { { PCI_DEVICE(0xf0ae, 0x0ae3) }, {} };
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name = "oae_sched",
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.err_handler = &error_handlers,
};

int oae_sched_calls_init(void)
{
	return pci_register_driver(&driver);
}

void oae_sched_calls_exit(void)
{
	pci_unregister_driver(&driver);
}
