/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_channel.h"

#include <stddef.h>

#define SLOT_WORD(field) (offsetof(struct queue_slot, field) / 8)

/* Puts the stores before it in order with those after it, for the kernel. */
static void order_stores(void) {
#ifdef __aarch64__
  __asm__ volatile("dmb oshst" ::: "memory");
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void zero(volatile uint64_t* words, unsigned count) {
  for (unsigned i = 0; i < count; i++) words[i] = 0;
}

/* Uncached stores to all rings can take longer than the machine waits for a sign of life. */
static void init_ring(const struct queue_device* device, struct queue_ring* ring,
                      volatile uint8_t* area, unsigned elements) {
  *ring = (struct queue_ring){.slot = (volatile uint64_t*)(area + QUEUE_SLOT),
                              .tail = (volatile uint64_t*)(area + QUEUE_TAIL),
                              .elements = (volatile uint64_t*)(area + QUEUE_RING),
                              .phase = queue_phase(0, elements)};
  ring->next = ring->elements;
  zero(ring->slot, sizeof(struct queue_slot) / 8);
  zero(ring->tail, 1);
  for (unsigned i = 0; i < elements; i += QUEUE_ELEMENTS_MIN) {
    zero(ring->elements + i * QUEUE_ELEMENT_WORDS, QUEUE_ELEMENTS_MIN * QUEUE_ELEMENT_WORDS);
    device->alive();
  }
}

bool queue_channel_init(struct queue_channel* channel, const struct queue_device* device,
                        const struct queue_control* control) {
  volatile uint8_t* memory = control->cached ? device->cached : device->uncached;
  const unsigned elements = control->elements;

  if (elements < QUEUE_ELEMENTS_MIN || elements > QUEUE_ELEMENTS_MAX || elements & (elements - 1) ||
      control->host_cpus > POLICY_CPUS || queue_area(control->host_cpus, elements) > device->size ||
      control->slots % QUEUE_PAGE_BYTES != 0)
    return false;
  channel->device = device;
  channel->cpus = control->host_cpus;
  channel->elements = elements;
  channel->ended = 0;
  channel->pushed = control->slots != 0;
  device->set_page(control->slots);
  channel->clock = device_clock_at(device->now, control->time);
  for (unsigned cpu = 0; cpu < control->host_cpus; cpu++)
    init_ring(device, &channel->ring[cpu], memory + queue_area(cpu, elements), elements);
  return true;
}

static uint64_t now(void* context) {
  return device_clock_now(&((struct queue_channel*)context)->clock);
}

static void end(struct queue_channel* channel, unsigned cpu, const struct queue_outcome* outcome) {
  struct queue_ring* ring = &channel->ring[cpu];

  if (outcome->number != ring->written) return;
  channel->ended |= UINT64_C(1) << cpu;
  ring->state = outcome->state;
  ring->time = outcome->time;
}

static uint64_t pending(void* context) {
  const struct queue_channel* channel = context;
  const struct queue_ring* ring = channel->ring;
  uint64_t set = 0;

  for (unsigned cpu = 0; cpu < channel->cpus; cpu++, ring++)
    set |= (uint64_t)queue_arrived(*ring->next, 0, ring->phase) << cpu;
  return set;
}

static void advance(const struct queue_channel* channel, struct queue_ring* ring) {
  ring->read++;
  ring->next += QUEUE_ELEMENT_WORDS;
  if (ring->read & (channel->elements - 1)) return;
  ring->next = ring->elements;
  ring->phase = queue_phase(ring->read, channel->elements);
}

/* Reads the next element of a ring. Returns false if it has not arrived. */
static bool read_element(struct queue_channel* channel, struct queue_ring* ring,
                         union queue_entry* entry, uint64_t* time) {
  const uint64_t phase = ring->phase;
  volatile uint64_t* element = ring->next;
  const uint64_t first = element[0];
  uint64_t word;
  unsigned i, last;

  if (!queue_arrived(first, 0, phase)) return false;
  entry->words[0] = queue_decode(first, 0, first);
  last = (entry->message.header.length - 1) / 8;
  for (i = 1; i < QUEUE_ELEMENT_WORDS - 1 && i <= last; i++) {
    word = element[i];
    if (!queue_arrived(word, i, phase)) return false;
    entry->words[i] = queue_decode(word, i, first);
  }
  for (; i < QUEUE_ELEMENT_WORDS - 1; i++) entry->words[i] = 0;
  word = element[QUEUE_ELEMENT_WORDS - 1];
  if (!queue_arrived(word, QUEUE_ELEMENT_WORDS - 1, phase)) return false;
  *time = queue_decode(word, QUEUE_ELEMENT_WORDS - 1, first);
  advance(channel, ring);
  /* The kernel looks at this only when the ring seems full to it. */
  if (!(ring->read & (channel->elements / 4 - 1))) *ring->tail = ring->read;
  return true;
}

static bool receive(void* context, unsigned cpu, struct ghost_message* message, uint64_t* time) {
  struct queue_channel* channel = context;
  struct queue_ring* ring = &channel->ring[cpu];
  union queue_entry entry;

  while (read_element(channel, ring, &entry, time)) {
    device_clock_hear(&channel->clock, *time);
    switch (entry.message.header.type) {
      case QUEUE_OUTCOME:
        end(channel, cpu, &entry.outcome);
        break;
      case QUEUE_LOST:
        ring->lost = true;
        break;
      default:
        *message = entry.message;
        return true;
    }
  }
  return false;
}

static bool lost(void* context, unsigned cpu) {
  return ((const struct queue_channel*)context)->ring[cpu].lost;
}

static void decide(void* context, const struct decision* decision) {
  struct queue_channel* channel = context;
  struct queue_ring* ring = &channel->ring[decision->cpu];

  channel->ended &= ~(UINT64_C(1) << decision->cpu);
  ring->offer.slot = (struct queue_slot){.version = GHOST_VERSION,
                                         .cpu = decision->cpu,
                                         .state = GHOST_READY,
                                         .task_barrier = decision->barrier,
                                         .gtid = decision->gtid,
                                         .newest = decision->newest,
                                         .number = ++ring->written};
  ring->withdrawn = false;
  if (channel->pushed) {
    channel->device->push(decision->cpu, ring->offer.words);
    return;
  }
  for (unsigned i = 0; i < SLOT_WORD(reserved); i++) ring->slot[i] = ring->offer.words[i];
  order_stores();
  ring->slot[SLOT_WORD(number)] = ring->offer.slot.number;
  order_stores();
}

static void withdraw(void* context, unsigned cpu) {
  struct queue_channel* channel = context;
  struct queue_ring* ring = &channel->ring[cpu];

  if (ring->withdrawn || channel->ended >> cpu & 1) return;
  ring->withdrawn = true;
  if (channel->pushed) {
    ring->offer.slot.state = GHOST_ABORTED;
    channel->device->push(cpu, ring->offer.words);
  } else {
    ring->slot[SLOT_WORD(state)] = (uint32_t)GHOST_ABORTED;
    order_stores();
  }
  channel->device->interrupt(queue_vector(cpu, QUEUE_CALL_WITHDRAW));
}

static uint64_t ended(void* context) {
  return ((const struct queue_channel*)context)->ended;
}

static void outcome(void* context, unsigned cpu, enum ghost_state* state, uint64_t* time) {
  const struct queue_ring* ring = &((const struct queue_channel*)context)->ring[cpu];

  *state = ring->state;
  *time = ring->time;
}

static bool kick(void* context, uint64_t cpus, uint64_t preempt) {
  queue_kick(((const struct queue_channel*)context)->device->interrupt, cpus, preempt);
  return true;
}

struct agent_channel queue_channel_of_agent(struct queue_channel* channel) {
  return (struct agent_channel){channel, channel->cpus, now,   pending, receive, lost,
                                decide,  withdraw,      ended, outcome, kick};
}
