/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Apache-2.0 */
/*
 * Interface of the OAE swap driver: one character device for each swap port, /dev/oae<N>p<PORT>.
 *
 * A port can be open once at a time; another open fails with EBUSY. An open begins a new epoch, and
 * the last close ends it. poll() reports POLLIN while an offer of the firmware stands, so that a swap
 * would not be answered NOT_READY for want of one, and POLLPRI, if that is asked for, while a request for
 * OAE_SWAP_VERB_RESULT would not wait: its result stands, or is lost. POLLRDBAND, if that is asked for,
 * is reported while there is a loss that was not fetched (OAE_FATE_NEXT_LOSS). A reset that passes is no
 * event; an unbinding is POLLERR and POLLHUP.
 *
 * Structures grow, and programs and drivers of different age understand each other. Each structure
 * begins with @size, the number of bytes that the caller has given, and with @flags. A driver takes
 * fields that the caller does not know as zero. If the caller's structure is longer than the
 * driver's, the rest has to be zero on the way in (else E2BIG), and is zero on the way out.
 *
 * Errors of every request:
 *   E2BIG        the structure has fields that are not known here, and that are not zero
 *   EBADF        the file is not open for writing, and the request changes something
 *   EFAULT       the address is bad
 *   EINVAL       a flag, verb or form is not known here, or @size is too small
 *   EIO          the device is being reset, or does not answer
 *   ENODEV       the device is unbound or gone
 *   EINTR        a signal has ended the request before it did anything; where the signal's handler
 *                has SA_RESTART, the request is restarted instead
 * Times are nanoseconds of the host's clock.
 */
#ifndef _UAPI_LINUX_OAE_H
#define _UAPI_LINUX_OAE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Goes up by one with each addition to this interface. */
#define OAE_INTERFACE_VERSION 4

#define OAE_PAYLOAD_WORDS 6

/**
 * struct oae_info - what a port belongs to
 * @size: in: size of this structure
 * @flags: in: zero
 * @version: OAE_INTERFACE_VERSION of the driver
 * @oldest: oldest version whose programs the driver still serves
 * @port: number of this port
 * @ports: number of ports that the device has
 * @block_version: version of the block's register map
 * @clock_khz: frequency of the block's clock in kHz
 * @vectors: number of MSI-X vectors that the driver was given
 * @reserved: zero
 * @features: word of the same name in the register map
 * @pci_address: where the device is, as "0000:00:00.0", terminated by a zero
 */
struct oae_info {
	__u32 size;
	__u32 flags;
	__u32 version;
	__u32 oldest;
	__u32 port;
	__u32 ports;
	__u32 block_version;
	__u32 clock_khz;
	__u32 vectors;
	__u32 reserved;
	__u64 features;
	char pci_address[32];
};

/* Verbs, numbered as in a slot's header. */
#define OAE_SWAP_VERB_SWAP 1
#define OAE_SWAP_VERB_CAS 2
#define OAE_SWAP_VERB_FETCH_ADD 3
#define OAE_SWAP_VERB_MULTI 4
#define OAE_SWAP_VERB_SEND 5
#define OAE_SWAP_VERB_REMOTE 6
#define OAE_SWAP_VERB_RESULT 7

