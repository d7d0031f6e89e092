/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Apache-2.0 */
/*
 * Interface of the OAE swap driver: one character device for each swap port, /dev/oae<N>p<PORT>.
 *
 * A port has one opener at a time; another open fails with EBUSY. An open begins a new epoch, the
 * last close ends it. poll() says POLLIN while an offer of the firmware stands, so that a swap
 * would not be answered NOT_READY for want of one.
 *
 * Errors of every request: ENODEV the device is unbound or gone, EIO it is being reset or does not
 * answer, EFAULT bad address, EINVAL a flag, a verb, a form or a reserved field that is not known
 * here.
 * Times are nanoseconds of the host's clock.
 */
#ifndef _UAPI_LINUX_OAE_H
#define _UAPI_LINUX_OAE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define OAE_ABI_VERSION 1

#define OAE_PAYLOAD_WORDS 6

/**
 * struct oae_info - what a port is part of
 * @abi: OAE_ABI_VERSION of the driver
 * @port: number of this port
 * @ports: ports of the device
 * @block_version: version of the block's register map
 * @clock_khz: frequency of the block's clock in kHz
 * @vectors: MSI-X vectors that the driver was given
 * @features: word of the same name of the register map
 * @pci_address: where the device is, as "0000:00:00.0", terminated
 */
struct oae_info {
	__u32 abi;
	__u32 port;
	__u32 ports;
	__u32 block_version;
	__u32 clock_khz;
	__u32 vectors;
	__u64 features;
	char pci_address[32];
};

/* Verbs, numbered as in a slot's header. */
#define OAE_SWAP_VERB_SWAP 1
#define OAE_SWAP_VERB_CAS 2
#define OAE_SWAP_VERB_FETCH_ADD 3
#define OAE_SWAP_VERB_MULTI 4
#define OAE_SWAP_VERB_SEND 5

/*
 * CAS, FETCH_ADD and MULTI are about the words of 64 bits in the block, which all ports and the
 * firmware share. Up to four steps see the words as they are and are done at once, all if every
 * comparison holds, else none; of a word, one step may change it.
 *
 * MULTI: bits 16 i to 16 i + 11 of @offer[0] name the word of step i, the next three what it does,
 * and @offer[1 + i] is its operand. CAS: @offer[0] names the word, @offer[1] is what it must be,
 * @offer[2] what to write. FETCH_ADD: @offer[0] names the word, @offer[1] is what to add.
 *
 * In the answer, bit 0 of @answer[0] is 1 if the steps are done, and @answer[1 + i] is what step i
 * has found. Status BUSY: another swap holds one of the words, and nothing was done. BAD_VERB: no
 * such word or step.
 *
 * SEND: the firmware gets @offer, once, and need not have offered anything.
 */
#define OAE_STEPS_MAX 4
#define OAE_STEP_READ 1
#define OAE_STEP_WRITE 2
#define OAE_STEP_ADD 3
#define OAE_STEP_COMPARE 4

/* More swaps follow: the next one confirms this one. */
#define OAE_SWAP_FLAG_MORE 1

/*
 * How the answer comes: pushed, by DMA into memory, which works on every CPU and wants the device to
 * be a bus master; or streamed, in the completion of a 64-byte load from a write-combining mapping,
 * which a CPU without such loads makes of eight.
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
 * @offer: in: payload of the host's slot
 * @answer: out: payload of the firmware's slot, or of the block's answer to the other verbs, if
 *	@status is OK; if it is NOT_READY or BUSY, word 0 is the age of the firmware's sign of life in clocks of the block
 * @verb: in: OAE_SWAP_VERB_*
 * @flags: in: OAE_SWAP_FLAG_*
 * @status: out: OAE_SWAP_STATUS_*; OK: both sides have committed, else: neither has
 * @epoch: out: epoch of the swap
 * @sequence: out: sequence of the swap within its epoch
 * @timeout_ns: in: how long to wait for an offer of the firmware; 0, or a file opened with
 *	O_NONBLOCK: not at all
 * @store_ns: out: from the first store of the offer to the answer
 * @read_ns: out: from the issue of the read to the answer
 * @commit_ns: out: from the first store to the answer found valid, which commits the host
 * @tries: out: how many times the offer was made
 * @reads: out: how many more reads it took to settle doubt, 0 normally
 * @form: in: OAE_SWAP_FORM_*
 * @reserved: zero
 *
 * The times are those of the last try. OAE_IOC_SWAP fails with EOPNOTSUPP if the device does not
 * have the form or the verb; it fails with EIO if the answer stays in doubt,
 * and until OAE_IOC_SETTLE has settled that; with EINTR if a signal ended the wait: nothing has
 * been exchanged then. OAE_IOC_SETTLE fills in what is marked "out" with the outcome of the swap
 * in doubt, or fails with EIO (ask again later) or ENODATA (nothing is in doubt).
 *
 * OAE_IOC_REVERSE is OAE_IOC_SETTLE for who wants no swap that may have taken place: the outcome is
 * REVERSED, and neither side has committed, unless a reset had to settle it before. Once it was asked
 * for, OAE_IOC_SETTLE does the same. HISTORY_LOST: the card has lost power, and with it its side.
 */
struct oae_swap {
	__u64 offer[OAE_PAYLOAD_WORDS];
	__u64 answer[OAE_PAYLOAD_WORDS];
	__u8 verb;
	__u8 flags;
	__u8 status;
	__u8 epoch;
	__u32 sequence;
	__u64 timeout_ns;
	__u64 store_ns;
	__u64 read_ns;
	__u64 commit_ns;
	__u32 tries;
	__u32 reads;
	__u8 form;
	__u8 reserved[7];
};

