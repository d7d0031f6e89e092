// SPDX-License-Identifier: GPL-2.0
/* What swaps and reads of the device take: Documentation/ABI/testing/debugfs-oae. */
#include "oae_debugfs.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "oae_clock.h"
#include "oae_port.h"

static struct dentry *oae_debugfs_root;

static int last_swap_show(struct seq_file *file, void *unused)
{
	struct oae_port *port = file->private;
	struct oae_durations times;

	mutex_lock(&port->lock);
	times = port->times;
	mutex_unlock(&port->lock);
	seq_printf(file, "store_ns %llu\nread_ns %llu\ncommit_ns %llu\n", times.store_ns,
		   times.read_ns, times.commit_ns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(last_swap);

/* Each read() measures one read of the port's status register. */
static ssize_t register_read_read(struct file *file, char __user *buffer, size_t size, loff_t *at)
{
	struct oae_port *port = file->private_data;
	u64 issued, answered, state;
	char text[24];
	int length;
	int ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	preempt_disable();
	issued = oae_clock();
	state = readq(port->exchange.page + OAE_PORT_STATUS);
	answered = oae_clock();
	preempt_enable();
	oae_leave(port->oae);
	if (state == ~0ULL)
		return -EIO;
	length = scnprintf(text, sizeof(text), "%llu\n", oae_clock_to_ns(answered - issued));
	if (size < length)
		return -EINVAL;
	return copy_to_user(buffer, text, length) ? -EFAULT : length;
}

static const struct file_operations register_read_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = register_read_read,
};

void oae_debugfs_add(struct oae_port *port)
{
	port->debugfs = debugfs_create_dir(dev_name(&port->dev), oae_debugfs_root);
	debugfs_create_file("last_swap", 0400, port->debugfs, port, &last_swap_fops);
	debugfs_create_file("register_read", 0400, port->debugfs, port, &register_read_fops);
}

void oae_debugfs_remove(struct oae_port *port)
{
	debugfs_remove(port->debugfs);
}

void oae_debugfs_init(void)
{
	oae_debugfs_root = debugfs_create_dir("oae", NULL);
}

void oae_debugfs_exit(void)
{
	debugfs_remove(oae_debugfs_root);
}
