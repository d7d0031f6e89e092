/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that `schedule --trace` writes: this head, and then struct oae_sched_record for each
 * record, in the order in which they began. All numbers are little-endian.
 */
#ifndef OAE_SCHED_TRACE_FILE_H
#define OAE_SCHED_TRACE_FILE_H

#include <linux/oae_sched.h>

#include "agent.h"
#include "counts.h"
#include "port_layout.h"
#include "settings.h"

#define TRACE_FILE_MAGIC "OAESCHED"

struct trace_file_head {
  char magic[8];
  uint32_t head_bytes;   /* size of this struct */
  uint32_t record_bytes; /* size of a record */
  uint64_t records;
  uint64_t overflow; /* records for which there was no room; unless 0, the trace is worth nothing */
  char transport[16];  /* ends with a zero */
  uint32_t policy;     /* enum policy_kind */
  uint32_t prestage;   /* the share of decisions that are, in percent */
  uint32_t rule;       /* enum validity_rule */
  uint32_t sign;       /* enum watchdog_sign */
  uint64_t cpus;       /* bit n: CPU n runs the tasks */
  uint64_t time_slice; /* ns; of policies with one */
  uint64_t detached;   /* CLOCK_MONOTONIC in ns: from then on, the kernel runs tasks by itself */
  uint64_t patience;   /* of the watchdog, ns; 0: there is none */
  uint64_t counted;    /* 1: the last agent has said what it has counted; 0: its counts are zeros */
  struct counts kernel;
  struct agent_counts agent;
  struct port_counts ports; /* zeros, unless swap ports lead to the agent */
};

#endif