/**
 * struct oae_stats - counters of the block and of the driver
 * @state: state of the port's last swap, numbered as port_state of the register map
 * @epoch: present epoch
 * @offered: 1 if an offer of the firmware stands
 * @reserved: zero
 * @sequence: sequence of the last swap that was exchanged or reversed, 0 before the first
 * @committed: swaps committed since the card's power-up
 * @not_ready: answers NOT_READY since then
 * @rejected: offers of the host rejected since then
 * @liveness: the firmware's sign of life
 * @liveness_age: clocks of the block since it changed, saturating
 * @doubts: swaps whose answer was in doubt since the driver was loaded
 * @settled: of these, settled
 * @signals: interrupts of the port's vector since the driver was loaded
 */
struct oae_stats {
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
};

/**
 * struct oae_firmware_stats - the firmware's own count of this port's swaps
 * @exchanged: swaps it has seen exchanged
 * @committed: swaps it has seen committed
 * @reversed: swaps it was told reversed
 * @bad_offers: offers of its own that the block refused
 * @liveness: its sign of life
 * @mode: 0 it sleeps until an interrupt, 1 it polls
 *
 * Asked for over the mailbox. ETIMEDOUT: no reply; EPROTO: a reply that is an error.
 */
struct oae_firmware_stats {
	__u64 exchanged;
	__u64 committed;
	__u64 reversed;
	__u64 bad_offers;
	__u64 liveness;
	__u64 mode;
};

#define OAE_READ_BENCH_MAX 65536

/**
 * struct oae_read_bench - times 8-byte reads of the port's status register
 * @samples: in: address of @count words of 64 bits that get the time of each read, from its issue
 *	to its answer
 * @count: in: how many reads, 1 to OAE_READ_BENCH_MAX
 * @reserved: zero
 */
struct oae_read_bench {
	__u64 samples;
	__u32 count;
	__u32 reserved;
};

/*
 * mmap() of a port's file, shared, a page of OAE_MAP_SIZE bytes at each of these offsets: what its
 * owner needs to swap without the kernel, by the rules of the register map. While one of them is
 * mapped, OAE_IOC_SWAP, OAE_IOC_SETTLE and OAE_IOC_REVERSE fail with EBUSY; all else works.
 *
 * OAE_MAP_PORT: the port's page of BAR 2, uncached. OAE_MAP_STREAM: its page of BAR 4,
 * write-combining. OAE_MAP_CELL: struct oae_cell, memory that the device writes.
 *
 * mmap() fails with EINVAL (another offset or size, or private), EACCES (to be executed), EOPNOTSUPP
 * (no streamed form), EBUSY (another process has mapped the port) and EIO (a swap is in doubt: settle
 * it first). A mapping is not inherited by a child, and does not grow.
 *
 * The first mapping and the end of the last one end the epoch: OAE_IOC_BEGIN begins one for the
 * process, the next OAE_IOC_SWAP behind the last unmapping one for the kernel. Either rolls forward what is left.
 *
 * A reset, an error of the link, a sleep and an unbinding take the pages away: memory stands in for
 * them, all ones at first, until the device is back; for good, if it is unbound. @generation of
 * struct oae_cell is not what OAE_IOC_BEGIN has told then, and never again; a process that has read
 * an answer looks there behind it, as what stands in gives back what was stored. The epoch of the
 * process ends with the reset, but can be settled in the new pages until OAE_IOC_BEGIN.
 */
#define OAE_MAP_PORT 0x0000
#define OAE_MAP_STREAM 0x1000
#define OAE_MAP_CELL 0x2000
#define OAE_MAP_SIZE 0x1000

/**
 * struct oae_cell - the page of OAE_MAP_CELL; little-endian
 * @slot: what was pushed last
 * @generation: how often the pages have come to stand for the port; all ones: they do not
 * @confirmation: the process leaves here what it has written to the port's CONFIRM last, or left to
 *	an offer to come: the kernel writes it when the device asks for it
 */
struct oae_cell {
	__le64 slot[8];
	__u64 generation;
	__u64 confirmation;
};

/**
 * struct oae_epoch - an epoch that has begun
 * @generation: of struct oae_cell
 * @sequence: sequence of its last swap: the next one is this + 1
 * @epoch: its number
 * @reserved: zero
 */
struct oae_epoch {
	__u64 generation;
	__u32 sequence;
	__u8 epoch;
	__u8 reserved[3];
};

#define OAE_IOC_MAGIC 0xea
#define OAE_IOC_INFO _IOR(OAE_IOC_MAGIC, 0x00, struct oae_info)
#define OAE_IOC_SWAP _IOWR(OAE_IOC_MAGIC, 0x01, struct oae_swap)
#define OAE_IOC_SETTLE _IOR(OAE_IOC_MAGIC, 0x02, struct oae_swap)
#define OAE_IOC_STATS _IOR(OAE_IOC_MAGIC, 0x03, struct oae_stats)
#define OAE_IOC_FIRMWARE_STATS _IOR(OAE_IOC_MAGIC, 0x04, struct oae_firmware_stats)
#define OAE_IOC_READ_BENCH _IOW(OAE_IOC_MAGIC, 0x05, struct oae_read_bench)
#define OAE_IOC_REVERSE _IOR(OAE_IOC_MAGIC, 0x06, struct oae_swap)
/* Begins an epoch, as an open does. EIO: a swap of the kernel's is in doubt. */
#define OAE_IOC_BEGIN _IOR(OAE_IOC_MAGIC, 0x07, struct oae_epoch)

#endif
