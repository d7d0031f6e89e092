/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `serve`. */
#ifndef SERVE_OPTIONS_H
#define SERVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "churn_choice.h"
#include "load_function.h"
#include "saturation.h"
#include "service.h"

#ifdef __cplusplus
extern "C" {
#endif

enum command { COMMAND_SERVE, COMMAND_FILL, COMMAND_SATURATE, COMMAND_HELP };

enum { WORKERS_MAX = 1024, CPUS_MAX = 64, RATE_MAX = 100000000 };

struct options {
  enum command command;
  const char* device; /* the function's folder in sysfs; NULL: it is looked for */
  struct load load;
  struct saturation saturation; /* rates and count of the load come from it */
  uint64_t ring;                /* entries */
  const struct service* service;
  struct service_options service_options;
  unsigned workers; /* 0: dispatchers serve */
  uint64_t rest_ns;
  uint64_t dispatcher_cpus;
  uint64_t worker_cpus; /* 0: those of the process but the dispatchers' */
  uint64_t churn_rate;  /* a second */
  unsigned churn_kinds; /* a bit for each enum churn_kind */
  int churn_cpu;        /* -1: the first dispatcher makes the changes */
  uint64_t patience_ns;
};

extern const char options_help[];

/* The mean time in ps between requests that come at this rate, 1 to RATE_MAX a second. */
uint64_t options_interval(uint64_t rate);

/* Reads the command line on a machine with this number of CPUs. If it is wrong, says so on stderr
 * and returns false. */
bool options_read(int argc, char** argv, unsigned cpus, struct options* options);

#ifdef __cplusplus
}
#endif

#endif
