// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "scheduler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>

/* scheduler_object.S */
extern const char scheduler_object[];
extern const char scheduler_object_end[];

static int set(const struct bpf_object* object, const struct settings* settings) {
  struct bpf_map* map = bpf_object__find_map_by_name(object, ".rodata.settings");

  return map ? bpf_map__set_initial_value(map, settings, sizeof(*settings)) : -ENOENT;
}

int scheduler_load(struct scheduler* scheduler, const struct settings* settings) {
  int error;

  *scheduler = (struct scheduler){0};
  scheduler->object =
      bpf_object__open_mem(scheduler_object, scheduler_object_end - scheduler_object, NULL);
  if (!scheduler->object) return -errno;
  error = set(scheduler->object, settings) ?: bpf_object__load(scheduler->object);
  if (error) bpf_object__close(scheduler->object);
  return error;
}

static int attach(const struct scheduler* scheduler, const char* name, struct bpf_link** link) {
  const struct bpf_program* program = bpf_object__find_program_by_name(scheduler->object, name);

  if (!program) return -ENOENT;
  *link = bpf_program__attach(program);
  return *link ? 0 : -errno;
}

int scheduler_attach(struct scheduler* scheduler) {
  struct bpf_map* operations = bpf_object__find_map_by_name(scheduler->object, "agent_ops");
  int error = attach(scheduler, "kick", &scheduler->kick)
                  ?: attach(scheduler, "alarm", &scheduler->alarm)
                         ?: attach(scheduler, "resume", &scheduler->resume);

  if (error) return error;
  if (!operations) return -ENOENT;
  scheduler->operations = bpf_map__attach_struct_ops(operations);
  return scheduler->operations ? 0 : -errno;
}

static int start_watchdog(const struct scheduler* scheduler) {
  const struct bpf_program* program =
      bpf_object__find_program_by_name(scheduler->object, "start_watchdog");
  LIBBPF_OPTS(bpf_test_run_opts, run);

  if (!program) return -ENOENT;
  if (bpf_prog_test_run_opts(bpf_program__fd(program), &run)) return -errno;
  return (int)run.retval;
}

int scheduler_watch(const struct scheduler* scheduler, unsigned cpu) {
  cpu_set_t before, chosen;
  int error;

  CPU_ZERO(&chosen);
  CPU_SET(cpu, &chosen);
  if (sched_getaffinity(0, sizeof(before), &before) ||
      sched_setaffinity(0, sizeof(chosen), &chosen))
    return -errno;
  error = start_watchdog(scheduler);
  if (sched_setaffinity(0, sizeof(before), &before) && !error) error = -errno;
  return error;
}

void scheduler_detach(struct scheduler* scheduler) {
  bpf_link__destroy(scheduler->operations);
  bpf_link__destroy(scheduler->resume);
  bpf_link__destroy(scheduler->alarm);
  bpf_link__destroy(scheduler->kick);
  scheduler->operations = scheduler->resume = scheduler->alarm = scheduler->kick = NULL;
}

int scheduler_counts(const struct scheduler* scheduler, struct counts* counts) {
  const struct bpf_map* map = bpf_object__find_map_by_name(scheduler->object, ".bss.counts");
  const __u32 key = 0;

  if (!map) return -ENOENT;
  return bpf_map__lookup_elem(map, &key, sizeof(key), counts, sizeof(*counts), 0);
}

void scheduler_unload(struct scheduler* scheduler) {
  bpf_object__close(scheduler->object);
}
