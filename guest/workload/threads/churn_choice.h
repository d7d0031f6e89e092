/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to which worker: a choice that a seed decides. */
#ifndef WORKLOAD_CHURN_CHOICE_H
#define WORKLOAD_CHURN_CHOICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum churn_kind {
  CHURN_DIE,      /* the thread ends, and another one takes its place */
  CHURN_AFFINITY, /* it may run on all CPUs of the workers but one */
  CHURN_CLASS,    /* it leaves its scheduling class and comes back */
  CHURN_NICE,     /* it gets another nice value */
  CHURN_KINDS
};

enum { CHURN_ALL = (1 << CHURN_KINDS) - 1, CHURN_NICE_VALUES = 10 };

extern const char* const churn_names[CHURN_KINDS];

struct churn_choice {
  enum churn_kind kind;
  unsigned worker;
  uint64_t cpus; /* CHURN_AFFINITY */
  int nice;      /* CHURN_NICE: from 0 to CHURN_NICE_VALUES - 1 */
};

/* Returns choice `index` of a seed, among these kinds (a bit each, at least one), workers and
 * CPUs. */
struct churn_choice churn_choose(uint64_t seed, uint64_t index, unsigned kinds, unsigned workers,
                                 uint64_t cpus);

#ifdef __cplusplus
}
#endif

#endif
