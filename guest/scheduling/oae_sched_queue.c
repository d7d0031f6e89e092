// SPDX-License-Identifier: GPL-2.0
/*
 * The transport to an agent on a device with a queue function: MMIO in both directions, as in Wave
 * (Humphries et al., ASPLOS 2025).
 *
 * Messages go through a write-combining mapping, so that each is one write of 64 bytes. Decisions
 * come through a write-through mapping: a CPU reads the line of its slot once, and can start that
 * read before it needs the decision. The device is not part of the CPUs' coherence, so a CPU
 * flushes the line before it reads it anew.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/prefetch.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/special_insns.h>

#include "oae_memory_map.h"
#include "oae_sched.h"
#include "queue_layout.h"

static bool write_combining = true;
module_param(write_combining, bool, 0644);
MODULE_PARM_DESC(write_combining, "write messages through a write-combining mapping, else uncached");

static bool write_through = true;
module_param(write_through, bool, 0644);
MODULE_PARM_DESC(write_through, "read decisions through a write-through mapping, else uncached");

static bool prefetch_decisions = true;
module_param(prefetch_decisions, bool, 0644);
MODULE_PARM_DESC(prefetch_decisions, "start to read a decision before it is needed");

static bool agent_cached = true;
module_param(agent_cached, bool, 0644);
MODULE_PARM_DESC(agent_cached, "let the agent reach the queues through its cache");

static unsigned int ring_elements = 256;
module_param(ring_elements, uint, 0644);
MODULE_PARM_DESC(ring_elements, "length of a CPU's ring of messages: a power of two from 64");

static unsigned int answer_timeout_ms = 1000;
module_param(answer_timeout_ms, uint, 0644);
MODULE_PARM_DESC(answer_timeout_ms, "how long the agent may take to answer a request");

/* Of a CPU, which alone uses it, with interrupts off. */
struct oae_sched_queue {
	void __iomem *ring;
	void __iomem *slot; /* uncached, or */
	struct queue_slot *line; /* write-through */
	u64 head;	/* messages written */
	u64 tail;	/* of these, that the agent had read when the ring last seemed full */
	u64 taken;	/* number of the last decision that was taken */
	bool prefetched;
	bool lost;
};

/* The only device, since a host has one agent. */
static struct {
	struct pci_dev *pci;
	bool frozen; /* It is being reset, and must not be touched. */
	void __iomem *control; /* the first page */
	u64 requests;
	u64 cpus; /* that run tasks of the agent; 0: nobody touches the queues */
	unsigned int elements;
	bool prefetch;
	struct oae_sched_queue queues[OAE_SCHED_CPUS];
} device;

static DEFINE_MUTEX(lock);

static bool is_there(void)
{
	return device.pci && !device.frozen;
}

static void do_nothing(void *unused)
{
}

/* Nobody touches the queues from then on, until an agent is started. */
static void stop_queues(void)
{
	WRITE_ONCE(device.cpus, 0);
	/* Those who have seen another value have interrupts off until they are done. */
	on_each_cpu(do_nothing, NULL, true);
}

static void write_line(struct oae_sched_queue *queue, const u64 *words)
{
	void __iomem *element = queue->ring +
				(queue->head & (device.elements - 1)) * QUEUE_ELEMENT_BYTES;

	__iowrite64_copy(element, words, QUEUE_ELEMENT_WORDS);
	wmb(); /* Nothing of the line stays in a buffer of this CPU. */
	queue->head++;
}

static bool has_room(struct oae_sched_queue *queue, unsigned int elements)
{
	if (queue->head + elements - queue->tail <= device.elements)
		return true;
	if (queue->line) {
		clflush((void *)queue->line + QUEUE_TAIL);
		mb(); /* The load follows the flush. */
		queue->tail = READ_ONCE(*(u64 *)((void *)queue->line + QUEUE_TAIL));
	} else {
		queue->tail = readq(queue->slot + QUEUE_TAIL);
	}
	return queue->head + elements - queue->tail <= device.elements;
}

static void put(struct oae_sched_queue *queue, const void *message, u64 time)
{
	u64 words[QUEUE_ELEMENT_WORDS];

	queue_encode(message, time, queue_phase(queue->head, device.elements), words);
	write_line(queue, words);
}

