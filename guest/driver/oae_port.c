// SPDX-License-Identifier: GPL-2.0
/* A swap port and its character device, /dev/oae<N>p<PORT>. */
#include "oae.h"

#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "oae_clock.h"
#include "oae_swap.h"

#define OAE_OPENED 0

static unsigned int settle_reads = 3;
module_param(settle_reads, uint, 0644);
MODULE_PARM_DESC(settle_reads, "How often an answer in doubt is asked for again (3)");

static unsigned int confirm_limit_us = 1000;
module_param(confirm_limit_us, uint, 0644);
MODULE_PARM_DESC(confirm_limit_us,
		 "How long a slot may wait for its confirmation by the next swap, in us (1000)");

static_assert(sizeof(struct oae_info) == 64);
static_assert(sizeof(struct oae_swap) == 152);
static_assert(sizeof(struct oae_stats) == 64);
static_assert(sizeof(struct oae_firmware_stats) == 48);
static_assert(sizeof(struct oae_read_bench) == 16);
static_assert(sizeof(struct oae_cell) == 80);
static_assert(sizeof(struct oae_epoch) == 16);
static_assert(OAE_PAYLOAD_WORDS == OAE_SLOT_PAYLOAD_COUNT);
static_assert(OAE_SWAP_VERB_SWAP == OAE_VERB_SWAP);
static_assert(OAE_SWAP_VERB_CAS == OAE_VERB_CAS);
static_assert(OAE_SWAP_VERB_FETCH_ADD == OAE_VERB_FETCH_ADD);
static_assert(OAE_SWAP_VERB_MULTI == OAE_VERB_MULTI);
static_assert(OAE_SWAP_VERB_SEND == OAE_VERB_SEND);
static_assert(OAE_STEP_READ == OAE_WORD_OPERATION_READ);
static_assert(OAE_STEP_WRITE == OAE_WORD_OPERATION_WRITE);
static_assert(OAE_STEP_ADD == OAE_WORD_OPERATION_ADD);
static_assert(OAE_STEP_COMPARE == OAE_WORD_OPERATION_COMPARE);
static_assert(OAE_SWAP_FLAG_MORE == OAE_FLAG_MORE);
static_assert(OAE_SWAP_FORM_PUSHED == OAE_PUSHED);
static_assert(OAE_SWAP_FORM_STREAMED == OAE_STREAMED);
static_assert(OAE_SWAP_STATUS_OK == OAE_STATUS_OK);
static_assert(OAE_SWAP_STATUS_NOT_READY == OAE_STATUS_NOT_READY);
static_assert(OAE_SWAP_STATUS_BUSY == OAE_STATUS_BUSY);
static_assert(OAE_SWAP_STATUS_HISTORY_LOST == OAE_STATUS_HISTORY_LOST);
static_assert(OAE_SWAP_STATUS_REVERSED == OAE_STATUS_REVERSED);
static_assert(OAE_SWAP_STATUS_BAD_VERB == OAE_STATUS_BAD_VERB);

static dev_t oae_first_dev;

static u64 oae_port_read(struct oae_port *port, unsigned int reg)
{
	return readq(port->oae->host + reg + port->index * OAE_HOST_PORT_CONTROL_STRIDE);
}

static void oae_port_write(struct oae_port *port, unsigned int reg, u64 value)
{
	writeq(value, port->oae->host + reg + port->index * OAE_HOST_PORT_CONTROL_STRIDE);
}

/* Asks for one signal when an offer of the firmware stands, at once if one does. */
static void oae_port_arm(struct oae_port *port, u64 armed)
{
	oae_port_write(port, OAE_HOST_PORT_EVENT,
		       OAE_PUT(OAE_HOST_PORT_EVENT_VECTOR, port->vector) |
			       OAE_HOST_PORT_EVENT_CONFIRM_ENABLE_MASK | armed);
}

static u64 oae_port_confirm_limit(struct oae_port *port)
{
	u64 clocks = (u64)READ_ONCE(confirm_limit_us) * port->oae->clock_khz / USEC_PER_MSEC;

	return min_t(u64, clocks, OAE_HOST_PORT_TENTATIVE_LIMIT_CLOCKS_MASK);
}

