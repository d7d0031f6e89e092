/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_SWAP_H
#define OAE_SWAP_H

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

#include "oae_clock.h"
#include "oae_exchange.h"
#include "oae_registers.h"

/*
 * Converts between struct oae_swap of the interface, which the includer has included, and what an
 * exchange knows. The driver uses this, and a process that has its port mapped.
 */

/* What a swap takes, in ns. Debugfs shows it; it is no part of the interface. */
struct oae_durations {
	u64 store_ns; /* from the first store of the offer to the answer */
	u64 read_ns; /* from the issue of the read to the answer */
	u64 commit_ns; /* from the first store to the answer found valid, which commits the host */
};

/* 0: there is the verb, and the device has it; otherwise the error that its request fails with. */
static inline int oae_verb_check(u8 verb, u64 features)
{
	if (verb < OAE_SWAP_VERB_SWAP || verb > OAE_SWAP_VERB_RESULT)
		return -EINVAL;
	return OAE_GET(features, OAE_HOST_FEATURES_VERBS) >> verb & 1 ? 0 : -EOPNOTSUPP;
}

/* 0: the swap can be asked for; otherwise the error that its request fails with. */
static inline int oae_swap_check(const struct oae_swap *swap, const struct oae_exchange *exchange,
				 u64 features)
{
	int ret;

	if (swap->flags & ~OAE_SWAP_FLAG_MORE || swap->form > OAE_SWAP_FORM_STREAMED)
		return -EINVAL;
	ret = oae_verb_check(swap->verb, features);
	if (ret)
		return ret;
	if (swap->form == OAE_SWAP_FORM_STREAMED && !exchange->stream)
		return -EOPNOTSUPP;
	return 0;
}

static inline void oae_swap_fill(struct oae_swap *swap, const struct oae_answer *answer)
{
	u64 header = answer->slot[0];

	memcpy(swap->answer, &answer->slot[1], sizeof(swap->answer));
	swap->status = OAE_GET(header, OAE_SLOT_HEADER_STATUS);
	swap->epoch = OAE_GET(header, OAE_SLOT_HEADER_EPOCH);
	swap->sequence = OAE_GET(header, OAE_SLOT_HEADER_SEQUENCE);
	swap->reads += answer->reads;
}

static inline struct oae_durations oae_swap_durations(const struct oae_answer *answer)
{
	return (struct oae_durations){
		.store_ns = oae_clock_to_ns(answer->answered - answer->stored),
		.read_ns = oae_clock_to_ns(answer->answered - answer->issued),
		.commit_ns = oae_clock_to_ns(answer->committed - answer->stored),
	};
}

/* Fills in the swap in doubt, as far as the exchange remembers it. */
static inline void oae_swap_recall(struct oae_swap *swap, const struct oae_exchange *exchange)
{
	swap->verb = exchange->verb;
	swap->form = exchange->form;
	swap->tries = 0;
	swap->reads = 0;
}

#endif
