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
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/prefetch.h>
#include <linux/timekeeping.h>
#include <asm/special_insns.h>

#include "oae_sched.h"
#include "oae_sched_calls.h"

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

static bool decisions_pushed;
module_param(decisions_pushed, bool, 0644);
MODULE_PARM_DESC(decisions_pushed, "let the agent push decisions into this host's memory");

static unsigned int ring_elements = 256;
module_param(ring_elements, uint, 0644);
MODULE_PARM_DESC(ring_elements, "length of a CPU's ring of messages: a power of two from 64");

/* Of a CPU, which alone uses it, with interrupts off. */
struct oae_sched_queue {
	void __iomem *ring;
	void __iomem *slot; /* uncached, or */
	struct queue_slot *line; /* write-through */
	const struct queue_slot *pushed; /* in this host's memory, instead of both; or NULL */
	u64 head;	/* messages written */
	u64 tail;	/* of these, that the agent had read when the ring last seemed full */
	u64 taken;	/* number of the last decision that was taken */
	bool prefetched;
	bool lost;
};

/* The only device, since a host has one agent. */
static struct {
	struct range memory;
	u64 cpus; /* that run tasks of the agent; 0: nobody touches the queues */
	unsigned int elements;
	bool prefetch;
	struct oae_sched_queue queues[OAE_SCHED_CPUS];
} device;

static void write_line(struct oae_sched_queue *queue, const u64 *words)
{
	void __iomem *element = queue->ring +
				(queue->head & (device.elements - 1)) * QUEUE_ELEMENT_BYTES;

	__iowrite64_copy(element, words, QUEUE_ELEMENT_WORDS);
	wmb(); /* Nothing of the line stays in a buffer of this CPU. */
	queue->head++;
}

/* Returns how many messages the agent has read, or QUEUE_NO_ANSWER. */
static u64 read_tail(const struct oae_sched_queue *queue)
{
	if (!queue->line)
		return readq(queue->slot + QUEUE_TAIL);
	clflush((void *)queue->line + QUEUE_TAIL);
	mb(); /* The load follows the flush. */
	return READ_ONCE(*(u64 *)((void *)queue->line + QUEUE_TAIL));
}

