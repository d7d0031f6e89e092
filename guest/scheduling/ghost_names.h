/* SPDX-License-Identifier: Apache-2.0 */
/* The names of ghOSt's messages, of the ends of decisions, and of the signs that an agent does not
 * work. */
#ifndef GHOST_NAMES_H
#define GHOST_NAMES_H

#include <linux/oae_sched.h>

#include "ghost.h"

/* By ghost_type_index(). */
static const char* const ghost_message_names[GHOST_TYPES] = {"DEAD",
                                                             "BLOCKED",
                                                             "WAKEUP",
                                                             "NEW",
                                                             "PREEMPT",
                                                             "YIELD",
                                                             "DEPARTED",
                                                             "SWITCHTO",
                                                             "AFFINITY_CHANGED",
                                                             "ON_CPU",
                                                             "PRIORITY_CHANGED",
                                                             "LATCH_FAILURE",
                                                             "TICK",
                                                             "TIMER_EXPIRED",
                                                             "NOT_IDLE",
                                                             "AVAILABLE",
                                                             "BUSY",
                                                             "AGENT_BLOCKED",
                                                             "AGENT_WAKEUP"};

/* By ghost_outcome_index(). */
static const char* const ghost_outcome_names[GHOST_OUTCOMES] = {
    "COMPLETE",      "ABORTED",          "TARGET_ONCPU",
    "TARGET_STALE",  "TARGET_NOT_FOUND", "TARGET_NOT_RUNNABLE",
    "AGENT_STALE",   "CPU_OFFLINE",      "CPU_UNAVAIL",
    "INVALID_FLAGS", "INVALID_TARGET",   "NOT_PERMITTED",
    "INVALID_CPU",   "NO_AGENT",         "UNSUPPORTED_VERSION",
    "POISONED"};

/* By enum oae_sched_sign. */
static const char* const sched_sign_names[OAE_SCHED_SIGNS] = {
    "watchdog", "liveness", "silence", "doubt", "all_ones", "reset", "removal"};

#endif