int oae_port_begin(struct oae_port *port)
{
	u64 before, state;

	before = oae_port_read(port, OAE_HOST_PORT_STATE);
	/* A driver that crashed may have left it open. */
	oae_port_write(port, OAE_HOST_PORT_CONTROL, 0);
	oae_port_write(port, OAE_HOST_PORT_CONTROL, OAE_HOST_PORT_CONTROL_OPEN_MASK);
	state = oae_port_read(port, OAE_HOST_PORT_STATE);
	/* In an epoch that is not new, the swaps of the one who had it before would be taken for ours. */
	if (before == ~0ULL || state == ~0ULL ||
	    OAE_GET(state, OAE_HOST_PORT_STATE_STATE) == OAE_PORT_STATE_CLOSED ||
	    OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH) ==
		    OAE_GET(before, OAE_HOST_PORT_STATE_EPOCH)) {
		dev_err(&port->dev, "port does not open, state %#llx\n", state);
		return -EIO;
	}
	oae_exchange_begin(&port->exchange, OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH),
			   OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE));
	port->stale = port->maps;
	return 0;
}

int oae_port_start(struct oae_port *port)
{
	int ret = 0;

	mutex_lock(&port->lock);
	oae_port_write(port, OAE_HOST_PORT_CELL, port->cell);
	oae_port_write(port, OAE_HOST_PORT_TENTATIVE_LIMIT, oae_port_confirm_limit(port));
	oae_port_arm(port, 0);
	/*
	 * The journal has survived what brought this about. A new epoch rolls it forward and forgets
	 * its last answer, so that nobody would ever know.
	 */
	if (port->exchange.doubt) {
		if (oae_exchange_settle(&port->exchange, max(READ_ONCE(settle_reads), 1U),
					&port->settlement) == OAE_IN_DOUBT) {
			dev_err(&port->dev, "a swap stays in doubt, the port does not open\n");
			ret = -EIO;
			goto unlock;
		}
		port->has_settlement = true;
	}
	/* What is in doubt where it is mapped, its process alone knows: it settles that, and begins. */
	if (!port->maps)
		ret = oae_port_begin(port);
	if (!ret)
		oae_map_show(port);
unlock:
	mutex_unlock(&port->lock);
	return ret;
}

/* Of a swap in a mapping, the process leaves word. */
static void oae_port_confirm(struct oae_port *port)
{
	u64 confirmation = READ_ONCE(port->page->confirmation);

	if (!READ_ONCE(port->stale))
		oae_exchange_confirm(&port->exchange);
	else if (confirmation)
		writeq(confirmation, port->exchange.page + OAE_PORT_CONFIRM);
}

void oae_port_stop(struct oae_port *port)
{
	oae_port_confirm(port);
	oae_port_write(port, OAE_HOST_PORT_CONTROL, 0);
	oae_port_write(port, OAE_HOST_PORT_EVENT, 0);
	oae_port_write(port, OAE_HOST_PORT_CELL, 0);
	/* No answer is on its way to the cell any more once this has returned. */
	oae_port_read(port, OAE_HOST_PORT_STATE);
}

void oae_port_signal(struct oae_port *port)
{
	atomic64_inc(&port->signals);
	wake_up_interruptible(&port->wait);
	oae_port_confirm(port);
}

static void oae_port_give_up(struct oae_port *port)
{
	mutex_lock(&port->lock);
	oae_map_hide(port);
	port->mapping = NULL;
	mutex_unlock(&port->lock);
	clear_bit(OAE_OPENED, &port->opened);
}

static int oae_port_open(struct inode *inode, struct file *file)
{
	struct oae_port *port = container_of(inode->i_cdev, struct oae_port, cdev);
	int ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	if (test_and_set_bit(OAE_OPENED, &port->opened)) {
		ret = -EBUSY;
		goto leave;
	}
	/* What the last owner was left in doubt of is settled by the new epoch, and not shown to this one. */
	port->exchange.doubt = false;
	port->has_settlement = false;
	memset(port->page, 0, OAE_MAP_SIZE);
	port->mapping = file->f_mapping;
	ret = oae_port_start(port);
	if (ret)
		oae_port_give_up(port);
	file->private_data = port;
leave:
	oae_leave(port->oae);
	return ret ?: nonseekable_open(inode, file);
}

static int oae_port_release(struct inode *inode, struct file *file)
{
	struct oae_port *port = file->private_data;
	bool live = !oae_enter(port->oae);

	if (live)
		oae_port_stop(port);
	oae_port_give_up(port);
	if (live)
		oae_leave(port->oae);
	return 0;
}

