/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_EXCHANGE_H
#define OAE_EXCHANGE_H

#include <linux/compiler_types.h>
#include <linux/types.h>

/* The path by which an answer reaches the host. */
enum oae_form {
	OAE_PUSHED, /* The device writes it into host memory before the read completes. */
	OAE_STREAMED, /* It is in the completion of the read. */
};

/* The host's side of the bilateral swaps of one port. The caller holds a lock. */
struct oae_exchange {
	void __iomem *page; /* the port's page of BAR 2 */
	void __iomem *stream; /* its page of BAR 4, write-combining; NULL: no streamed form */
	__le64 *buffer; /* the slot of the answer buffer, which pushed answers are written to */
	/*
	 * Where the pages are mapped into a process, a word that equals @present for as long as they
	 * show the port. If it differs after a read, the read has failed. NULL in the kernel.
	 */
	const __u64 *generation;
	__u64 present;
	bool (*is_interrupted)(void); /* NULL: nothing interrupts it */
	u32 sequence; /* of the last swap of this epoch that is settled, 0 before the first */
	u8 epoch;
	u8 attempt; /* how many offers of the next swap were refused; late copies of those have another */
	u64 confirmation; /* the word that confirms the last swap to the block, 0 before the first */
	bool doubt; /* It is not known whether the next swap took place. */
	bool reversing; /* The swap in doubt is to be settled as reversed, and no other outcome counts. */
	u8 verb; /* of the swap in doubt */
	u8 flags;
	u8 form; /* enum oae_form of the swap in doubt */
};

enum oae_outcome {
	OAE_COMMITTED,
	OAE_NOT_TAKEN, /* Nothing was exchanged, and the answer's status says why. */
	OAE_REVERSED, /*
		       * The swap is reversed, and its sequence is used up. Nobody needs to have
		       * asked for it: an offer that the block has not seen may still arrive.
		       */
	OAE_LOST, /* The card has lost its power, and with it all that it knew of the epoch. */
	OAE_IN_DOUBT,
};

struct oae_answer {
	u64 slot[8]; /* from the firmware or the block; only slice 0 is valid if it came damaged */
	u32 reads; /* how many further reads it took */
	u64 stored, issued, answered, committed; /* when, in ticks of oae_clock() */
};

/* The sequence of the next swap. 0 is never used, since it stands for no swap. */
static inline u32 oae_exchange_next(const struct oae_exchange *exchange)
{
	return exchange->sequence + 1 ?: 1;
}

/* Starts with the first swap of an epoch, behind the given sequence. */
void oae_exchange_begin(struct oae_exchange *exchange, u8 epoch, u32 sequence);

/*
 * Starts with the first swap of the epoch that opening the port has begun. @before and @after are the
 * port's states before and after that, as read from the device. Returns false unless they name two
 * successive epochs, so that neither a read that was lost or damaged nor an open that was lost is believed.
 */
bool oae_exchange_open(struct oae_exchange *exchange, u64 before, u64 after);

/*
 * Offers a slot and reads the answer. A committed swap is confirmed at once, unless @flags say that
 * more swaps follow. An answer in doubt is asked for again up to @reads times.
 */
enum oae_outcome oae_exchange_swap(struct oae_exchange *exchange, enum oae_form form, u8 verb,
				   u8 flags, const u64 *payload, unsigned int reads,
				   struct oae_answer *answer);

/*
 * Asks for the outcome of the swap in doubt, up to @reads times and in the form of that swap, but only
 * once if the caller is interrupted. Each time it has the block reverse the swap first, if that was
 * decided. A swap that the block has committed by then stays committed.
 */
enum oae_outcome oae_exchange_settle(struct oae_exchange *exchange, unsigned int reads,
				     struct oae_answer *answer);

/* Decides that the swap in doubt is settled as reversed. */
void oae_exchange_reverse(struct oae_exchange *exchange);

/* Demands once that the block reverse the swap in doubt. Only oae_exchange_settle() says what came of it. */
void oae_exchange_demand_reversal(struct oae_exchange *exchange);

/*
 * Confirms the last swap that the host has committed. Doing so again does no harm. It needs no lock, so
 * that an interrupt handler may call it.
 */
void oae_exchange_confirm(struct oae_exchange *exchange);

#endif
