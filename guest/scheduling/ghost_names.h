/* SPDX-License-Identifier: Apache-2.0 */
/* The names of ghOSt's messages, and of the ends of decisions. */
#ifndef GHOST_NAMES_H
#define GHOST_NAMES_H

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

#endif
