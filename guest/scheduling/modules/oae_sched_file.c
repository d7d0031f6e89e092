// SPDX-License-Identifier: GPL-2.0
/* The character device of agents on this host, and of those who start agents elsewhere. */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/uaccess.h>

#include "oae_sched.h"

static atomic_t opened = ATOMIC_INIT(0);

static int sched_open(struct inode *inode, struct file *file)
{
	if (atomic_cmpxchg(&opened, 0, 1))
		return -EBUSY;
	oae_sched_memory_empty();
	return nonseekable_open(inode, file);
}

static int sched_release(struct inode *inode, struct file *file)
{
	oae_sched_stop();
	oae_sched_trace_free();
	atomic_set(&opened, 0);
	return 0;
}

static int sched_mmap(struct file *file, struct vm_area_struct *vma)
{
	return oae_sched_memory_map(vma);
}

static long sched_info(void __user *argument)
{
	struct oae_sched_info info = {};

	oae_sched_memory_info(&info);
	return copy_to_user(argument, &info, sizeof(info)) ? -EFAULT : 0;
}

static long sched_kick(const void __user *argument)
{
	struct oae_sched_kick kick;
	unsigned int cpu;

	if (copy_from_user(&kick, argument, sizeof(kick)))
		return -EFAULT;
	if (kick.preempt & ~kick.cpus || (nr_cpu_ids < 64 && kick.cpus >> nr_cpu_ids))
		return -EINVAL;
	for (; kick.cpus; kick.cpus &= kick.cpus - 1) {
		cpu = __ffs64(kick.cpus);
		oae_sched_kick(cpu, kick.preempt >> cpu & 1);
	}
	return 0;
}

static long sched_start(const void __user *argument)
{
	struct oae_sched_start start;

	if (copy_from_user(&start, argument, sizeof(start)))
		return -EFAULT;
	if (!start.cpus || (nr_cpu_ids < 64 && start.cpus >> nr_cpu_ids) || start.prestage > 100)
		return -EINVAL;
	return oae_sched_start(&start);
}

static long sched_finish(void __user *argument)
{
	struct oae_sched_counts counts = {};
	int ret;

	ret = oae_sched_finish_work(&counts);
	if (ret)
		return ret;
	return copy_to_user(argument, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static long sched_trace(const void __user *argument)
{
	u64 records;

	if (copy_from_user(&records, argument, sizeof(records)))
		return -EFAULT;
	return oae_sched_trace_start(records);
}

static long sched_traced(void __user *argument)
{
	struct oae_sched_traced traced;
	int ret;

	ret = oae_sched_trace_end(&traced);
	if (ret)
		return ret;
	return copy_to_user(argument, &traced, sizeof(traced)) ? -EFAULT : 0;
}

static ssize_t sched_read(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	return oae_sched_trace_read(buffer, count, position);
}

static long sched_ioctl(struct file *file, unsigned int request, unsigned long argument)
{
	switch (request) {
	case OAE_SCHED_IOC_INFO:
		return sched_info((void __user *)argument);
	case OAE_SCHED_IOC_KICK:
		return sched_kick((const void __user *)argument);
	case OAE_SCHED_IOC_START:
		return sched_start((const void __user *)argument);
	case OAE_SCHED_IOC_FINISH:
		return sched_finish((void __user *)argument);
	case OAE_SCHED_IOC_TRACE:
		return sched_trace((const void __user *)argument);
	case OAE_SCHED_IOC_TRACED:
		return sched_traced((void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations sched_operations = {
	.owner = THIS_MODULE,
	.open = sched_open,
	.release = sched_release,
	.read = sched_read,
	.mmap = sched_mmap,
	.unlocked_ioctl = sched_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice sched_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "oae_sched",
	.fops = &sched_operations,
	.mode = 0600,
};

int oae_sched_file_init(void)
{
	return misc_register(&sched_device);
}

void oae_sched_file_exit(void)
{
	misc_deregister(&sched_device);
}
