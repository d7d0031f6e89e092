/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler in BPF, which this program carries. */
#ifndef SCHEDULE_SCHEDULER_H
#define SCHEDULE_SCHEDULER_H

#include "counts.h"
#include "settings.h"

struct bpf_link;
struct bpf_object;

struct scheduler {
  struct bpf_object* object;
  struct bpf_link* kick;
  struct bpf_link* alarm;
  struct bpf_link* resume;
  struct bpf_link* operations;
};

/* These return 0 or a negative errno. */
int scheduler_load(struct scheduler* scheduler, const struct settings* settings);
/* From now on, it schedules tasks of the policy SCHED_EXT. */
int scheduler_attach(struct scheduler* scheduler);
/* From now on, it also watches the agent, on this CPU. */
int scheduler_watch(const struct scheduler* scheduler, unsigned cpu);

/* Tasks that are left are scheduled by the fair class from now on. */
void scheduler_detach(struct scheduler* scheduler);

/* What it has counted so far. Returns 0 or a negative errno. */
int scheduler_counts(const struct scheduler* scheduler, struct counts* counts);

void scheduler_unload(struct scheduler* scheduler);

#endif
