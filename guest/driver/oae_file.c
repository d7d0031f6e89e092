// SPDX-License-Identifier: GPL-2.0
/* The character device of a swap port, /dev/oae<N>p<PORT>: open, close, poll. */
#include "oae_file.h"

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>

#include "oae_debugfs.h"
#include "oae_fate.h"
#include "oae_map.h"
#include "oae_port.h"
#include "oae_request.h"
#include "oae_stats.h"

static dev_t oae_first_dev;

static int oae_port_open(struct inode *inode, struct file *file)
{
	struct oae_port *port = container_of(inode->i_cdev, struct oae_port, cdev);
	int ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	ret = oae_port_take(port, file->f_mapping);
	file->private_data = port;
	oae_leave(port->oae);
	return ret ?: nonseekable_open(inode, file);
}

static int oae_port_release(struct inode *inode, struct file *file)
{
	struct oae_port *port = file->private_data;

	/* A thaw comes before this or after it, but never in between. */
	oae_port_give_up(port, oae_enter_always(port->oae));
	oae_leave(port->oae);
	return 0;
}

static __poll_t oae_port_poll(struct file *file, poll_table *table)
{
	struct oae_port *port = file->private_data;
	const bool losses = oae_fate_is_told(port);
	const bool results = poll_requested_events(table) & EPOLLPRI;
	struct oae_fate_news news = { .unread = false };
	u64 state, armed = 0;
	__poll_t ready = 0;
	int ret;

	poll_wait(file, &port->wait, table);
	ret = oae_enter(port->oae);
	/* A reset is temporary, and its end wakes the processes that poll. */
	if (ret == -EIO)
		return 0;
	if (ret)
		return EPOLLERR | EPOLLHUP;
	state = oae_port_read(port, OAE_HOST_PORT_STATE);
	if (state == ~0ULL) {
		ready = EPOLLERR;
	} else {
		if (state & OAE_HOST_PORT_STATE_OFFERED_MASK)
			ready |= EPOLLIN | EPOLLRDNORM;
		else
			armed |= OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK;
		if (losses && (state & OAE_HOST_PORT_STATE_LOST_MASK ||
			       poll_requested_events(table) & (EPOLLPRI | EPOLLRDBAND)))
			news = oae_fate_news(port);
		if (news.unread)
			ready |= EPOLLRDBAND;
		/* Where the port is mapped, only its process knows which REMOTE was its last one. */
		if (results && (state & OAE_HOST_PORT_STATE_RESULT_MASK ||
				(news.remote && !READ_ONCE(port->stale))))
			ready |= EPOLLPRI;
		else if (results)
			armed |= OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK;
		if (armed)
			oae_port_arm(port, armed);
	}
	oae_leave(port->oae);
	return ready;
}

static const struct file_operations oae_port_operations = {
	.owner = THIS_MODULE,
	.open = oae_port_open,
	.release = oae_port_release,
	.unlocked_ioctl = oae_port_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.poll = oae_port_poll,
	.mmap = oae_port_mmap,
};

static struct class oae_class = {
	.name = "oae",
	.dev_groups = oae_port_groups,
};

struct oae_port *oae_file_find(unsigned int device, unsigned int port)
{
	struct device *dev;
	char name[32];

	snprintf(name, sizeof(name), "oae%up%u", device, port);
	dev = class_find_device_by_name(&oae_class, name);
	return dev ? container_of(dev, struct oae_port, dev) : NULL;
}

static void oae_port_unpublish(void *data)
{
	struct oae_port *port = data;

	oae_debugfs_remove(port);
	cdev_device_del(&port->cdev, &port->dev);
}

int oae_file_publish(struct oae_port *port)
{
	int ret;

	port->dev.class = &oae_class;
	port->dev.devt = oae_first_dev + port->oae->id * OAE_MAX_PORTS + port->index;
	cdev_init(&port->cdev, &oae_port_operations);
	port->cdev.owner = THIS_MODULE;
	ret = cdev_device_add(&port->cdev, &port->dev);
	if (ret)
		return ret;
	oae_debugfs_add(port);
	return devm_add_action_or_reset(port->dev.parent, oae_port_unpublish, port);
}

int oae_files_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&oae_first_dev, 0, OAE_MAX_DEVICES * OAE_MAX_PORTS, "oae");
	if (ret)
		return ret;
	ret = class_register(&oae_class);
	if (ret)
		unregister_chrdev_region(oae_first_dev, OAE_MAX_DEVICES * OAE_MAX_PORTS);
	else
		oae_debugfs_init();
	return ret;
}

void oae_files_exit(void)
{
	oae_debugfs_exit();
	class_unregister(&oae_class);
	unregister_chrdev_region(oae_first_dev, OAE_MAX_DEVICES * OAE_MAX_PORTS);
}
