/* SPDX-License-Identifier: Apache-2.0 */
#include "agent_service.h"

#include <stddef.h>

#include "cpu.h"
#include "fault.h"
#include "gic.h"
#include "irq.h"
#include "mmio.h"
#include "oae_memory_map.h"
#include "oae_registers.h"
#include "scheduling/queue_channel.h"
#include "system.h"
#include "timer.h"

/* Ticks without a sign of life after which the agent's core has stopped. */
#define PATIENCE 2

/* Rounds of the agent between two looks at control, and microseconds if it does not work. */
#define ROUNDS 64
#define SLEEP_US 100

static struct agent agent;
static struct queue_channel queues;
static struct agent_channel channel;
static struct queue_device device;

/* Rises while the agent's core works or waits for requests. */
static volatile uint64_t liveness;

static uint64_t memory_read(unsigned offset) {
  return mmio_read64(OAE_IPU_QUEUE_MEMORY_BASE + offset);
}

static void memory_write(unsigned offset, uint64_t value) {
  mmio_write64(OAE_IPU_QUEUE_MEMORY_BASE + offset, value);
}

static void interrupt(unsigned vector) {
  mmio_write64(OAE_IPU_QUEUE_BASE + OAE_QUEUE_INTERRUPT, vector);
}

static struct queue_control read_control(void) {
  union {
    struct queue_control control;
    uint64_t words[sizeof(struct queue_control) / 8];
  } read;

  for (unsigned i = 0; i < sizeof(read) / 8; i++)
    read.words[i] = memory_read(QUEUE_CONTROL + 8 * i);
  return read.control;
}

static void write_counts(void) {
  const uint64_t* words = (const uint64_t*)&agent.counts; /* It has no other members. */

  _Static_assert(sizeof(agent.counts) <= 8 * QUEUE_COUNT_WORDS, "the counts fit");
  for (unsigned i = 0; i < sizeof(agent.counts) / 8; i++)
    memory_write(QUEUE_COUNTS + 8 * i, words[i]);
}

static enum queue_result start(const struct queue_control* control) {
  const struct policy_config policy = {.kind = control->policy,
                                       .cpus = control->cpus,
                                       .time_slice = control->time_slice,
                                       .prestage = control->prestage};

  if (!queue_channel_init(&queues, &device, control)) return QUEUE_REFUSED;
  channel = queue_channel_of_agent(&queues, control->host_cpus);
  return agent_init(&agent, &channel, &policy) ? QUEUE_DONE : QUEUE_REFUSED;
}

/* Carries out the request in control. Returns whether the agent works from then on. */
static bool carry_out(bool working) {
  const struct queue_control control = read_control();
  enum queue_result result = QUEUE_REFUSED;

  if (control.command == QUEUE_START) {
    result = start(&control);
    working = result == QUEUE_DONE;
  } else if (control.command == QUEUE_FINISH && working) {
    while (agent_wind_up(&agent) || agent.outstanding) {
      if (memory_read(QUEUE_CONTROL) != control.request) return true;
      liveness++;
    }
    write_counts();
    result = QUEUE_DONE;
    working = false;
  } else if (control.command == QUEUE_STOP) {
    result = QUEUE_DONE;
    working = false;
  }
  memory_write(QUEUE_STATUS + offsetof(struct queue_status, result), result);
  memory_write(QUEUE_STATUS + offsetof(struct queue_status, reply), control.request);
  return working;
}

static void begin_anew(void) {
  agent_service_run();
}

bool agent_service_watch(unsigned core) {
  static uint64_t seen;
  static unsigned ticks;
  const uint64_t now = liveness;

  if (now != seen || memory_read(QUEUE_CONTROL) ==
                         memory_read(QUEUE_STATUS + offsetof(struct queue_status, reply))) {
    seen = now;
    ticks = 0;
    return false;
  }
  if (++ticks < PATIENCE) return false;
  ticks = 0;
  gic_signal(core, IRQ_BEGIN_ANEW);
  return true;
}

_Noreturn void agent_service_run(void) {
  /* A request that a core left without a reply is carried out by this one. */
  uint64_t seen = memory_read(QUEUE_STATUS + offsetof(struct queue_status, reply));
  bool working = false;

  if (!gic_join()) panic("no redistributor for core %u", cpu_core());
  timer_stop();
  gic_enable(OAE_IPU_VIRTUAL_TIMER_INTID);
  irq_begin_anew_at(begin_anew);
  fault_survive();
  cpu_unmask_irqs();
  device = (struct queue_device){(volatile uint8_t*)OAE_IPU_QUEUE_MEMORY_BASE,
                                 (volatile uint8_t*)OAE_IPU_QUEUE_CACHED_BASE,
                                 system_queue_memory(), interrupt, timer_ns};
  for (;;) {
    const uint64_t request = memory_read(QUEUE_CONTROL);

    if (request != seen) {
      seen = request;
      working = request && carry_out(working);
    }
    liveness++;
    if (!working) {
      cpu_mask_irqs();
      timer_sleep(SLEEP_US);
      cpu_unmask_irqs();
      continue;
    }
    for (unsigned round = 0; round < ROUNDS && !agent.counts.failed; round++) agent_work(&agent);
    memory_write(QUEUE_STATUS + offsetof(struct queue_status, liveness), liveness);
  }
}