static bool queue_send(unsigned int cpu, const struct ghost_message *message, u64 time)
{
	const struct ghost_message mark = { .header.type = QUEUE_LOST,
					    .header.length = sizeof(struct ghost_header) };
	struct oae_sched_queue *queue = &device.queues[cpu];

	if (!READ_ONCE(device.cpus))
		return false;
	/* There is always room for the outcome of a decision and the mark of a loss. */
	if (!has_room(queue, 3)) {
		queue->lost = true;
		return false;
	}
	if (queue->lost)
		put(queue, &mark, time);
	queue->lost = false;
	put(queue, message, time);
	return true;
}

static void queue_finish(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence)
{
	struct oae_sched_queue *queue = &device.queues[cpu];
	const union queue_entry end = {
		.outcome = { .header = { .type = QUEUE_OUTCOME, .length = sizeof(end.outcome) },
			     .number = queue->taken,
			     .state = state,
			     .time = time,
			     .cpu_sequence = cpu_sequence },
	};

	if (!READ_ONCE(device.cpus))
		return;
	if (has_room(queue, 1))
		put(queue, &end.message, time);
	else
		queue->lost = true;
}

static void start_read(struct oae_sched_queue *queue)
{
	clflush(queue->line);
	mb(); /* The prefetch follows the flush. */
	prefetch(queue->line);
	queue->prefetched = true;
}

static void read_slot(struct oae_sched_queue *queue, struct queue_slot *slot)
{
	if (!queue->line) {
		memcpy_fromio(slot, queue->slot, sizeof(*slot));
		return;
	}
	if (!queue->prefetched) {
		clflush(queue->line);
		mb(); /* The load follows the flush. */
	}
	queue->prefetched = false;
	memcpy(slot, queue->line, sizeof(*slot));
}

static bool queue_claim(unsigned int cpu, struct oae_sched_slot *decision)
{
	struct oae_sched_queue *queue = &device.queues[cpu];
	struct queue_slot slot;

	if (!(READ_ONCE(device.cpus) >> cpu & 1))
		return false;
	read_slot(queue, &slot);
	if (slot.number != queue->taken + 1)
		return false;
	queue->taken++;
	if (slot.state != GHOST_READY) {
		queue_finish(cpu, GHOST_ABORTED, ktime_get_mono_fast_ns(), 0);
		return false;
	}
	*decision = (struct oae_sched_slot){ .version = slot.version,
					     .cpu = slot.cpu,
					     .state = slot.state,
					     .agent_barrier = slot.agent_barrier,
					     .task_barrier = slot.task_barrier,
					     .run_flags = slot.flags,
					     .commit_flags = slot.flags >> 16,
					     .gtid = slot.gtid,
					     .newest = slot.newest,
					     .number = slot.number };
	return true;
}

static void queue_prefetch(unsigned int cpu)
{
	if (device.prefetch && READ_ONCE(device.cpus) >> cpu & 1)
		start_read(&device.queues[cpu]);
}

static void queue_idle(unsigned int cpu, bool idle)
{
}

/* Gives a decision back that the agent wants back. */
static void give_back(unsigned int cpu)
{
	struct oae_sched_queue *queue = &device.queues[cpu];
	struct queue_slot slot;

	queue->prefetched = false;
	read_slot(queue, &slot);
	if (slot.number != queue->taken + 1 || slot.state == GHOST_READY)
		return;
	queue->taken++;
	queue_finish(cpu, GHOST_ABORTED, ktime_get_mono_fast_ns(), 0);
}

static irqreturn_t queue_called(int irq, void *argument)
{
	const unsigned int vector = (unsigned long)argument;
	const unsigned int cpu = smp_processor_id();

	/* A CPU that goes offline leaves its interrupts to another one. */
	if (vector / QUEUE_CALLS != cpu || !READ_ONCE(device.cpus))
		return IRQ_HANDLED;
	if (vector % QUEUE_CALLS == QUEUE_CALL_WITHDRAW) {
		give_back(cpu);
	} else {
		queue_prefetch(cpu);
		oae_sched_kick(cpu, vector % QUEUE_CALLS == QUEUE_CALL_PREEMPT);
	}
	return IRQ_HANDLED;
}

