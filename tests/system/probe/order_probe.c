// SPDX-License-Identifier: GPL-2.0
/*
 * Each processor in turn interrupts all others, `count` times, and every handler reads the time
 * stamp counter. None may be lower than the sender's counter before it sent, nor higher than the
 * sender's after all have answered. Loading it prints what was found, and fails: nothing stays.
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <asm/tsc.h>

static unsigned int count = 100;
module_param(count, uint, 0);

static u64 taken[NR_CPUS];
static u64 sent;

static unsigned long interrupts, too_early, too_late;
static u64 longest;

static void take(void *unused)
{
	taken[smp_processor_id()] = rdtsc_ordered();
}

static long interrupt_all(void *unused)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int self, cpu;
		u64 answered;

		self = get_cpu();
		sent = rdtsc_ordered();
		smp_call_function(take, NULL, 1);
		answered = rdtsc_ordered();
		for_each_online_cpu(cpu) {
			if (cpu == self)
				continue;
			interrupts++;
			too_early += (s64)(taken[cpu] - sent) < 0;
			too_late += (s64)(answered - taken[cpu]) < 0;
			longest = max(longest, taken[cpu] - sent);
		}
		put_cpu();
	}
	return 0;
}

static int __init probe(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		work_on_cpu(cpu, interrupt_all, NULL);
	pr_info("order_probe: interrupts %lu\n", interrupts);
	pr_info("order_probe: too_early %lu\n", too_early);
	pr_info("order_probe: too_late %lu\n", too_late);
	pr_info("order_probe: longest %llu\n", longest);
	return -EAGAIN;
}

module_init(probe);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probe of the order of interrupts among processors");