/*
 * CAS, FETCH_ADD and MULTI work on the block's words of 64 bits, which all ports and the firmware
 * share. They have up to four steps. All steps see the words as they are and take effect at once if
 * every comparison holds; otherwise none takes effect. Only one step may change a given word.
 *
 * MULTI: bits 16 i to 16 i + 11 of @offer[0] name the word of step i, the next three bits are its
 * operation (OAE_STEP_*), and @offer[1 + i] is its operand. CAS: @offer[0] names the word,
 * @offer[1] is the value that it must have, and @offer[2] is the value to write. FETCH_ADD: @offer[0]
 * names the word, and @offer[1] is the value to add.
 *
 * In the answer, bit 0 of @answer[0] is 1 if the steps took effect, and @answer[1 + i] is the value
 * that step i has found. Status BUSY: another swap holds one of the words, and nothing was done.
 * Status BAD_VERB: there is no such word or operation, or the port may not use the word (OAE_IOC_WORDS).
 *
 * SEND delivers @offer to the firmware exactly once. The firmware need not have offered anything.
 *
 * REMOTE has the payload of MULTI, and is about the words of the cell at the other end of the port, if
 * the firmware has joined it with a port there; otherwise its status is BAD_VERB. Its steps take effect
 * there exactly once, at some time after the swap was committed, with the words that the port of that
 * cell may use. Their result is the answer of RESULT, whose @offer is zero: bits OAE_RESULT_* in
 * @answer[0], and @answer[1 + i] as above. A port has one REMOTE at a time. Until RESULT is committed,
 * another REMOTE is answered NOT_READY. A RESULT is answered NOT_READY until the result has come, and a
 * result of an earlier epoch is dropped. If the REMOTE is lost (OAE_IOC_FATE), its RESULT does not wait, but
 * fails with EREMOTEIO, until another REMOTE is committed.
 */
#define OAE_RESULT_DONE 1 /* the steps took effect; else no step did */
#define OAE_RESULT_BUSY 2 /* a swap in the other cell holds one of the words */
#define OAE_RESULT_BAD 4 /* there is no such word or operation, or the port there may not use the word */

#define OAE_STEPS_MAX 4
#define OAE_STEP_READ 1
#define OAE_STEP_WRITE 2
#define OAE_STEP_ADD 3
#define OAE_STEP_COMPARE 4

/* A flag of OAE_IOC_SWAP: more swaps follow, and the next one confirms this one. */
#define OAE_SWAP_FLAG_MORE 1

/*
 * How the answer comes. Pushed: the device writes it into memory, which works on every CPU, but
 * requires that the device is a bus master. Streamed: it comes in the completion of a 64-byte load
 * from a write-combining mapping; a CPU without such loads makes eight loads of it.
 */
#define OAE_SWAP_FORM_PUSHED 0
#define OAE_SWAP_FORM_STREAMED 1

/* Status of an answer, numbered as in a slot's header. */
#define OAE_SWAP_STATUS_OK 0
#define OAE_SWAP_STATUS_NOT_READY 1
#define OAE_SWAP_STATUS_BUSY 2
#define OAE_SWAP_STATUS_HISTORY_LOST 3
#define OAE_SWAP_STATUS_REVERSED 4
#define OAE_SWAP_STATUS_BAD_VERB 5

/**
 * struct oae_swap - one bilateral swap
 * @size: in: size of this structure
 * @flags: in: OAE_SWAP_FLAG_* for OAE_IOC_SWAP, OAE_SETTLE_* for OAE_IOC_SETTLE
 * @timeout_ns: in: how long to wait for an offer of the firmware, or for the result that RESULT asks
 *	for; 0 or O_NONBLOCK: not at all
 * @offer: in: payload of the host's slot
 * @answer: out: if @status is OK, payload of the firmware's slot, or of the block's answer to the
 *	other verbs; if it is NOT_READY or BUSY, word 0 is the age of the firmware's sign of life in
 *	clocks of the block
 * @verb: in: OAE_SWAP_VERB_*
 * @form: in: OAE_SWAP_FORM_*
 * @status: out: OAE_SWAP_STATUS_*; OK: both sides have committed, otherwise neither has
 * @epoch: out: epoch of the swap
 * @sequence: out: sequence of the swap within its epoch
 * @tries: out: how many times the offer was made
 * @reads: out: how many further reads it took to settle doubt, normally 0
 *
 * OAE_IOC_SWAP makes one swap. It fails with EOPNOTSUPP if the device does not have the form or the
 * verb, with EBUSY while the port is mapped, and with EIO if the answer stays in doubt. No further
 * swap is made until OAE_IOC_SETTLE has returned the outcome of the swap in doubt. RESULT fails with
 * EREMOTEIO if the REMOTE is lost: no result comes, and nobody knows whether its steps took effect.
 *
 * OAE_IOC_SETTLE asks for the outcome of the last swap, if its caller does not have it: because the
 * answer was in doubt, or because OAE_IOC_SWAP could not write it to memory (EFAULT). It fills in
 * @verb, @form, and the fields marked "out", and fails with EIO (ask again later) or ENODATA (there
 * is no such swap). An outcome is kept until it has been written to the caller's memory, also if the
 * device is unbound meanwhile.
 *
 * HISTORY_LOST: the card has lost its power, and with it its side of the epoch.
 */
