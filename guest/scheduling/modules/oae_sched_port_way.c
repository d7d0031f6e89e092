// SPDX-License-Identifier: GPL-2.0
/* A swap port that a CPU owns. */
#include <linux/err.h>
#include <linux/printk.h>

#include "oae_sched_port.h"

int oae_sched_way_claim(struct oae_sched_way *way, unsigned int port, u8 form)
{
	static const struct oae_client client;
	static bool said; /* since the last claim that succeeded: a start may be tried again and again */
	struct oae_claim *claim = oae_claim_port(0, port, form, &client, NULL);

	if (IS_ERR(claim)) {
		if (!said)
			pr_err("oae_sched_port: port %u cannot be claimed: %pe\n", port, claim);
		said = true;
		return PTR_ERR(claim);
	}
	said = false;
	way->claim = claim;
	return 0;
}

void oae_sched_way_release(struct oae_sched_way *way)
{
	if (way->claim)
		oae_claim_release(way->claim);
	*way = (struct oae_sched_way){};
}

int oae_sched_way_exchange(struct oae_sched_way *way, u8 verb, const u64 *words,
			   struct port_counts *counts, struct oae_claim_answer *answer)
{
	int ret = 0;

	if (way->doubt) {
		ret = oae_claim_settle(way->claim, answer);
		if (!ret && answer->status == OAE_CLAIM_IN_DOUBT) {
			oae_sched_notice(OAE_SCHED_DOUBT);
			return answer->status;
		}
	}
	/* An answer to a swap in doubt counts. If that has not taken place, it is made now. */
	if (!way->doubt || ret == -ENODATA || (!ret && answer->status != OAE_SWAP_STATUS_OK))
		ret = oae_claim_swap(way->claim, verb, words, answer);
	if (ret == -EINPROGRESS)
		way->doubt = true;
	else if (ret)
		oae_sched_notice(ret == -ENODEV ? OAE_SCHED_REMOVAL : OAE_SCHED_RESET);
	if (ret)
		return -1;
	way->doubt = answer->status == OAE_CLAIM_IN_DOUBT;
	counts->doubts += way->doubt;
	return answer->status;
}
