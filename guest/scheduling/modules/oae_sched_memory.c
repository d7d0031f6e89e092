// SPDX-License-Identifier: GPL-2.0
/* The transport to an agent on this host: memory that both share. */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prefetch.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "oae_sched.h"

static unsigned int ring_elements = 1024;
module_param(ring_elements, uint, 0444);
MODULE_PARM_DESC(ring_elements, "length of a CPU's message ring: a power of two, 64 to 65536");

/* Of a CPU. The agent can change all of the memory, so what the kernel relies on is kept here. */
struct oae_sched_area {
	struct oae_sched_slot *slot;
	struct oae_sched_indices *indices;
	struct oae_sched_element *ring;
	u64 head;
	u64 lost;
};

static struct oae_sched_area oae_sched_areas[OAE_SCHED_CPUS];
static size_t oae_sched_area_bytes;
static void *oae_sched_shared;

static bool memory_send(unsigned int cpu, const struct ghost_message *message, u64 time)
{
	struct oae_sched_area *area = &oae_sched_areas[cpu];
	struct oae_sched_element *element;

	/* The element may be written again only after the agent has read it. */
	if (area->head - smp_load_acquire(&area->indices->tail) >= ring_elements) {
		WRITE_ONCE(area->indices->lost, ++area->lost);
		return false;
	}
	element = &area->ring[area->head & (ring_elements - 1)];
	memcpy(element->message, message, sizeof(element->message));
	element->time = time;
	/* The element precedes the index that shows it. */
	smp_store_release(&area->indices->head, ++area->head);
	return true;
}

static bool memory_claim(unsigned int cpu, struct oae_sched_slot *decision)
{
	struct oae_sched_slot *slot = oae_sched_areas[cpu].slot;

	if (READ_ONCE(slot->state) != GHOST_READY ||
	    cmpxchg(&slot->state, GHOST_READY, (s32)cpu) != GHOST_READY)
		return false;
	memcpy(decision, slot, sizeof(*decision));
	return true;
}

static void memory_finish(unsigned int cpu, enum ghost_state state, u64 time, u64 cpu_sequence)
{
	struct oae_sched_slot *slot = oae_sched_areas[cpu].slot;

	WRITE_ONCE(slot->commit_time, time);
	WRITE_ONCE(slot->cpu_sequence, cpu_sequence);
	/* The agent may write the slot as soon as it sees the state. */
	smp_store_release(&slot->state, state);
}

static void memory_prefetch(unsigned int cpu)
{
	prefetch(oae_sched_areas[cpu].slot);
}

/* An agent that polls memory learns this from messages soon enough. */
static void memory_idle(unsigned int cpu, bool idle)
{
}

static u64 memory_liveness(void)
{
	return READ_ONCE(*(u64 *)(oae_sched_shared + OAE_SCHED_LIVENESS));
}

const struct oae_sched_transport oae_sched_memory = {
	.name = "memory",
	.owner = THIS_MODULE,
	.send = memory_send,
	.claim = memory_claim,
	.finish = memory_finish,
	.prefetch = memory_prefetch,
	.idle = memory_idle,
	.liveness = memory_liveness,
};

static void memory_reset(unsigned int cpu)
{
	struct oae_sched_area *area = &oae_sched_areas[cpu];
	void *base = oae_sched_shared + cpu * oae_sched_area_bytes;

	memset(base, 0, oae_sched_area_bytes);
	area->slot = base + OAE_SCHED_SLOT;
	area->indices = base + OAE_SCHED_INDICES;
	area->ring = base + OAE_SCHED_RING;
	area->head = 0;
	area->lost = 0;
	area->slot->state = GHOST_NO_AGENT;
}

void oae_sched_memory_empty(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		memory_reset(cpu);
}

void oae_sched_memory_info(struct oae_sched_info *info)
{
	info->cpus = nr_cpu_ids;
	info->elements = ring_elements;
	info->area_bytes = oae_sched_area_bytes;
}

int oae_sched_memory_map(struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, oae_sched_shared, vma->vm_pgoff);
}

int oae_sched_memory_init(void)
{
	if (!is_power_of_2(ring_elements) || ring_elements < 64 || ring_elements > 65536)
		return -EINVAL;
	oae_sched_area_bytes = OAE_SCHED_RING +
			       PAGE_ALIGN(ring_elements * sizeof(struct oae_sched_element));
	oae_sched_shared = vmalloc_user(nr_cpu_ids * oae_sched_area_bytes);
	if (!oae_sched_shared)
		return -ENOMEM;
	oae_sched_memory_empty();
	return 0;
}

void oae_sched_memory_exit(void)
{
	vfree(oae_sched_shared);
}
