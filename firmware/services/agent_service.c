/* SPDX-License-Identifier: Apache-2.0 */
#include "services/agent_service.h"

#include <stddef.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/irq.h"
#include "base/mmio.h"
#include "base/system.h"
#include "base/timer.h"
#include "config.h"
#include "fault/fault.h"
#include "oae_memory_map.h"
#include "oae_registers.h"
#include "scheduling/port_channel.h"
#include "scheduling/queue_channel.h"

/* Ticks without a sign of life after which the agent's core has stopped. */
#define PATIENCE 2

/* Rounds of the agent between two looks at control, and microseconds if it does not work. */
#define ROUNDS 64
#define SLEEP_US 100

/* How many times it looks, over as many sleeps, whether ports that it borrows are free. The other
 * cores look every tick. */
#define BORROW_TRIES (10 * FIRMWARE_TICK_US / SLEEP_US)

static struct agent agent;
static struct agent_channel channel;
static struct queue_channel queues;
static struct queue_device queue_device;
static struct port_channel ports;
static struct port_device port_device;
static struct swap_service* swaps;
static bool uses_ports; /* instead of queues */

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

/* What the data registers hold since the page was set. */
static uint64_t pushed[QUEUE_SLOT_WORDS];

static void write_data(unsigned word, uint64_t value) {
  mmio_write64(OAE_IPU_QUEUE_BASE + OAE_QUEUE_DATA + 8 * word, value);
  pushed[word] = value;
}

static void set_page(uint64_t address) {
  for (unsigned i = 0; i < QUEUE_SLOT_WORDS; i++) write_data(i, 0);
  mmio_write64(OAE_IPU_QUEUE_BASE + OAE_QUEUE_PAGE, address);
}

/* A write of a register takes the core a round trip, so that those are spared which change nothing.
 * A reset of the function clears the page, too: then nothing is pushed until it is set again. */
static void push(unsigned line, const uint64_t* words) {
  for (unsigned i = 0; i < QUEUE_SLOT_WORDS; i++)
    if (words[i] != pushed[i]) write_data(i, words[i]);
  mmio_write64(OAE_IPU_QUEUE_BASE + OAE_QUEUE_PUSH, line);
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

static void write_count_words(unsigned first, const void* counts, size_t size) {
  const uint64_t* words = counts;

  for (unsigned i = 0; i < size / 8; i++) memory_write(QUEUE_COUNTS + 8 * (first + i), words[i]);
}

/* Counts consist of words. */
static void write_counts(void) {
  static const struct port_counts none;

  _Static_assert(sizeof(agent.counts) <= 8 * QUEUE_COUNT_WORDS, "the counts fit");
  write_count_words(0, &agent.counts, sizeof(agent.counts));
  write_count_words(PORT_COUNTS_AT, uses_ports ? &ports.counts : &none, sizeof(none));
}

static void live(void) {
  liveness++;
}

static void sleep(void) {
  live();
  cpu_mask_irqs();
  timer_sleep(SLEEP_US);
  cpu_unmask_irqs();
}

static bool waiting(void) {
  return agent.policy.queued > 0;
}

/* Takes these ports from the other cores, and returns those that it had. */
static bool borrow(uint64_t wanted) {
  if (!swap_service_borrow(swaps, wanted)) return false;
  for (unsigned try = 0; !swap_service_lends(swaps); try++) {
    if (try == BORROW_TRIES) return false;
    sleep();
  }
  return true;
}

static void return_ports(void) {
  if (uses_ports) port_channel_end(&ports);
  uses_ports = false;
  borrow(0);
}

static bool start_ports(const struct queue_control* control) {
  const uint64_t wanted = port_channel_ports(&port_device, control);
  const uint64_t begun = timer_ns();
  struct queue_control later = *control;

  if (!wanted || !borrow(wanted)) return false;
  later.time += timer_ns() - begun;
  if (!port_channel_init(&ports, &port_device, &later)) return false;
  uses_ports = true;
  channel = port_channel_of_agent(&ports);
  return true;
}

static bool start_queues(const struct queue_control* control) {
  if (!queue_channel_init(&queues, &queue_device, control)) return false;
  channel = queue_channel_of_agent(&queues);
  return true;
}

static enum queue_result start(const struct queue_control* control) {
  const struct policy_config policy = {.kind = control->policy,
                                       .cpus = control->cpus,
                                       .time_slice = control->time_slice,
                                       .prestage_percent = control->prestage};

  return_ports();
  if (control->ports ? start_ports(control) : start_queues(control)) {
    if (agent_init(&agent, &channel, &policy)) return QUEUE_DONE;
  }
  return_ports();
  return QUEUE_REFUSED;
}

/* Withdraws all decisions and reads all messages. Returns false if a new request comes instead. */
static bool finish(uint64_t request) {
  while (agent_wind_up(&agent) || agent.outstanding || (uses_ports && port_channel_busy(&ports))) {
    if (memory_read(QUEUE_CONTROL) != request) return false;
    live();
  }
  write_counts();
  return true;
}

/* Carries out the request in control. Returns whether the agent works from then on. */
static bool carry_out(bool working) {
  const struct queue_control control = read_control();
  enum queue_result result = QUEUE_REFUSED;

  if (control.command == QUEUE_START) {
    result = start(&control);
    working = result == QUEUE_DONE;
  } else if (control.command == QUEUE_FINISH && working) {
    if (!finish(control.request)) return true;
    result = QUEUE_DONE;
    working = false;
  } else if (control.command == QUEUE_STOP) {
    return_ports();
    result = QUEUE_DONE;
    working = false;
  }
  memory_write(QUEUE_STATUS + offsetof(struct queue_status, result), result);
  memory_write(QUEUE_STATUS + offsetof(struct queue_status, reply), control.request);
  return working;
}

static void begin_anew(void) {
  agent_service_run(swaps);
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

_Noreturn void agent_service_run(struct swap_service* service) {
  /* A request that a core left without a reply is carried out by this one. */
  uint64_t seen = memory_read(QUEUE_STATUS + offsetof(struct queue_status, reply));
  bool working = false;

  if (!gic_join()) panic("no redistributor for core %u", cpu_core());
  timer_stop();
  gic_enable(OAE_IPU_VIRTUAL_TIMER_INTID);
  swaps = service;
  irq_begin_anew_at(begin_anew);
  fault_survive();
  cpu_unmask_irqs();
  queue_device = (struct queue_device){.uncached = (volatile uint8_t*)OAE_IPU_QUEUE_MEMORY_BASE,
                                       .cached = (volatile uint8_t*)OAE_IPU_QUEUE_CACHED_BASE,
                                       .size = system_queue_memory(),
                                       .interrupt = interrupt,
                                       .set_page = set_page,
                                       .push = push,
                                       .now = timer_ns,
                                       .alive = live};
  port_device = (struct port_device){service->block, service->count, interrupt, timer_ns, waiting};
  for (;;) {
    const uint64_t request = memory_read(QUEUE_CONTROL);

    if (request != seen) {
      seen = request;
      working = request && carry_out(working);
    }
    live();
    if (!working) {
      sleep();
      continue;
    }
    for (unsigned round = 0; round < ROUNDS && !agent.counts.failed; round++) agent_work(&agent);
    /* An agent that has given up shows the host no life. */
    if (!agent.counts.failed)
      memory_write(QUEUE_STATUS + offsetof(struct queue_status, liveness), liveness);
  }
}
