// SPDX-License-Identifier: GPL-2.0
/* Requests on an open port: ioctl() of its file. */
#include "oae_request.h"

#include <linux/fs.h>
#include <linux/io.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "oae_fate.h"
#include "oae_mailbox.h"
#include "oae_port.h"
#include "oae_stats.h"
#include "oae_swap.h"
#include "oae_trace.h"

/* The oldest version of the interface whose programs are served. */
#define OAE_INTERFACE_OLDEST 2

/* What each structure ended with in that version. A program gives that much at least. */
#define OAE_SIZE_INFO offsetofend(struct oae_info, pci_address)
#define OAE_SIZE_SWAP offsetofend(struct oae_swap, reads)
#define OAE_SIZE_STATS offsetofend(struct oae_stats, signals)
#define OAE_SIZE_FIRMWARE_STATS offsetofend(struct oae_firmware_stats, mode)
#define OAE_SIZE_EPOCH offsetofend(struct oae_epoch, reserved)
#define OAE_SIZE_WORDS offsetofend(struct oae_words, count) /* since version 3 */
#define OAE_SIZE_FATE offsetofend(struct oae_fate, reserved) /* since version 4 */

static_assert(OAE_SIZE_INFO == 80);
static_assert(OAE_SIZE_SWAP == 128);
static_assert(OAE_SIZE_STATS == 72);
static_assert(OAE_SIZE_FIRMWARE_STATS == 56);
static_assert(OAE_SIZE_EPOCH == 24);
static_assert(OAE_SIZE_WORDS == 16);
static_assert(OAE_SIZE_FATE == 32);
static_assert(sizeof(struct oae_answer_buffer) == 80);
static_assert(OAE_PAYLOAD_WORDS == OAE_SLOT_PAYLOAD_COUNT);
static_assert(OAE_SWAP_VERB_SWAP == OAE_VERB_SWAP);
static_assert(OAE_SWAP_VERB_CAS == OAE_VERB_CAS);
static_assert(OAE_SWAP_VERB_FETCH_ADD == OAE_VERB_FETCH_ADD);
static_assert(OAE_SWAP_VERB_MULTI == OAE_VERB_MULTI);
static_assert(OAE_SWAP_VERB_SEND == OAE_VERB_SEND);
static_assert(OAE_SWAP_VERB_REMOTE == OAE_VERB_REMOTE);
static_assert(OAE_SWAP_VERB_RESULT == OAE_VERB_RESULT);
static_assert(OAE_RESULT_DONE == OAE_FIRMWARE_WORD_OUTCOME_DONE_MASK);
static_assert(OAE_RESULT_BUSY == OAE_FIRMWARE_WORD_OUTCOME_BUSY_MASK);
static_assert(OAE_RESULT_BAD == OAE_FIRMWARE_WORD_OUTCOME_BAD_MASK);
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

/*
 * Copies a structure in, whose first two words are its size and flags of which @flags are known. The
 * caller gives @least bytes or more, and the driver knows @known.
 */