struct oae_swap {
	__u32 size;
	__u32 flags;
	__u64 timeout_ns;
	__u64 offer[OAE_PAYLOAD_WORDS];
	__u64 answer[OAE_PAYLOAD_WORDS];
	__u8 verb;
	__u8 form;
	__u8 status;
	__u8 epoch;
	__u32 sequence;
	__u32 tries;
	__u32 reads;
};

/*
 * A flag of OAE_IOC_SETTLE, for a caller that does not want a swap which may have taken place: the
 * outcome is REVERSED, and neither side has committed, unless the swap was settled before. Once this
 * was asked for, it holds for all later settlements of this swap.
 */
#define OAE_SETTLE_REVERSE 1

/**
 * struct oae_stats - counters of the block and of the driver, which sysfs shows too
 * @size: in: size of this structure
 * @flags: in: zero
 * @state: state of the port's last swap, numbered as port_state in the register map
 * @epoch: present epoch
 * @offered: 1 if an offer of the firmware stands
 * @reserved: zero
 * @sequence: sequence of the last swap that was exchanged or reversed, 0 before the first
 * @committed: number of swaps committed since the card's power-up
 * @not_ready: number of answers NOT_READY since then
 * @rejected: number of the host's offers that were rejected since then
 * @liveness: the firmware's sign of life
 * @liveness_age: clocks of the block since @liveness changed, saturating
 * @doubts: number of swaps whose answer was in doubt since the driver was bound
 * @settled: number of these that are settled
 * @signals: number of interrupts of the port's vector since the driver was bound
 * @lost: number of slots that were lost on their way to another cell's host since the driver was bound
 * @lost_remotes: number of REMOTEs that were lost so since then
 */
struct oae_stats {
	__u32 size;
	__u32 flags;
	__u8 state;
	__u8 epoch;
	__u8 offered;
	__u8 reserved;
	__u32 sequence;
	__u64 committed;
	__u64 not_ready;
	__u64 rejected;
	__u32 liveness;
	__u32 liveness_age;
	__u64 doubts;
	__u64 settled;
	__u64 signals;
	__u64 lost;
	__u64 lost_remotes;
};

/**
 * struct oae_firmware_stats - the firmware's own count of this port's swaps
 * @size: in: size of this structure
 * @flags: in: zero
 * @exchanged: number of swaps that it has seen exchanged
 * @committed: number of swaps that it has seen committed
 * @reversed: number of swaps that were reported to it as reversed
 * @bad_offers: number of its own offers that the block refused
 * @liveness: its sign of life
 * @mode: 0: it sleeps until an interrupt; 1: it polls
 *
 * The driver asks for it over the mailbox. ETIMEDOUT: no reply came. EPROTO: the reply is an error.
 */
struct oae_firmware_stats {
	__u32 size;
	__u32 flags;
	__u64 exchanged;
	__u64 committed;
	__u64 reversed;
	__u64 bad_offers;
	__u64 liveness;
	__u64 mode;
};