static long oae_ioctl_info(struct oae_port *port, struct oae_info __user *arg)
{
	struct oae_device *oae = port->oae;
	struct oae_info info = {
		.abi = OAE_ABI_VERSION,
		.port = port->index,
		.ports = oae->num_ports,
		.block_version = OAE_GET(oae->identity, OAE_HOST_ID_VERSION),
		.clock_khz = oae->clock_khz,
		.vectors = oae->num_vectors,
		.features = oae->features,
	};

	strscpy(info.pci_address, pci_name(oae->pdev), sizeof(info.pci_address));
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static void oae_port_count(struct oae_port *port, bool was, const struct oae_answer *answer)
{
	bool is = port->exchange.doubt;

	if (!was && (is || answer->reads))
		port->doubts++;
	if (!is && (was || answer->reads))
		port->settled++;
}

/* Whether the next swap is the kernel's to make; the port is locked. */
static int oae_port_prepare(struct oae_port *port)
{
	if (port->maps)
		return -EBUSY;
	if (port->exchange.doubt || port->has_settlement)
		return -EIO;
	return port->stale ? oae_port_begin(port) : 0;
}

/* One try. 1: nothing was exchanged and the caller may wait for an offer of the firmware. */
static int oae_port_try(struct oae_port *port, struct oae_swap *swap)
{
	struct oae_answer answer;
	enum oae_outcome outcome;
	int ret;

	if (mutex_lock_interruptible(&port->lock))
		return -EINTR;
	ret = oae_port_prepare(port);
	if (ret) {
		mutex_unlock(&port->lock);
		return ret;
	}
	outcome = oae_exchange_swap(&port->exchange, swap->form, swap->verb, swap->flags,
				    swap->offer, READ_ONCE(settle_reads), &answer);
	oae_port_count(port, false, &answer);
	mutex_unlock(&port->lock);

	if (outcome == OAE_IN_DOUBT)
		return -EIO;
	swap->tries++;
	oae_swap_fill(swap, &answer);
	return outcome == OAE_NOT_TAKEN && swap->status == OAE_SWAP_STATUS_NOT_READY;
}

/* Until an offer of the firmware stands or the deadline (ktime, ns): 0, -ETIME, -EINTR, -EIO. */
static int oae_port_wait(struct oae_port *port, u64 deadline)
{
	u64 seen = atomic64_read(&port->signals), now = ktime_get_ns();
	int ret;

	if (now >= deadline)
		return -ETIME;
	oae_port_arm(port, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK);
	ret = wait_event_interruptible_hrtimeout(port->wait,
						 atomic64_read(&port->signals) != seen ||
							 !oae_is_live(port->oae),
						 ns_to_ktime(deadline - now));
	if (ret == -ERESTARTSYS)
		return -EINTR;
	return oae_is_live(port->oae) ? ret : -EIO;
}

static long oae_ioctl_swap(struct oae_port *port, struct file *file, struct oae_swap __user *arg)
{
	struct oae_swap swap;
	u64 deadline = 0;
	int ret;

	if (copy_from_user(&swap, arg, sizeof(swap)))
		return -EFAULT;
	ret = oae_swap_check(&swap, &port->exchange, port->oae->features);
	if (ret)
		return ret;
	swap.tries = 0;
	swap.reads = 0;
	if (swap.timeout_ns && !(file->f_flags & O_NONBLOCK))
		deadline = ktime_get_ns() + min_t(u64, swap.timeout_ns, KTIME_MAX / 2);

	do {
		ret = oae_port_try(port, &swap);
		if (ret == 1)
			ret = oae_port_wait(port, deadline) ?: 1;
	} while (ret == 1);
	if (ret && ret != -ETIME)
		return ret;
	return copy_to_user(arg, &swap, sizeof(swap)) ? -EFAULT : 0;
}

/* The outcome of the swap in doubt: 0, -ENODATA, -EIO, -EBUSY. The port is locked. */
static int oae_port_settle(struct oae_port *port, bool reverse, struct oae_answer *answer)
{
	enum oae_outcome outcome;

	if (port->maps)
		return -EBUSY;
	if (port->has_settlement) {
		*answer = port->settlement;
		port->has_settlement = false;
		return 0;
	}
	if (!port->exchange.doubt)
		return -ENODATA;
	if (reverse)
		oae_exchange_reverse(&port->exchange);
	outcome = oae_exchange_settle(&port->exchange, max(READ_ONCE(settle_reads), 1U), answer);
	oae_port_count(port, true, answer);
	return outcome == OAE_IN_DOUBT ? -EIO : 0;
}

static long oae_ioctl_settle(struct oae_port *port, bool reverse, struct oae_swap __user *arg)
{
	struct oae_answer answer;
	struct oae_swap swap;
	int ret;

	if (mutex_lock_interruptible(&port->lock))
		return -EINTR;
	oae_swap_recall(&swap, &port->exchange);
	ret = oae_port_settle(port, reverse, &answer);
	mutex_unlock(&port->lock);
	if (ret)
		return ret;
	oae_swap_fill(&swap, &answer);
	return copy_to_user(arg, &swap, sizeof(swap)) ? -EFAULT : 0;
}

static long oae_ioctl_stats(struct oae_port *port, struct oae_stats __user *arg)
{
	u64 state = oae_port_read(port, OAE_HOST_PORT_STATE);
	u64 liveness = readq(port->oae->host + OAE_HOST_LIVENESS);
	struct oae_stats stats = {
		.state = OAE_GET(state, OAE_HOST_PORT_STATE_STATE),
		.epoch = OAE_GET(state, OAE_HOST_PORT_STATE_EPOCH),
		.offered = OAE_GET(state, OAE_HOST_PORT_STATE_OFFERED),
		.sequence = OAE_GET(state, OAE_HOST_PORT_STATE_SEQUENCE),
		.committed = oae_port_read(port, OAE_HOST_PORT_COMMITTED),
		.not_ready = oae_port_read(port, OAE_HOST_PORT_NOT_READY),
		.rejected = oae_port_read(port, OAE_HOST_PORT_REJECTED),
		.liveness = OAE_GET(liveness, OAE_HOST_LIVENESS_COUNT),
		.liveness_age = OAE_GET(liveness, OAE_HOST_LIVENESS_AGE),
		.signals = atomic64_read(&port->signals),
	};

	/* A state of all ones is none: the device does not answer. */
	if (state == ~0ULL)
		return -EIO;
	if (mutex_lock_interruptible(&port->lock))
		return -EINTR;
	stats.doubts = port->doubts;
	stats.settled = port->settled;
	mutex_unlock(&port->lock);
	return copy_to_user(arg, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long oae_ioctl_firmware_stats(struct oae_port *port, struct oae_firmware_stats __user *arg)
{
	u64 words[OAE_MAILBOX_REQUEST_COUNT] = {
		OAE_MAILBOX_COMMAND_PORT_STATISTICS,
		port->index,
	};
	struct oae_firmware_stats stats;
	int ret;

	ret = oae_mailbox_call(port->oae, words);
	if (ret)
		return ret;
	stats = (struct oae_firmware_stats){
		.exchanged = words[1],
		.committed = words[2],
		.reversed = words[3],
		.bad_offers = words[4],
		.liveness = words[5],
		.mode = words[6],
	};
	return copy_to_user(arg, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long oae_ioctl_read_bench(struct oae_port *port, struct oae_read_bench __user *arg)
{
	void __iomem *status = port->exchange.page + OAE_PORT_STATUS;
	struct oae_read_bench bench;
	long ret = 0;
	u64 *samples;
	u32 i;

	if (copy_from_user(&bench, arg, sizeof(bench)))
		return -EFAULT;
	if (!bench.count || bench.count > OAE_READ_BENCH_MAX || bench.reserved)
		return -EINVAL;
	samples = kvmalloc_array(bench.count, sizeof(*samples), GFP_KERNEL);
	if (!samples)
		return -ENOMEM;
	for (i = 0; i < bench.count && !ret; i++) {
		u64 issued, state;

		preempt_disable();
		issued = oae_clock();
		state = readq(status);
		samples[i] = oae_clock() - issued;
		preempt_enable();

		samples[i] = oae_clock_to_ns(samples[i]);
		if (state == ~0ULL || !oae_is_live(port->oae))
			ret = -EIO;
		else if (signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	if (!ret && copy_to_user(u64_to_user_ptr(bench.samples), samples,
				 array_size(bench.count, sizeof(*samples))))
		ret = -EFAULT;
	kvfree(samples);
	return ret;
}

static long oae_ioctl_begin(struct oae_port *port, struct oae_epoch __user *arg)
{
	struct oae_epoch epoch;
	int ret;

	if (mutex_lock_interruptible(&port->lock))
		return -EINTR;
	ret = port->exchange.doubt || port->has_settlement ? -EIO : oae_port_begin(port);
	epoch = (struct oae_epoch){
		.generation = port->generation,
		.sequence = port->exchange.sequence,
		.epoch = port->exchange.epoch,
	};
	mutex_unlock(&port->lock);
	if (ret)
		return ret;
	return copy_to_user(arg, &epoch, sizeof(epoch)) ? -EFAULT : 0;
}

static long oae_port_ioctl(struct file *file, unsigned int cmd, unsigned long argument)
{
	struct oae_port *port = file->private_data;
	void __user *arg = (void __user *)argument;
	long ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	switch (cmd) {
	case OAE_IOC_INFO:
		ret = oae_ioctl_info(port, arg);
		break;
	case OAE_IOC_SWAP:
		ret = oae_ioctl_swap(port, file, arg);
		break;
	case OAE_IOC_SETTLE:
		ret = oae_ioctl_settle(port, false, arg);
		break;
	case OAE_IOC_REVERSE:
		ret = oae_ioctl_settle(port, true, arg);
		break;
	case OAE_IOC_STATS:
		ret = oae_ioctl_stats(port, arg);
		break;
	case OAE_IOC_FIRMWARE_STATS:
		ret = oae_ioctl_firmware_stats(port, arg);
		break;
	case OAE_IOC_READ_BENCH:
		ret = oae_ioctl_read_bench(port, arg);
		break;
	case OAE_IOC_BEGIN:
		ret = oae_ioctl_begin(port, arg);
		break;
	default:
		ret = -ENOTTY;
	}
	oae_leave(port->oae);
	return ret;
}

static __poll_t oae_port_poll(struct file *file, poll_table *table)
{
	struct oae_port *port = file->private_data;
	__poll_t ready = 0;
	u64 state;

	poll_wait(file, &port->wait, table);
	if (oae_enter(port->oae))
		return EPOLLERR | EPOLLHUP;
	state = oae_port_read(port, OAE_HOST_PORT_STATE);
	if (state == ~0ULL)
		ready = EPOLLERR;
	else if (state & OAE_HOST_PORT_STATE_OFFERED_MASK)
		ready = EPOLLIN | EPOLLRDNORM;
	else
		oae_port_arm(port, OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK);
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
};

static void oae_port_free(struct device *dev)
{
	struct oae_port *port = container_of(dev, struct oae_port, dev);

	oae_put(port->oae);
	free_page((unsigned long)port->absent);
	kfree(port);
}

static void oae_port_put(void *port)
{
	put_device(&((struct oae_port *)port)->dev);
}

int oae_port_create(struct oae_device *oae, unsigned int index)
{
	struct device *parent = &oae->pdev->dev;
	struct oae_port *port;
	int ret;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	oae_get(oae);
	port->oae = oae;
	port->index = index;
	/* Vectors that are fewer than ports are shared, the mailbox's last. */
	port->vector = oae->num_vectors > 1 ? 1 + index % (oae->num_vectors - 1) : 0;
	port->exchange.page = oae->pages + index * OAE_PORT_SIZE;
	if (oae->streams)
		port->exchange.stream = oae->streams + index * OAE_STREAM_SIZE;
	mutex_init(&port->lock);
	init_waitqueue_head(&port->wait);
	atomic64_set(&port->signals, 0);
	device_initialize(&port->dev);
	port->dev.class = &oae_class;
	port->dev.parent = parent;
	port->dev.release = oae_port_free;
	port->dev.devt = oae_first_dev + oae->id * OAE_MAX_PORTS + index;
	cdev_init(&port->cdev, &oae_port_operations);
	port->cdev.owner = THIS_MODULE;
	oae->ports[index] = port;
	ret = devm_add_action_or_reset(parent, oae_port_put, port);
	if (ret)
		return ret;
	port->absent = (void *)__get_free_page(GFP_KERNEL);
	if (!port->absent)
		return -ENOMEM;
	memset(port->absent, 0xff, PAGE_SIZE);
	/* All of a page, since its owner may have it mapped. */
	port->page = dmam_alloc_coherent(parent, PAGE_SIZE, &port->cell, GFP_KERNEL);
	if (!port->page)
		return -ENOMEM;
	port->exchange.cell = port->page->slot;
	return dev_set_name(&port->dev, "oae%dp%u", oae->id, index);
}

static void oae_port_unpublish(void *data)
{
	struct oae_port *port = data;

	cdev_device_del(&port->cdev, &port->dev);
}

int oae_port_publish(struct oae_port *port)
{
	int ret;

	ret = cdev_device_add(&port->cdev, &port->dev);
	if (ret)
		return ret;
	return devm_add_action_or_reset(port->dev.parent, oae_port_unpublish, port);
}

int oae_ports_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&oae_first_dev, 0, OAE_MAX_DEVICES * OAE_MAX_PORTS, "oae");
	if (ret)
		return ret;
	ret = class_register(&oae_class);
	if (ret)
		unregister_chrdev_region(oae_first_dev, OAE_MAX_DEVICES * OAE_MAX_PORTS);
	return ret;
}

void oae_ports_exit(void)
{
	class_unregister(&oae_class);
	unregister_chrdev_region(oae_first_dev, OAE_MAX_DEVICES * OAE_MAX_PORTS);
}
