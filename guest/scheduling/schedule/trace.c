// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "trace_file.h"

int trace_begin(const struct channel* channel, uint64_t records) {
  const __u64 room = records;

  return ioctl(channel->file, OAE_SCHED_IOC_TRACE, &room) ? -errno : 0;
}

static bool failed(const char* what) {
  fprintf(stderr, "schedule: %s: %s\n", what, strerror(errno));
  return false;
}

static bool write_records(const struct channel* channel, FILE* file, const char* name) {
  static char buffer[1 << 16];
  ssize_t bytes;

  while ((bytes = read(channel->file, buffer, sizeof(buffer))) > 0)
    if (fwrite(buffer, 1, bytes, file) != (size_t)bytes) return failed(name);
  return bytes == 0 || failed("the trace cannot be read");
}

bool trace_write(const struct channel* channel, const struct options* options, uint64_t detached_ns,
                 const struct counts* kernel, const struct agent_counts* agent,
                 const struct port_counts* ports) {
  struct trace_file_head head = {.head_bytes = sizeof(head),
                                 .record_bytes = sizeof(struct oae_sched_record),
                                 .policy = options->policy.kind,
                                 .prestage = options->policy.prestage_percent,
                                 .rule = options->settings.rule,
                                 .sign = options->settings.watchdog,
                                 .cpus = options->policy.cpus,
                                 .time_slice = options->policy.time_slice,
                                 .detached = detached_ns,
                                 .patience = options->settings.patience,
                                 .counted = agent->rounds != 0,
                                 .kernel = *kernel,
                                 .agent = *agent,
                                 .ports = *ports};
  struct oae_sched_traced traced;
  bool good;
  FILE* file;

  if (ioctl(channel->file, OAE_SCHED_IOC_TRACED, &traced))
    return failed("the trace cannot be ended");
  memcpy(head.magic, TRACE_FILE_MAGIC, sizeof(head.magic));
  strncpy(head.transport, options->transport ? options->transport : "memory",
          sizeof(head.transport) - 1);
  head.records = traced.records;
  head.overflow = traced.overflow;
  file = fopen(options->trace, "wb");
  if (!file) return failed(options->trace);
  good = fwrite(&head, sizeof(head), 1, file) == 1 || failed(options->trace);
  good = good && write_records(channel, file, options->trace);
  if (fclose(file) && good) good = failed(options->trace);
  if (head.overflow) {
    fprintf(stderr, "schedule: the trace has no room for %" PRIu64 " records\n",
            (uint64_t)head.overflow);
    good = false;
  }
  return good;
}