/*
 * mmap() of a port's file maps one page of OAE_MAP_SIZE bytes at each of these offsets, shared. Its
 * owner can then swap without the kernel, by the rules of the register map. While a page is mapped,
 * OAE_IOC_SWAP and OAE_IOC_SETTLE fail with EBUSY; everything else works.
 *
 * OAE_MAP_PORT: the port's page of BAR 2, uncached. OAE_MAP_STREAM: its page of BAR 4,
 * write-combining. OAE_MAP_ANSWER: struct oae_answer_buffer, memory that the device writes.
 *
 * mmap() fails with EINVAL (another offset or size, or private), EACCES (executable, or the file is
 * not open for writing), EOPNOTSUPP (there is no streamed form), EBUSY (another process has mapped
 * the port), EIO (an outcome has to be settled first) and ENODEV (the device is unbound). A child
 * does not inherit a mapping, and a mapping does not grow.
 *
 * The first mapping and the end of the last one end the epoch. OAE_IOC_BEGIN begins an epoch for the
 * process; the first OAE_IOC_SWAP after the last unmapping begins one for the kernel. Either rolls
 * forward what is left.
 *
 * A reset, an error of the link, a sleep and an unbinding take the pages of the device away. Ordinary
 * memory is shown instead, which is all ones at first, until the device is back, or for good if it is
 * unbound. During that time @generation of struct oae_answer_buffer is all ones, and afterwards it
 * differs from the one that OAE_IOC_BEGIN has returned. A process that has read an answer has to
 * compare @generation afterwards, since ordinary memory gives back what was stored to it. The
 * process's epoch ends with the reset, but can be settled in the new pages until OAE_IOC_BEGIN. The
 * answer buffer stays mapped in a reset; only an unbinding takes it away.
 */
#define OAE_MAP_PORT 0x0000
#define OAE_MAP_STREAM 0x1000
#define OAE_MAP_ANSWER 0x2000
#define OAE_MAP_SIZE 0x1000

/**
 * struct oae_answer_buffer - the page at OAE_MAP_ANSWER
 * @slot: the slot that was pushed last, little-endian
 * @generation: how many times the pages have begun to show the port; all ones: they do not show it
 * @confirmation: the process stores here what it has written to the port's CONFIRM last, or what it
 *	leaves to its next offer; the kernel writes it when the device asks for it
 */
struct oae_answer_buffer {
	__le64 slot[8];
	__u64 generation;
	__u64 confirmation;
};

/**
 * struct oae_epoch - an epoch that has begun
 * @size: in: size of this structure
 * @flags: in: zero
 * @generation: that of struct oae_answer_buffer
 * @sequence: sequence of the epoch's last swap; the next swap has this + 1
 * @epoch: its number
 * @reserved: zero
 */
struct oae_epoch {
	__u32 size;
	__u32 flags;
	__u64 generation;
	__u32 sequence;
	__u8 epoch;
	__u8 reserved[3];
};

/**
 * struct oae_words - the words of the block that the port may use
 * @size: in: size of this structure
 * @flags: in: zero
 * @first: the first of them
 * @count: how many they are; 0: none
 *
 * The firmware gives each port its words, and may change that at any time.
 */
struct oae_words {
	__u32 size;
	__u32 flags;
	__u32 first;
	__u32 count;
};

/*
 * What became of a slot that has left the cell. If the firmware has joined the port with a port of another
 * cell, a committed slot (SWAP or SEND) still has to reach the host there. It is delivered when that host
 * has used it up by a committed swap. Slots are delivered in their order.
 */
#define OAE_FATE_PENDING 0 /* It is neither: in this port, on its way, or waiting at the other port. */
#define OAE_FATE_DELIVERED 1 /* The other host has used it up. */
#define OAE_FATE_LOST 2 /* Nobody knows whether the other host has had it. It is never sent again. */

/* A flag of OAE_IOC_FATE: the question is which slot or REMOTE was lost. */
#define OAE_FATE_NEXT_LOSS 1

