/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CLAIMER_H
#define CLAIMER_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/types.h>

#include "oae_kernel.h"

#define CLAIMER_PORTS 64

/* What has happened on a port since it was claimed. */
struct claimer_counts {
	atomic64_t committed; /* swaps, also those that were in doubt for a while */
	atomic64_t not_ready;
	atomic64_t busy;
	atomic64_t doubts;
	atomic64_t other; /* any other outcome */
	atomic64_t frozen_swaps; /* that failed because the device was frozen */
	atomic64_t gone_swaps;
	atomic64_t refused_swaps; /* that failed because of a doubt */
	atomic64_t failed; /* with any other error */
	atomic64_t wrong; /* answers that are not what they must be */
	atomic64_t stuck; /* offers that were awaited in vain */
	atomic64_t frozen;
	atomic64_t begun;
	atomic64_t gone;
	atomic64_t offered;
	atomic64_t elsewhere; /* of these, that came to another CPU than they should */
};

struct claimer_port {
	struct oae_claim *claim; /* or NULL */
	int cpu; /* which gets the interrupt; -1: any */
	struct completion offered;
	struct claimer_counts counts;
	/* Of a port that one CPU alone swaps on */
	u64 words; /* how many different words were offered */
	u64 committed[2]; /* the last words that were */
	u32 sequence; /* of the last swap */
	u8 epoch;
};

extern struct claimer_port claimer_ports[CLAIMER_PORTS];

/*
 * Where swaps are made. Except for the last, interrupts are off, and except for the last two, it is
 * in a thread.
 */
enum claimer_context {
	CLAIMER_DISABLED,
	CLAIMER_REGISTERS, /* and the kernel is using the vector registers */
	CLAIMER_SWITCH, /* and the scheduler has locked its runqueue */
	CLAIMER_INTERRUPT, /* a handler of an interrupt */
	CLAIMER_CONTEXTS,
};

int claimer_load_init(void);
void claimer_load_exit(void);
/*
 * On each CPU, a thread begins to make so many rounds: two swaps on the port of the same number, and a
 * message by @shared.
 */
int claimer_load_start(u64 rounds, unsigned int shared);
/* Waits until they are made, or the device is gone; @now: until each is done with its round. */
void claimer_load_stop(bool now);
/* How many rounds were made in each context. */
u64 claimer_load_made(enum claimer_context context);

#endif