static int request(const struct queue_control *control)
{
	const unsigned long end = jiffies + msecs_to_jiffies(answer_timeout_ms);

	device.requests++;
	memcpy_toio(device.control + QUEUE_CONTROL + 8, &control->command, sizeof(*control) - 8);
	wmb(); /* The number comes last. */
	writeq(device.requests, device.control + QUEUE_CONTROL);
	while (readq(device.control + QUEUE_STATUS) != device.requests) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(50, 100);
	}
	if (readq(device.control + QUEUE_STATUS + offsetof(struct queue_status, result)))
		return -EINVAL;
	return 0;
}

static void unmap(struct oae_sched_queue *queue)
{
	if (queue->ring)
		iounmap(queue->ring);
	if (queue->slot)
		iounmap(queue->slot);
	if (queue->line)
		memunmap(queue->line);
	*queue = (struct oae_sched_queue){};
}

static void unmap_queues(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		unmap(&device.queues[cpu]);
}

/* Each page has one memory type. */
static int map_queues(void)
{
	const resource_size_t base = pci_resource_start(device.pci, OAE_QUEUE_MEMORY_BAR);
	const size_t bytes = device.elements * QUEUE_ELEMENT_BYTES;
	struct oae_sched_queue *queue;
	resource_size_t area;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		queue = &device.queues[cpu];
		area = base + queue_area(cpu, device.elements);
		queue->ring = write_combining ? ioremap_wc(area + QUEUE_RING, bytes) :
						ioremap(area + QUEUE_RING, bytes);
		if (write_through)
			queue->line = memremap(area + QUEUE_SLOT, PAGE_SIZE, MEMREMAP_WT);
		else
			queue->slot = ioremap(area + QUEUE_SLOT, PAGE_SIZE);
		if (!queue->ring || !(queue->line || queue->slot)) {
			unmap_queues();
			return -ENOMEM;
		}
	}
	return 0;
}

static int start_locked(const struct oae_sched_start *start)
{
	const struct queue_control control = {
		.command = QUEUE_START,
		.policy = start->policy,
		.cpus = start->cpus,
		.time_slice = start->time_slice,
		.host_cpus = nr_cpu_ids,
		.elements = ring_elements,
		.prestage = start->prestage,
		.cached = agent_cached,
		.time = ktime_get_mono_fast_ns(),
	};
	int ret;

	stop_queues();
	unmap_queues();
	if (!is_there())
		return -ENODEV;
	if (!is_power_of_2(ring_elements) || ring_elements < QUEUE_ELEMENTS_MIN ||
	    ring_elements > QUEUE_ELEMENTS_MAX)
		return -EINVAL;
	if (queue_area(nr_cpu_ids, ring_elements) >
	    pci_resource_len(device.pci, OAE_QUEUE_MEMORY_BAR))
		return -ENOSPC;
	ret = request(&control);
	if (ret)
		return ret;
	device.elements = ring_elements;
	device.prefetch = write_through && prefetch_decisions;
	ret = map_queues();
	if (!ret)
		WRITE_ONCE(device.cpus, start->cpus);
	return ret;
}

static int queue_start(const struct oae_sched_start *start)
{
	int ret;

	mutex_lock(&lock);
	ret = start_locked(start);
	mutex_unlock(&lock);
	return ret;
}

static int queue_finish_work(struct oae_sched_counts *counts)
{
	const struct queue_control control = { .command = QUEUE_FINISH };
	int ret = -ENODEV;

	mutex_lock(&lock);
	if (is_there())
		ret = request(&control);
	if (!ret)
		memcpy_fromio(counts->words, device.control + QUEUE_COUNTS, sizeof(counts->words));
	mutex_unlock(&lock);
	return ret;
}

static void queue_stop(void)
{
	const struct queue_control control = { .command = QUEUE_STOP };

	mutex_lock(&lock);
	stop_queues();
	if (is_there())
		request(&control);
	unmap_queues();
	mutex_unlock(&lock);
}

