/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Swaps by other modules of the kernel. A module claims a port, which nobody else can open or claim
 * until it is released, and makes swaps on it, even where nothing may sleep: with interrupts off, and
 * with a lock of the scheduler held.
 *
 * A claim begins an epoch, as an open of /dev/oae<N>p<PORT> does, and its release ends the epoch. A
 * reset, an error of the link, or a sleep freezes the device for a while: swaps fail with EIO, and
 * reach no hardware. The next epoch then begins by itself. When the driver is unbound, for example
 * because the card has been pulled out, the device is gone: swaps fail with ENODEV from then on, and
 * all that is left to do is to release the claim.
 */
#ifndef OAE_KERNEL_H
#define OAE_KERNEL_H

#include <linux/types.h>
#include <uapi/linux/oae.h>

struct oae_claim;

/**
 * struct oae_client - how the owner of a claim learns what happens to its port
 * @frozen: the device is frozen, and no swap is at work any more
 * @begun: the device is back, and swaps are made in a new epoch. An offer of the firmware that stood
 *	before is void, and so is an arming; a swap that was in doubt has to be settled as always.
 *	This is not called for the epoch that the claim itself has begun.
 * @gone: the device is gone, and no swap is at work any more. Nothing else is called afterwards.
 * @offered: the port's interrupt has come: an offer of the firmware stands, if the port was armed.
 *	It may also come for another reason, so that the next swap may be answered NOT_READY all the
 *	same.
 *
 * Each may be NULL, and is given the context of the claim. The first three are called in process
 * context, one at a time, and while the driver holds locks: they may sleep, swap, settle and arm, but
 * neither claim nor release. @offered is called by the interrupt's handler, also while a swap is at
 * work on another CPU, and must not sleep. None is called any more once oae_claim_release() has
 * returned.
 */
struct oae_client {
	void (*frozen)(void *context);
	void (*begun)(void *context);
	void (*gone)(void *context);
	void (*offered)(void *context);
};

/* Status of an answer, beside OAE_SWAP_STATUS_*: it is not known whether the swap took place. */
#define OAE_CLAIM_IN_DOUBT 0xff

/**
 * struct oae_claim_answer - what came of a swap
 * @payload: if @status is OK, payload of the firmware's slot, or of the block's answer to the other
 *	verbs; if it is NOT_READY or BUSY, word 0 is the age of the firmware's sign of life in clocks
 *	of the block; undefined if the swap is in doubt
 * @sequence: sequence of the swap within its epoch
 * @reads: how many further reads it took to settle doubt, normally 0
 * @status: OAE_SWAP_STATUS_*; OK: both sides have committed, otherwise neither has; or
 *	OAE_CLAIM_IN_DOUBT
 * @verb: verb of the swap
 * @epoch: epoch of the swap
 */
struct oae_claim_answer {
	u64 payload[OAE_PAYLOAD_WORDS];
	u32 sequence;
	u32 reads;
	u8 status;
	u8 verb;
	u8 epoch;
};

/**
 * oae_claim_port - claims a port
 * @device: number of the device, <N> in /dev/oae<N>p<PORT>
 * @port: number of the port
 * @form: OAE_SWAP_FORM_STREAMED, or OAE_SWAP_FORM_PUSHED. Where the device has no streamed form, the
 *	port's swaps are pushed in either case.
 * @client: what is called; it has to last until the release
 * @context: what @client is given
 *
 * Sleeps. Returns the claim, or an error: ENODEV (there is no such port), EBUSY (it is open or
 * claimed), EIO (the device is frozen or does not answer), EINVAL (there is no such form), ENOMEM,
 * EINTR (the caller is being killed). The claim keeps the driver's module and the port's memory.
 */
struct oae_claim *oae_claim_port(unsigned int device, unsigned int port, u8 form,
				 const struct oae_client *client, void *context);

/**
 * oae_claim_release - releases a claim, and closes its port
 * @claim: the claim, for which nothing may be called any more
 *
 * Sleeps. The block commits a swap that is in doubt, if it has had its offer.
 */
void oae_claim_release(struct oae_claim *claim);

/**
 * oae_claim_swap - makes one swap
 * @claim: the claim
 * @verb: OAE_SWAP_VERB_*
 * @payload: payload of the host's slot
 * @answer: what came of it, if 0 is returned
 *
 * Never sleeps, takes no lock but the claim's own, and may be called wherever interrupts may be off,
 * also by their handlers, but not by an NMI's. Callers of one claim wait for each other; callers
 * of different claims do not. Interrupts are off during the swap. It lasts as long as a read of the device,
 * or several if the answer is lost or damaged; the driver's parameter settle_reads bounds how many.
 *
 * The swap is confirmed at once if it is committed. If it is in doubt, the port makes no further swap
 * until oae_claim_settle() has returned its outcome.
 *
 * A claim is not told what becomes of slots that leave the cell by a joined port. If some are lost, the port
 * passes on no other until a swap is answered NOT_READY, which acknowledges the loss.
 *
 * Returns 0, EINVAL (there is no such verb), EOPNOTSUPP (the device does not have it), EINPROGRESS (an
 * earlier swap has to be settled first), EIO (the device is frozen) or ENODEV (it is gone). Nothing was offered
 * where it returns an error.
 */
int oae_claim_swap(struct oae_claim *claim, u8 verb, const u64 payload[OAE_PAYLOAD_WORDS],
		   struct oae_claim_answer *answer);

/**
 * oae_claim_settle - asks for the outcome of the swap in doubt
 * @claim: the claim
 * @answer: what came of it, if 0 is returned: OAE_CLAIM_IN_DOUBT if that is still not known
 *
 * May be called wherever oae_claim_swap() may be. A reset settles the swap by the block's journal, and
 * the outcome is then kept until it is asked for, also if the device is gone by then.
 *
 * Returns 0, ENODATA (no swap is in doubt), EIO or ENODEV.
 */
int oae_claim_settle(struct oae_claim *claim, struct oae_claim_answer *answer);

/**
 * oae_claim_arm - asks for a call of @offered once an offer of the firmware stands
 * @claim: the claim
 *
 * The call comes once, and right away if an offer stands already. May be called wherever
 * oae_claim_swap() may be. Returns 0, EIO or ENODEV.
 */
int oae_claim_arm(struct oae_claim *claim);

/**
 * oae_claim_set_cpu - has a CPU get the port's interrupt
 * @claim: the claim
 * @cpu: the CPU, which must be online
 *
 * Sleeps. The interrupt may come to another CPU once more, and also after this CPU has gone offline.
 * Returns 0, EOPNOTSUPP (the port shares its interrupt with others), EIO, ENODEV, or another error.
 */
int oae_claim_set_cpu(struct oae_claim *claim, unsigned int cpu);

#endif
