// SPDX-License-Identifier: GPL-2.0
/* Requests on an open port: ioctl() of its file. */
#include "oae_request.h"

#include <linux/fs.h>
#include <linux/io.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "oae_clock.h"
#include "oae_mailbox.h"
#include "oae_port.h"
#include "oae_swap.h"

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
				    swap->offer, oae_port_settle_reads(), &answer);
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
	outcome = oae_exchange_settle(&port->exchange, max(oae_port_settle_reads(), 1U), answer);
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

long oae_port_ioctl(struct file *file, unsigned int cmd, unsigned long argument)
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
