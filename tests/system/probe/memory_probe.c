// SPDX-License-Identifier: GPL-2.0
/*
 * What a driver gets of write-combining and write-through mappings, by the kernel's own means.
 * Loading it probes BAR 2 of 01:00.0, which no driver may hold; results are kernel messages
 * "NAME VALUE", times in ns.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/prefetch.h>

#define PAGE_OF_PORT(n) ((n) * 4096)
/* Where a port's page has no register. */
#define NOTHING 0xe00

static u64 clock(void)
{
	return rdtsc_ordered();
}

static void report(const char *name, u64 value)
{
	pr_info("%s %llu\n", name, value);
}

/* Stores by the kernel's routine for drivers; in the trace, a read of BAR 0 ends each group. */
static void combine(resource_size_t base, void __iomem *mark)
{
	static u64 data[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	void __iomem *wc = ioremap_wc(base + PAGE_OF_PORT(7), 4096);
	unsigned long flags;

	if (!wc)
		return;
	local_irq_save(flags);
	readl(mark);
	__iowrite64_copy(wc + NOTHING, data, 8);
	readl(mark);
	__iowrite64_copy(wc + NOTHING, data, 16);
	readl(mark);
	__iowrite64_copy(wc + NOTHING, data, 3);
	wmb();
	__iowrite64_copy(wc + NOTHING + 24, data, 5);
	readl(mark);
	__iowrite64_copy(wc + NOTHING + 32, data, 8);
	readl(mark);
	local_irq_restore(flags);
	iounmap(wc);
}

static noinline u64 time_of_read(void __iomem *address)
{
	u64 start = clock();

	readq(address);
	return clock() - start;
}

static void cache(resource_size_t base)
{
	static const unsigned int delays[] = { 0, 100, 300, 500, 700, 900, 2000 };
	void __iomem *io = ioremap(base + PAGE_OF_PORT(6), 4096);
	u64 uncached;

	if (!io)
		return;
	uncached = readq(io);
	time_of_read(io);
	report("uncached", time_of_read(io));
	iounmap(io);

	io = ioremap_wt(base + PAGE_OF_PORT(6), 4096);
	if (!io)
		return;
	time_of_read(io + 0x800);
	report("first", time_of_read(io));
	report("again", time_of_read(io));
	report("same", readq(io) == uncached);
	clflush((void __force *)io);
	report("flushed", time_of_read(io));
	for (unsigned int i = 0; i < ARRAY_SIZE(delays); i++) {
		u64 start, waited, read;

		clflush((void __force *)io);
		mb();
		start = clock();
		prefetch((void __force *)io);
		while (clock() - start < delays[i])
			;
		waited = clock() - start;
		read = time_of_read(io);
		report("waited", waited);
		report("read", read);
	}
	iounmap(io);
}

static int __init probe(void)
{
	struct pci_dev *device = pci_get_domain_bus_and_slot(0, 1, PCI_DEVFN(0, 0));
	void __iomem *mark;
	int error = -ENODEV;

	if (!device)
		return error;
	error = pci_enable_device(device);
	if (!error) {
		mark = pci_iomap(device, 0, 0);
		if (mark) {
			resource_size_t base = pci_resource_start(device, 2);

			combine(base, mark);
			cache(base);
			iounmap(mark);
		}
		pci_disable_device(device);
	}
	pci_dev_put(device);
	return error;
}

static void __exit leave(void)
{
}

module_init(probe);
module_exit(leave);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Probe of memory types for device memory");
