// SPDX-License-Identifier: Apache-2.0
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void* area(const struct channel* channel, unsigned cpu, size_t offset) {
  return channel->memory + (size_t)cpu * channel->info.area_bytes + offset;
}

static struct oae_sched_slot* slot_of(const struct channel* channel, unsigned cpu) {
  return area(channel, cpu, OAE_SCHED_SLOT);
}

static struct oae_sched_indices* indices_of(const struct channel* channel, unsigned cpu) {
  return area(channel, cpu, OAE_SCHED_INDICES);
}

int channel_open(struct channel* channel) {
  int error;

  channel->file = open("/dev/oae_sched", O_RDWR | O_CLOEXEC);
  if (channel->file < 0) return -errno;
  if (ioctl(channel->file, OAE_SCHED_IOC_INFO, &channel->info) == 0) {
    channel->memory = mmap(NULL, (size_t)channel->info.cpus * channel->info.area_bytes,
                           PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, channel->file, 0);
    if (channel->memory != MAP_FAILED) return 0;
  }
  error = -errno;
  close(channel->file);
  return error;
}

int channel_start(const struct channel* channel, const char* transport,
                  const struct policy_config* policy) {
  struct oae_sched_start start = {.cpus = policy->cpus,
                                  .time_slice = policy->time_slice,
                                  .policy = policy->kind,
                                  .prestage = policy->prestage_percent};

  strncpy(start.transport, transport, sizeof(start.transport) - 1);
  return ioctl(channel->file, OAE_SCHED_IOC_START, &start) ? -errno : 0;
}

int channel_finish(const struct channel* channel, struct agent_counts* counts,
                   struct port_counts* ports) {
  struct oae_sched_counts words;

  _Static_assert(
      sizeof(*counts) <= 8 * PORT_COUNTS_AT && 8 * PORT_COUNTS_AT + sizeof(*ports) <= sizeof(words),
      "an agent's counts do not fit");
  if (ioctl(channel->file, OAE_SCHED_IOC_FINISH, &words)) return -errno;
  memcpy(counts, &words, sizeof(*counts));
  memcpy(ports, &words.words[PORT_COUNTS_AT], sizeof(*ports));
  return 0;
}

void channel_close(struct channel* channel) {
  munmap(channel->memory, (size_t)channel->info.cpus * channel->info.area_bytes);
  close(channel->file);
}

void channel_show_life(const struct channel* channel, uint64_t rounds) {
  __atomic_store_n((__u64*)area(channel, 0, OAE_SCHED_LIVENESS), rounds, __ATOMIC_RELAXED);
}

static uint64_t now(void* context) {
  struct timespec time;

  (void)context;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static bool has_lost(const struct oae_sched_indices* indices) {
  return __atomic_load_n(&indices->lost, __ATOMIC_RELAXED) != 0;
}

static bool has_message(const struct oae_sched_indices* indices) {
  return indices->tail != __atomic_load_n(&indices->head, __ATOMIC_ACQUIRE);
}

static uint64_t pending(void* context) {
  const struct channel* channel = context;
  uint64_t set = 0;

  for (unsigned cpu = 0; cpu < channel->info.cpus; cpu++) {
    const struct oae_sched_indices* indices = indices_of(channel, cpu);
    set |= (uint64_t)(has_message(indices) || has_lost(indices)) << cpu;
  }
  return set;
}

static bool receive(void* context, unsigned cpu, struct ghost_message* message, uint64_t* time) {
  struct channel* channel = context;
  struct oae_sched_indices* indices = indices_of(channel, cpu);
  const struct oae_sched_element* ring = area(channel, cpu, OAE_SCHED_RING);
  const struct oae_sched_element* element = &ring[indices->tail & (channel->info.elements - 1)];

  if (!has_message(indices)) return false;
  memcpy(message, element->message, sizeof(*message));
  *time = element->time;
  __atomic_store_n(&indices->tail, indices->tail + 1, __ATOMIC_RELEASE);
  return true;
}

static bool lost(void* context, unsigned cpu) {
  return has_lost(indices_of(context, cpu));
}

static void decide(void* context, const struct decision* decision) {
  struct oae_sched_slot* slot = slot_of(context, decision->cpu);

  slot->version = GHOST_VERSION;
  slot->cpu = decision->cpu;
  slot->agent_barrier = 0;
  slot->task_barrier = decision->barrier;
  slot->run_flags = slot->commit_flags = 0;
  slot->gtid = decision->gtid;
  slot->newest = decision->newest;
  slot->number++;
  __atomic_store_n(&slot->state, GHOST_READY, __ATOMIC_RELEASE);
}

static void withdraw(void* context, unsigned cpu) {
  __s32 ready = GHOST_READY;

  __atomic_compare_exchange_n(&slot_of(context, cpu)->state, &ready, (__s32)GHOST_ABORTED, false,
                              __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static __s32 state_of(const struct oae_sched_slot* slot) {
  return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

static uint64_t ended(void* context) {
  const struct channel* channel = context;
  uint64_t set = 0;

  /* A state of 0 or more is READY, or the number of the CPU that has taken the decision. */
  for (unsigned cpu = 0; cpu < channel->info.cpus; cpu++)
    set |= (uint64_t)(state_of(slot_of(channel, cpu)) < 0) << cpu;
  return set;
}

static void outcome(void* context, unsigned cpu, enum ghost_state* state, uint64_t* time) {
  const struct oae_sched_slot* slot = slot_of(context, cpu);

  *state = state_of(slot);
  *time = slot->commit_time;
}

static bool kick(void* context, uint64_t cpus, uint64_t preempt) {
  const struct oae_sched_kick kick = {.cpus = cpus, .preempt = preempt};

  return ioctl(((struct channel*)context)->file, OAE_SCHED_IOC_KICK, &kick) == 0;
}

struct agent_channel channel_of_agent(struct channel* channel) {
  return (struct agent_channel){channel, channel->info.cpus, now,   pending, receive, lost,
                                decide,  withdraw,           ended, outcome, kick};
}
