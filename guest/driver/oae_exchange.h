/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_EXCHANGE_H
#define OAE_EXCHANGE_H

#include <linux/compiler_types.h>
#include <linux/types.h>

/* How the answer comes to the host. */
enum oae_form {
	OAE_PUSHED, /* into its memory, before the read completes */
	OAE_STREAMED, /* in the read's completion */
};

/* The host's side of a port's bilateral swap. The caller holds a lock. */
struct oae_exchange {
	void __iomem *page; /* the port's page of BAR 2 */
	void __iomem *stream; /* its page of BAR 4, write-combining; NULL: no streamed form */
	__le64 *cell; /* the slot in memory that answers are pushed to */
	const __u64 *generation; /* NULL in the kernel: a word that is as below for as long */
	bool (*is_interrupted)(void); /* NULL: nothing interrupts it */
	__u64 present; /* as the pages are the port's; a read behind which it is not, has failed */
	u32 sequence; /* of the last swap that the host has committed in this epoch */
	u8 epoch;
	u8 attempt; /* how often the next swap was offered: tells late copies of an offer from it */
	u64 confirmation; /* names that swap as the block wants to be told, 0 before the first */
	bool doubt; /* it is not known whether the next swap took place */
	bool reversing; /* and it is to be settled as reversed: nothing else counts any more */
	u8 verb; /* of the swap in doubt */
	u8 flags;
	u8 form; /* enum oae_form of the swap in doubt */
};

enum oae_outcome {
	OAE_COMMITTED,
	OAE_NOT_TAKEN, /* nothing was exchanged; the answer's status says why */
	OAE_REVERSED, /* settled as reversed, whatever had been exchanged; its number is used up */
	OAE_LOST, /* the card has lost power, and with it all that it knew of the epoch */
	OAE_IN_DOUBT,
};

struct oae_answer {
	u64 slot[8]; /* as the firmware or the block made it; zero beyond slice 0 if not whole */
	u32 reads; /* further reads that it took */
	u64 stored, issued, answered, committed; /* ticks of oae_clock() */
};

/* Takes up an epoch. */
void oae_exchange_begin(struct oae_exchange *exchange, u8 epoch, u32 sequence);

/*
 * Offers a slot and reads the answer; confirms at once unless flags say that more follows. If the
 * answer is in doubt, asks again up to @reads times.
 */
enum oae_outcome oae_exchange_swap(struct oae_exchange *exchange, enum oae_form form, u8 verb,
				   u8 flags, const u64 *payload, unsigned int reads,
				   struct oae_answer *answer);

/*
 * Asks again up to @reads times for the swap in doubt, in its form; where it is to be reversed,
 * tells the block so each time. Asks no more than once if it is interrupted.
 */
enum oae_outcome oae_exchange_settle(struct oae_exchange *exchange, unsigned int reads,
				     struct oae_answer *answer);

/* From now on the swap in doubt is only ever settled as reversed. */
void oae_exchange_reverse(struct oae_exchange *exchange);

/*
 * Confirms what the host has committed last; does no harm if that is confirmed already. Needs no
 * lock: an interrupt handler may call it.
 */
void oae_exchange_confirm(struct oae_exchange *exchange);

#endif
