/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What transports to an agent on a device share: the function of queues of that device carries
 * requests to the agent, and its interrupts are the agent's calls.
 */
#ifndef OAE_SCHED_CALLS_H
#define OAE_SCHED_CALLS_H

#include <linux/range.h>
#include <linux/types.h>
#include <uapi/linux/oae_sched.h>

#include "queue_layout.h"

typedef void oae_sched_called(unsigned int cpu, enum queue_call call);

bool oae_sched_calls_known(void);
int oae_sched_calls_begin(oae_sched_called *called, struct range *memory);
void oae_sched_calls_end(void);
int oae_sched_calls_open(u64 *open, u64 cpus);
void oae_sched_calls_close(void);
int oae_sched_calls_request(struct queue_control *control);
void *oae_sched_calls_page(dma_addr_t *address);
int oae_sched_calls_clear_page(void);
u64 oae_sched_calls_liveness(void);
int oae_sched_calls_finish(struct oae_sched_counts *counts);

#endif