static int oae_copy_in(void *to, size_t known, size_t least, u32 flags, const void __user *arg)
{
	u32 head[2];
	int ret;

	if (copy_from_user(head, arg, sizeof(head)))
		return -EFAULT;
	if (head[0] < least)
		return -EINVAL;
	if (head[0] > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(to, known, arg, head[0]);
	if (ret)
		return ret;
	/* The head may have changed in between. What was looked at counts. */
	memcpy(to, head, sizeof(head));
	return head[1] & ~flags ? -EINVAL : 0;
}

/* Copies a structure out, of which the caller has room for as much as its first word says. */
static int oae_copy_out(void __user *arg, const void *from, size_t known)
{
	size_t room = *(const u32 *)from;

	if (copy_to_user(arg, from, min(room, known)))
		return -EFAULT;
	if (room > known && clear_user((char __user *)arg + known, room - known))
		return -EFAULT;
	return 0;
}

static long oae_ioctl_info(struct oae_port *port, void __user *arg)
{
	struct oae_device *oae = port->oae;
	struct oae_info info;
	int ret;

	ret = oae_copy_in(&info, sizeof(info), OAE_SIZE_INFO, 0, arg);
	if (ret)
		return ret;
	/* The device is not needed for this, but a caller learns from it how the device fares. */
	ret = oae_enter(oae);
	if (ret)
		return ret;
	info = (struct oae_info){
		.size = info.size,
		.version = OAE_INTERFACE_VERSION,
		.oldest = OAE_INTERFACE_OLDEST,
		.port = port->index,
		.ports = oae->num_ports,
		.block_version = OAE_GET(oae->identity, OAE_HOST_ID_VERSION),
		.clock_khz = oae->clock_khz,
		.vectors = oae->num_vectors,
		.features = oae->features,
	};
	strscpy(info.pci_address, pci_name(oae->pdev), sizeof(info.pci_address));
	oae_leave(oae);
	return oae_copy_out(arg, &info, sizeof(info));
}

/* Keeps an outcome that its caller could not be given: the next settlement is that. */
static void oae_port_keep(struct oae_port *port, const struct oae_answer *answer)
{
	mutex_lock(&port->lock);
	port->settlement = *answer;
	port->has_settlement = true;
	mutex_unlock(&port->lock);
}

/* Whether the next swap is the kernel's to make. The port is locked. */
static int oae_port_prepare(struct oae_port *port)
{
	if (port->maps)
		return -EBUSY;
	if (port->pending || port->exchange.doubt || port->has_settlement)
		return -EIO;
	return port->stale ? oae_port_begin(port) : 0;
}

/* One try. @outcome is there if it returns 0. */
static int oae_port_try(struct oae_port *port, struct oae_swap *swap, struct oae_answer *answer,
			enum oae_outcome *outcome)
{
	int ret;

	ret = oae_port_enter(port);
	if (ret)
		return ret;
	ret = oae_port_prepare(port);
	if (ret)
		goto leave;
	*outcome = oae_exchange_swap(&port->exchange, swap->form, swap->verb, swap->flags,
				     swap->offer, oae_port_settle_reads(), answer);
	oae_port_count_doubt(port, answer);
	trace_oae_swap(port, *outcome, answer);
	if (*outcome == OAE_COMMITTED && swap->verb == OAE_SWAP_VERB_REMOTE)
		oae_fate_request(port, port->exchange.sequence);
	if (*outcome == OAE_IN_DOUBT)
		ret = -EIO;
	else
		port->times = oae_swap_durations(answer);
leave:
	oae_port_leave(port);
	return ret;
}

/* One try, with its outcome in the caller's memory. 1: an offer of the firmware, or a result, may be awaited. */
static int oae_port_swap(struct oae_port *port, struct oae_swap *swap, void __user *arg)
{
	struct oae_answer answer;
	enum oae_outcome outcome;
	int ret;

	if (mutex_lock_interruptible(&port->requests))
		return -ERESTARTSYS;
	ret = oae_port_try(port, swap, &answer, &outcome);
	if (ret)
		goto unlock;
	swap->tries++;
	oae_swap_fill(swap, &answer);
	if (outcome == OAE_NOT_TAKEN && swap->status == OAE_SWAP_STATUS_NOT_READY) {
		ret = 1;
	} else {
		ret = oae_copy_out(arg, swap, sizeof(*swap));
		if (ret && outcome != OAE_NOT_TAKEN)
			oae_port_keep(port, &answer);
	}
unlock:
	mutex_unlock(&port->requests);
	return ret;
}

/* Looks for losses. -EREMOTEIO: the last REMOTE is lost, so that the @result that is awaited never comes. */
static int oae_port_look(struct oae_port *port, bool result)
{
	int ret;

	if (!oae_fate_is_told(port))
		return 0;
	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	if (oae_fate_news(port).remote && result)
		ret = -EREMOTEIO;
	oae_leave(port->oae);
	return ret;
}

/*
 * Until @swap may find what it needs, or the deadline (ktime, ns) has passed: 0, -ETIME. -EREMOTEIO: that is a
 * result which never comes.
 */
static int oae_port_wait(struct oae_port *port, const struct oae_swap *swap, u64 deadline)
{
	u64 seen = atomic64_read(&port->signals), now = ktime_get_ns();
	bool result = swap->verb == OAE_SWAP_VERB_RESULT;
	struct oae_device *oae = port->oae;
	int freezes, ret;

	/* An interrupt that has brought no success may be that of a loss. */
	if (result || swap->tries > 1) {
		ret = oae_port_look(port, result);
		if (ret)
			return ret;
	}
	if (now >= deadline)
		return -ETIME;
	ret = oae_enter(oae);
	if (ret)
		return ret;
	freezes = atomic_read(&oae->freezes);
	oae_port_arm(port, result ? OAE_HOST_PORT_EVENT_RESULT_ARMED_MASK :
				    OAE_HOST_PORT_EVENT_OFFER_ARMED_MASK);
	oae_leave(oae);
	ret = wait_event_interruptible_hrtimeout(port->wait,
						 atomic64_read(&port->signals) != seen ||
							 atomic_read(&oae->freezes) != freezes,
						 ns_to_ktime(deadline - now));
	/* A reset has ended the wait, and may have passed. */
	return atomic_read(&oae->freezes) != freezes ? -EIO : ret;
}

/* When a request that waits gives up (ktime, ns), or 0: it does not wait. */
static u64 oae_request_deadline(const struct file *file, u64 timeout_ns)
{
	if (!timeout_ns || file->f_flags & O_NONBLOCK)
		return 0;
	return ktime_get_ns() + min_t(u64, timeout_ns, KTIME_MAX / 2);
}

static long oae_ioctl_swap(struct oae_port *port, struct file *file, void __user *arg)
{
	struct oae_swap swap;
	u64 deadline;
	int ret;

	ret = oae_copy_in(&swap, sizeof(swap), OAE_SIZE_SWAP, OAE_SWAP_FLAG_MORE, arg);
	if (ret)
		return ret;
	ret = oae_swap_check(&swap, &port->exchange, port->oae->features);
	if (ret)
		return ret;
	swap.tries = 0;
	swap.reads = 0;
	deadline = oae_request_deadline(file, swap.timeout_ns);
	for (;;) {
		ret = oae_port_swap(port, &swap, arg);
		if (ret != 1)
			return ret;
		ret = oae_port_wait(port, &swap, deadline);
		if (ret == -ETIME)
			return oae_copy_out(arg, &swap, sizeof(swap));
		if (ret)
			return ret;
	}
}

/* Makes sure that the port has a settlement, which @swap and @answer then are. */
static int oae_port_find_settlement(struct oae_port *port, bool reverse, struct oae_swap *swap,
				    struct oae_answer *answer)
{
	bool found;
	int ret = 0;

	/* What is known already needs no device. */
	mutex_lock(&port->lock);
	found = port->has_settlement && !port->maps;
	mutex_unlock(&port->lock);
	if (!found) {
		ret = oae_port_enter(port);
		if (ret)
			return ret;
		if (port->maps)
			ret = -EBUSY;
		else if (!port->exchange.doubt)
			ret = port->has_settlement ? 0 : -ENODATA;
		else if (port->pending)
			ret = -EIO;
		else {
			if (reverse)
				oae_exchange_reverse(&port->exchange);
			ret = oae_port_settle(port);
		}
		oae_port_leave(port);
		if (ret)
			return ret;
	}
	mutex_lock(&port->lock);
	oae_swap_recall(swap, &port->exchange);
	*answer = port->settlement;
	mutex_unlock(&port->lock);
	return 0;
}

static long oae_ioctl_settle(struct oae_port *port, void __user *arg)
{
	struct oae_answer answer;
	struct oae_swap swap;
	int ret;

	ret = oae_copy_in(&swap, sizeof(swap), OAE_SIZE_SWAP, OAE_SETTLE_REVERSE, arg);
	if (ret)
		return ret;
	if (mutex_lock_interruptible(&port->requests))
		return -ERESTARTSYS;
	ret = oae_port_find_settlement(port, swap.flags & OAE_SETTLE_REVERSE, &swap, &answer);
	if (ret)
		goto unlock;
	oae_swap_fill(&swap, &answer);
	ret = oae_copy_out(arg, &swap, sizeof(swap));
	if (ret)
		goto unlock;
	mutex_lock(&port->lock);
	port->has_settlement = false;
	mutex_unlock(&port->lock);
unlock:
	mutex_unlock(&port->requests);
	return ret;
}

static long oae_ioctl_stats(struct oae_port *port, void __user *arg)
{
	struct oae_stats stats;
	int ret;

	ret = oae_copy_in(&stats, sizeof(stats), OAE_SIZE_STATS, 0, arg);
	if (ret)
		return ret;
	stats = (struct oae_stats){ .size = stats.size };
	ret = oae_port_stats(port, &stats);
	if (ret)
		return ret;
	return oae_copy_out(arg, &stats, sizeof(stats));
}

static long oae_ioctl_firmware_stats(struct oae_port *port, void __user *arg)
{
	u64 words[OAE_MAILBOX_REQUEST_COUNT] = {
		OAE_MAILBOX_COMMAND_PORT_STATISTICS,
		port->index,
	};
	struct oae_firmware_stats stats;
	int ret;

	ret = oae_copy_in(&stats, sizeof(stats), OAE_SIZE_FIRMWARE_STATS, 0, arg);
	if (ret)
		return ret;
	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	ret = oae_mailbox_call(port->oae, words);
	oae_leave(port->oae);
	if (ret)
		return ret;
	stats = (struct oae_firmware_stats){
		.size = stats.size,
		.exchanged = words[1],
		.committed = words[2],
		.reversed = words[3],
		.bad_offers = words[4],
		.liveness = words[5],
		.mode = words[6],
	};
	return oae_copy_out(arg, &stats, sizeof(stats));
}

static long oae_ioctl_begin(struct oae_port *port, void __user *arg)
{
	struct oae_epoch epoch;
	int ret;

	ret = oae_copy_in(&epoch, sizeof(epoch), OAE_SIZE_EPOCH, 0, arg);
	if (ret)
		return ret;
	ret = oae_port_enter(port);
	if (ret)
		return ret;
	if (port->pending || port->exchange.doubt || port->has_settlement)
		ret = -EIO;
	else
		ret = oae_port_begin(port);
	epoch = (struct oae_epoch){
		.size = epoch.size,
		.generation = port->generation,
		.sequence = port->exchange.sequence,
		.epoch = port->exchange.epoch,
	};
	oae_port_leave(port);
	if (ret)
		return ret;
	return oae_copy_out(arg, &epoch, sizeof(epoch));
}

static long oae_ioctl_words(struct oae_port *port, void __user *arg)
{
	struct oae_words words;
	u64 range;
	int ret;

	ret = oae_copy_in(&words, sizeof(words), OAE_SIZE_WORDS, 0, arg);
	if (ret)
		return ret;
	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	range = readq(port->exchange.page + OAE_PORT_WORDS);
	oae_leave(port->oae);
	if (range == ~0ULL)
		return -EIO;
	words = (struct oae_words){
		.size = words.size,
		.first = OAE_GET(range, OAE_PORT_WORDS_FIRST),
		.count = OAE_GET(range, OAE_PORT_WORDS_COUNT),
	};
	return oae_copy_out(arg, &words, sizeof(words));
}

/* How long a request for a fate sleeps between two looks, in ns. Nothing signals a delivery. */
#define OAE_FATE_PAUSE_MIN (10 * NSEC_PER_USEC)
#define OAE_FATE_PAUSE_MAX (1 * NSEC_PER_MSEC)

/* One look, then a sleep that a loss ends. 1: it is pending, and the caller may look again. */
static int oae_port_await_fate(struct oae_port *port, struct oae_fate *fate, u64 pause)
{
	u64 seen = atomic64_read(&port->signals);
	int ret;

	ret = oae_enter(port->oae);
	if (ret)
		return ret;
	ret = oae_fate_look(port, fate);
	oae_leave(port->oae);
	if (ret || fate->fate != OAE_FATE_PENDING || !pause)
		return ret;
	ret = wait_event_interruptible_hrtimeout(port->wait, atomic64_read(&port->signals) != seen,
						 ns_to_ktime(pause));
	return ret && ret != -ETIME ? ret : 1;
}

static long oae_ioctl_fate(struct oae_port *port, struct file *file, void __user *arg)
{
	u64 deadline, now, pause = OAE_FATE_PAUSE_MIN;
	struct oae_fate fate;
	int ret;

	ret = oae_copy_in(&fate, sizeof(fate), OAE_SIZE_FATE, OAE_FATE_NEXT_LOSS, arg);
	if (ret)
		return ret;
	if (memchr_inv(fate.reserved, 0, sizeof(fate.reserved)))
		return -EINVAL;
	if (!oae_fate_is_told(port))
		return -EOPNOTSUPP;
	deadline = oae_request_deadline(file, fate.timeout_ns);
	do {
		now = ktime_get_ns();
		ret = oae_port_await_fate(port, &fate, now < deadline ? min(pause, deadline - now) : 0);
		pause = min_t(u64, 2 * pause, OAE_FATE_PAUSE_MAX);
	} while (ret == 1);
	if (!ret)
		ret = oae_copy_out(arg, &fate, sizeof(fate));
	if (!ret && fate.flags & OAE_FATE_NEXT_LOSS && fate.fate == OAE_FATE_LOST)
		oae_fate_fetched(port, fate.sequence);
	return ret;
}

/* Requests that change what a port does need a file that is open for writing. */
static bool oae_request_changes(unsigned int cmd)
{
	switch (cmd) {
	case OAE_IOC_SWAP:
	case OAE_IOC_SETTLE:
	case OAE_IOC_BEGIN:
		return true;
	default:
		return false;
	}
}

long oae_port_ioctl(struct file *file, unsigned int cmd, unsigned long argument)
{
	struct oae_port *port = file->private_data;
	void __user *arg = (void __user *)argument;

	if (oae_request_changes(cmd) && !(file->f_mode & FMODE_WRITE))
		return -EBADF;
	switch (cmd) {
	case OAE_IOC_INFO:
		return oae_ioctl_info(port, arg);
	case OAE_IOC_SWAP:
		return oae_ioctl_swap(port, file, arg);
	case OAE_IOC_SETTLE:
		return oae_ioctl_settle(port, arg);
	case OAE_IOC_STATS:
		return oae_ioctl_stats(port, arg);
	case OAE_IOC_FIRMWARE_STATS:
		return oae_ioctl_firmware_stats(port, arg);
	case OAE_IOC_BEGIN:
		return oae_ioctl_begin(port, arg);
	case OAE_IOC_WORDS:
		return oae_ioctl_words(port, arg);
	case OAE_IOC_FATE:
		return oae_ioctl_fate(port, file, arg);
	default:
		return -ENOTTY;
	}
}
