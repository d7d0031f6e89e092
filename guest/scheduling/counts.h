/* SPDX-License-Identifier: GPL-2.0 */
/* What the scheduler counts, which its loader prints. */
#ifndef OAE_SCHED_COUNTS_H
#define OAE_SCHED_COUNTS_H

#include "ghost.h"

/* Fallbacks of which more is known than their number. */
#define FALLBACKS_TOLD 8

/* The agent did not work, and the scheduler did without it. Times are of CLOCK_MONOTONIC in ns, and
 * 0 for what has not happened. */
struct fallback {
  uint64_t sign;        /* enum oae_sched_sign, by which that was noticed */
  uint64_t noticed;     /* when that was seen */
  uint64_t begun;       /* when tasks began to take turns */
  uint64_t waited;      /* how long a task had waited for a decision by then, at most */
  uint64_t resumed;     /* when the agent had begun anew */
  uint64_t decided;     /* when it decided the first time after that */
  uint64_t undelivered; /* messages and ends that the agent had not got, at most; UINT64_MAX: unknown */
};

struct counts {
  uint64_t sent[GHOST_TYPES];
  uint64_t lost;
  uint64_t outcomes[GHOST_OUTCOMES];
  uint64_t kicks;
  uint64_t fallbacks;
  struct fallback fallback[FALLBACKS_TOLD]; /* the last ones, by number modulo this */
  uint64_t errors;  /* a task without storage: nothing can be said about it */
  char reason[128]; /* why the kernel has ended the scheduler */
};

#endif
