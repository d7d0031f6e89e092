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
 * struct oae_swap of the interface, which whoever includes this has included, as an exchange knows
 * it: for the driver, and for a process that has its port mapped.
 */

/* 0: the swap can be asked for; else what its request fails with. */
static inline int oae_swap_check(const struct oae_swap *swap, const struct oae_exchange *exchange,
				 u64 features)
{
	unsigned int i;

	if (swap->verb < OAE_SWAP_VERB_SWAP || swap->verb > OAE_SWAP_VERB_SEND ||
	    swap->flags & ~OAE_SWAP_FLAG_MORE || swap->form > OAE_SWAP_FORM_STREAMED)
		return -EINVAL;
	for (i = 0; i < sizeof(swap->reserved); i++)
		if (swap->reserved[i])
			return -EINVAL;
	if (swap->form == OAE_SWAP_FORM_STREAMED && !exchange->stream)
		return -EOPNOTSUPP;
	if (!(OAE_GET(features, OAE_HOST_FEATURES_VERBS) >> swap->verb & 1))
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
	swap->store_ns = oae_clock_to_ns(answer->answered - answer->stored);
	swap->read_ns = oae_clock_to_ns(answer->answered - answer->issued);
	swap->commit_ns = oae_clock_to_ns(answer->committed - answer->stored);
	swap->reads += answer->reads;
}

/* The swap in doubt, as far as the exchange remembers it. */
static inline void oae_swap_recall(struct oae_swap *swap, const struct oae_exchange *exchange)
{
	memset(swap, 0, sizeof(*swap));
	swap->verb = exchange->verb;
	swap->flags = exchange->flags;
	swap->form = exchange->form;
}

#endif