static struct oae_sched_transport oae_sched_queue = {
	.name = "queue",
	.owner = THIS_MODULE,
	.send = queue_send,
	.claim = queue_claim,
	.finish = queue_finish,
	.prefetch = queue_prefetch,
	.idle = queue_idle,
	.start = queue_start,
	.finish_work = queue_finish_work,
	.stop = queue_stop,
};

static int map_control(struct pci_dev *pci)
{
	device.control = devm_ioremap(&pci->dev, pci_resource_start(pci, OAE_QUEUE_MEMORY_BAR),
				      QUEUE_AREAS);
	return device.control ? 0 : -ENOMEM;
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
	return devm_request_irq(&pci->dev, irq, queue_called, IRQF_NO_THREAD | IRQF_NOBALANCING,
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

static int queue_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	int ret;

	if (device.pci)
		return dev_err_probe(&pci->dev, -EBUSY, "a host has one agent\n");
	ret = pcim_enable_device(pci) ?: map_control(pci) ?: request_vectors(pci);
	if (ret)
		return ret;
	pci_set_master(pci);
	pci_save_state(pci);
	device.requests = readq(device.control + QUEUE_STATUS);
	mutex_lock(&lock);
	device.pci = pci;
	mutex_unlock(&lock);
	return 0;
}

static void queue_remove(struct pci_dev *pci)
{
	mutex_lock(&lock);
	device.pci = NULL;
	stop_queues();
	mutex_unlock(&lock);
	pci_clear_master(pci);
}

/* The agent may live on, but does not know what it has missed. The watchdog starts it again. */
static void freeze(void)
{
	mutex_lock(&lock);
	device.frozen = true;
	stop_queues();
	mutex_unlock(&lock);
}

static void thaw(struct pci_dev *pci)
{
	mutex_lock(&lock);
	device.frozen = false;
	mutex_unlock(&lock);
	/* What the kernel saved can be restored only once. */
	pci_save_state(pci);
}

static void queue_reset_prepare(struct pci_dev *pci)
{
	freeze();
}

static void queue_reset_done(struct pci_dev *pci)
{
	thaw(pci);
}

static pci_ers_result_t queue_error_detected(struct pci_dev *pci, pci_channel_state_t channel)
{
	if (channel == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	freeze();
	return channel == pci_channel_io_frozen ? PCI_ERS_RESULT_NEED_RESET :
						  PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t queue_mmio_enabled(struct pci_dev *pci)
{
	return PCI_ERS_RESULT_RECOVERED;
}

static pci_ers_result_t queue_slot_reset(struct pci_dev *pci)
{
	pci_restore_state(pci);
	return PCI_ERS_RESULT_RECOVERED;
}

static void queue_error_resume(struct pci_dev *pci)
{
	thaw(pci);
}

static const struct pci_error_handlers queue_error_handlers = {
	.error_detected = queue_error_detected,
	.mmio_enabled = queue_mmio_enabled,
	.slot_reset = queue_slot_reset,
	.resume = queue_error_resume,
	.reset_prepare = queue_reset_prepare,
	.reset_done = queue_reset_done,
};

static const struct pci_device_id queue_ids[] = { { PCI_DEVICE(0xf0ae, 0x0ae3) }, {} };
MODULE_DEVICE_TABLE(pci, queue_ids);

static struct pci_driver queue_driver = {
	.name = "oae_sched_queue",
	.id_table = queue_ids,
	.probe = queue_probe,
	.remove = queue_remove,
	.err_handler = &queue_error_handlers,
};

static int __init queue_init(void)
{
	int ret;

	BUILD_BUG_ON(sizeof(struct queue_slot) != 64);
	BUILD_BUG_ON(sizeof(struct queue_outcome) > sizeof(struct ghost_message));
	ret = oae_sched_register(&oae_sched_queue);
	if (ret)
		return ret;
	ret = pci_register_driver(&queue_driver);
	if (ret)
		oae_sched_unregister(&oae_sched_queue);
	return ret;
}
module_init(queue_init);

static void __exit queue_exit(void)
{
	pci_unregister_driver(&queue_driver);
	oae_sched_unregister(&oae_sched_queue);
}
module_exit(queue_exit);

MODULE_DESCRIPTION("Queues to a scheduling agent in the memory of a device");
MODULE_LICENSE("GPL");
