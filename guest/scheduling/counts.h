/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler counts, which its loader prints. */
#ifndef OAE_SCHED_COUNTS_H
#define OAE_SCHED_COUNTS_H

#include "ghost.h"

struct counts {
  uint64_t sent[GHOST_TYPES];
  uint64_t lost;
  uint64_t outcomes[GHOST_OUTCOMES];
  uint64_t kicks;
  uint64_t fallbacks; /* the agent let a task wait for too long */
  uint64_t errors;  /* a task without storage: nothing can be said about it */
  char reason[128]; /* why the kernel has ended the scheduler */
};

#endif