/**
 * struct oae_fate - the fate of a slot, or the name of a loss
 * @size: in: size of this structure
 * @flags: in: OAE_FATE_NEXT_LOSS or zero
 * @timeout_ns: in: how long to wait while the slot is pending, or until there is a loss; 0 or O_NONBLOCK:
 *	not at all
 * @sequence: in: sequence of the committed swap, as struct oae_swap has returned it; out, with
 *	OAE_FATE_NEXT_LOSS: that of the oldest loss that was not fetched
 * @forgotten: out: sequence of the last loss that the driver does not remember by name any more, 0: none
 * @epoch: in: epoch of that swap; out, with OAE_FATE_NEXT_LOSS: epoch of the loss
 * @fate: out: OAE_FATE_*; with OAE_FATE_NEXT_LOSS: LOST, or PENDING if there is no loss
 * @reserved: zero
 *
 * OAE_IOC_FATE works while the port is mapped, too, and no swap has to wait for it. It fails with EOPNOTSUPP
 * if the device does not tell fates, with EINVAL if no swap of this sequence has been exchanged yet, and with
 * ENODATA if the epoch is not the port's present one. What is not known of an epoch at its end is never known:
 * a reset, OAE_IOC_BEGIN, and the begin and the end of a mapping end an epoch.
 *
 * The driver is interrupted by a loss, and not by a delivery. While it waits, it looks for that at intervals
 * that grow from 10 us to 1 ms. A slot can be pending for as long as it likes, for example over a link that is
 * down, or because the other host makes no swap. A port that is not joined delivers and loses nothing:
 * its slots belong to the firmware when they are committed, and stay PENDING here.
 *
 * The fate of a REMOTE is its RESULT, or LOST. Until it is lost, PENDING and DELIVERED mean nothing for it.
 * Nor do they for a swap from which no slot has left the cell, because of its verb or because it was reversed.
 *
 * A loss comes if the other cell loses its power, or its link loses what it holds, or if a firmware has
 * its port leave. It concerns at most two slots and one REMOTE, and the next slot of the port reaches the
 * other host again. The driver remembers the names of the last 16 losses of an epoch. If there are more, each
 * slot up to @forgotten is LOST, since nobody remembers which of them were delivered. OAE_FATE_NEXT_LOSS
 * returns each of the names that it remembers once. Sequences are compared modulo 2^32: it is the last 2^31
 * swaps of an epoch that have a fate.
 */
struct oae_fate {
	__u32 size;
	__u32 flags;
	__u64 timeout_ns;
	__u32 sequence;
	__u32 forgotten;
	__u8 epoch;
	__u8 fate;
	__u8 reserved[6];
};

#define OAE_IOC_MAGIC 0xea
#define OAE_IOC_INFO _IO(OAE_IOC_MAGIC, 0x10) /* struct oae_info */
#define OAE_IOC_SWAP _IO(OAE_IOC_MAGIC, 0x11) /* struct oae_swap */
#define OAE_IOC_SETTLE _IO(OAE_IOC_MAGIC, 0x12) /* struct oae_swap */
#define OAE_IOC_STATS _IO(OAE_IOC_MAGIC, 0x13) /* struct oae_stats */
#define OAE_IOC_FIRMWARE_STATS _IO(OAE_IOC_MAGIC, 0x14) /* struct oae_firmware_stats */
/*
 * Begins an epoch, as an open does. EIO: an outcome of the kernel's has to be settled first, or an
 * answer of the device was lost; OAE_IOC_SWAP then begins the epoch.
 */
#define OAE_IOC_BEGIN _IO(OAE_IOC_MAGIC, 0x15) /* struct oae_epoch */
#define OAE_IOC_WORDS _IO(OAE_IOC_MAGIC, 0x16) /* struct oae_words */
#define OAE_IOC_FATE _IO(OAE_IOC_MAGIC, 0x17) /* struct oae_fate */

#endif
