/* SPDX-License-Identifier: GPL-2.0 */
/* What the loader of the scheduler sets. */
#ifndef OAE_SCHED_SETTINGS_H
#define OAE_SCHED_SETTINGS_H

#include <stdint.h>

/* Until when a decision for a task counts: README.md. */
enum validity_rule {
  RULE_BARRIER, /* until another message about the task is sent */
  RULE_OWNER,   /* for as long as the task waits, since the agent owns it until a CPU has it */
};

struct settings {
  uint64_t patience; /* how long a task may wait for a decision, ns; 0: forever */
  uint32_t rule;     /* enum validity_rule */
  uint32_t reserved;
};

#endif
