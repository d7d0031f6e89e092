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

/* By what the watchdog notices that the agent does not work. */
enum watchdog_sign {
  WATCHDOG_BY_WAITING,  /* a task waits for a decision */
  WATCHDOG_BY_LIVENESS, /* the agent's liveness word does not change */
};

struct settings {
  uint64_t patience; /* of the watchdog, ns; 0: there is none */
  uint32_t rule;     /* enum validity_rule */
  uint32_t watchdog; /* enum watchdog_sign */
};

#endif
