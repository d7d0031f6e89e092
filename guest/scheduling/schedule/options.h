/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `schedule`. */
#ifndef SCHEDULE_OPTIONS_H
#define SCHEDULE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy.h"
#include "settings.h"

struct options {
  struct policy_config policy;
  const char* transport;    /* to an agent elsewhere; NULL: it is a thread of this program */
  unsigned agent_cpu;       /* of that thread */
  const char* trace;        /* the file, or NULL */
  uint64_t records;         /* of the trace: room for them */
  struct settings settings; /* of the scheduler */
  bool help;
  char** command; /* ends with NULL */
};

extern const char options_help[];

/* Reads the command line of a machine with this number of CPUs. If it is wrong, says so on stderr
 * and returns false. */
bool options_read(int argc, char** argv, unsigned cpus, struct options* options);

#endif