static bool has_room(struct oae_sched_queue *queue, unsigned int elements)
{
	u64 tail;

	if (queue->head + elements - queue->tail <= device.elements)
		return true;
	tail = read_tail(queue);
	if (tail == QUEUE_NO_ANSWER)
		return false;
	queue->tail = tail;
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

/* Whether this is the number of the CPU's next decision. */
static bool is_next(const struct oae_sched_queue *queue, u64 number)
{
	if (likely(number == queue->taken + 1))
		return true;
	if (number == QUEUE_NO_ANSWER)
		oae_sched_notice(OAE_SCHED_ALL_ONES);
	return false;
}

static void start_read(struct oae_sched_queue *queue)
{
	clflush(queue->line);
	mb(); /* The prefetch follows the flush. */
	prefetch(queue->line);
	queue->prefetched = true;
}

/*
 * The number comes first: the words that are read after it are then those of its decision. Each
 * word takes a round trip, and memcpy_fromio() would read each half of it.
 */
static void read_uncached(struct oae_sched_queue *queue, struct queue_slot *slot)
{
	u64 *words = (u64 *)slot;
	unsigned int i;

	slot->number = readq(queue->slot + offsetof(struct queue_slot, number));
	if (slot->number != queue->taken + 1)
		return;
	for (i = 0; i < offsetof(struct queue_slot, reserved) / sizeof(u64); i++)
		words[i] = readq(queue->slot + i * sizeof(u64));
}

static void read_pushed(const struct queue_slot *pushed, struct queue_slot *slot)
{
	/* The agent writes all of a slot at once, so the words after the number are as new. */
	const u64 number = smp_load_acquire(&pushed->number);

	memcpy(slot, pushed, sizeof(*slot));
	slot->number = number;
}

static void read_slot(struct oae_sched_queue *queue, struct queue_slot *slot)
{
	if (queue->pushed) {
		read_pushed(queue->pushed, slot);
		return;
	}
	if (!queue->line) {
		read_uncached(queue, slot);
		return;
	}
	if (!queue->prefetched) {
		clflush(queue->line);
		mb(); /* The load follows the flush. */
	}
	queue->prefetched = false;
	memcpy(slot, queue->line, sizeof(*slot));
}

static struct oae_sched_slot decision_of(const struct queue_slot *slot)
{
	return (struct oae_sched_slot){ .version = slot->version,
					.cpu = slot->cpu,
					.state = slot->state,
					.agent_barrier = slot->agent_barrier,
					.task_barrier = slot->task_barrier,
					.run_flags = slot->flags,
					.commit_flags = slot->flags >> 16,
					.gtid = slot->gtid,
					.newest = slot->newest,
					.number = slot->number };
}

static bool queue_claim(unsigned int cpu, struct oae_sched_slot *decision)
{
	struct oae_sched_queue *queue = &device.queues[cpu];
	struct queue_slot slot;

	if (!(READ_ONCE(device.cpus) >> cpu & 1))
		return false;
	read_slot(queue, &slot);
	if (!is_next(queue, slot.number))
		return false;
	queue->taken++;
	if (slot.state != GHOST_READY) {
		queue_finish(cpu, GHOST_ABORTED, ktime_get_mono_fast_ns(), 0);
		return false;
	}
	*decision = decision_of(&slot);
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

static void queue_called(unsigned int cpu, enum queue_call call)
{
	if (!READ_ONCE(device.cpus))
		return;
	if (call == QUEUE_CALL_WITHDRAW) {
		give_back(cpu);
	} else {
		queue_prefetch(cpu);
		oae_sched_kick(cpu, call == QUEUE_CALL_PREEMPT);
	}
}

/* The agent says what it has read once for each quarter of a ring, so this is an upper bound. */
static u64 count_undelivered(const struct oae_sched_queue *queue)
{
	const u64 tail = read_tail(queue);

	if (tail == QUEUE_NO_ANSWER || queue->head - tail > device.elements)
		return U64_MAX;
	return queue->head - tail;
}

static void queue_take_stock(struct oae_sched_left *left)
{
	struct oae_sched_queue *queue;
	struct queue_slot slot;
	unsigned int cpu;
	bool known;

	oae_sched_calls_close(); /* The agent may still call CPUs. */
	known = oae_sched_calls_known();
	for (cpu = 0; cpu < nr_cpu_ids; cpu++, left++) {
		queue = &device.queues[cpu];
		left->decision.number = queue->taken;
		if (!known || !queue->ring) {
			left->undelivered = U64_MAX;
			left->standing = OAE_SCHED_UNKNOWN;
			continue;
		}
		left->undelivered = count_undelivered(queue);
		queue->prefetched = false;
		read_slot(queue, &slot);
		if (slot.number == queue->taken + 1) {
			left->standing = OAE_SCHED_ONE_STOOD;
			left->decision = decision_of(&slot);
		} else if (slot.number == QUEUE_NO_ANSWER) {
			left->standing = OAE_SCHED_UNKNOWN;
		}
	}
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
	const size_t bytes = device.elements * QUEUE_ELEMENT_BYTES;
	struct oae_sched_queue *queue;
	resource_size_t area;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		queue = &device.queues[cpu];
		area = device.memory.start + queue_area(cpu, device.elements);
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

static void use_page(struct queue_slot *page)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		device.queues[cpu].pushed = page ? &page[cpu] : NULL;
}

static int start_agent(const struct oae_sched_start *start)
{
	struct queue_slot *page = NULL;
	dma_addr_t address;
	struct queue_control control = {
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

	oae_sched_calls_close();
	ret = oae_sched_calls_begin(queue_called, &device.memory);
	if (ret)
		return ret;
	unmap_queues();
	if (!is_power_of_2(ring_elements) || ring_elements < QUEUE_ELEMENTS_MIN ||
	    ring_elements > QUEUE_ELEMENTS_MAX)
		return -EINVAL;
	if (queue_area(nr_cpu_ids, ring_elements) > range_len(&device.memory))
		return -ENOSPC;
	if (decisions_pushed) {
		page = oae_sched_calls_page(&address);
		if (!page)
			return -ENODEV;
		control.slots = address;
	}
	ret = oae_sched_calls_request(&control);
	if (ret)
		return ret;
	device.elements = ring_elements;
	device.prefetch = write_through && prefetch_decisions && !page;
	/* The agent has pushed nothing yet, and the one before it no longer does. */
	ret = map_queues() ?: (page ? oae_sched_calls_clear_page() : 0);
	if (ret)
		return ret;
	use_page(page);
	return oae_sched_calls_open(&device.cpus, start->cpus);
}

static int queue_start(const struct oae_sched_start *start)
{
	int ret = start_agent(start);

	if (ret)
		oae_sched_calls_end();
	return ret;
}

static void queue_stop(void)
{
	struct queue_control control = { .command = QUEUE_STOP };

	oae_sched_calls_close();
	oae_sched_calls_request(&control);
	oae_sched_calls_end();
	unmap_queues();
}

static struct oae_sched_transport oae_sched_queue = {
	.name = "queue",
	.owner = THIS_MODULE,
	.send = queue_send,
	.claim = queue_claim,
	.finish = queue_finish,
	.prefetch = queue_prefetch,
	.idle = queue_idle,
	.liveness = oae_sched_calls_liveness,
	.start = queue_start,
	.finish_work = oae_sched_calls_finish,
	.stop = queue_stop,
	.take_stock = queue_take_stock,
};

static int __init queue_init(void)
{
	BUILD_BUG_ON(sizeof(struct queue_slot) != 64);
	BUILD_BUG_ON(OAE_SCHED_CPUS * sizeof(struct queue_slot) > QUEUE_PAGE_BYTES);
	BUILD_BUG_ON(QUEUE_CONTROL + sizeof(struct queue_control) > QUEUE_STATUS);
	BUILD_BUG_ON(sizeof(struct queue_outcome) > sizeof(struct ghost_message));
	return oae_sched_register(&oae_sched_queue);
}
module_init(queue_init);

static void __exit queue_exit(void)
{
	oae_sched_unregister(&oae_sched_queue);
}
module_exit(queue_exit);

MODULE_DESCRIPTION("Queues to a scheduling agent in the memory of a device");
MODULE_LICENSE("GPL");
