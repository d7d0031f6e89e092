/* SPDX-License-Identifier: Apache-2.0 */
#include "port_channel.h"

#include <stddef.h>

#include "base/mmio.h"
#include "oae_registers.h"
#include "services/swap_offer.h"

_Static_assert(sizeof(union port_payload) == 8 * PORT_WORDS, "all payloads are whole slots");
_Static_assert(SWAP_PAYLOAD_WORDS == PORT_WORDS, "and as long as the block's");
_Static_assert(8 * PORT_COUNTS_AT >= sizeof(struct agent_counts) &&
                   8 * (QUEUE_COUNT_WORDS - PORT_COUNTS_AT) >= sizeof(struct port_counts),
               "the counts have places");

/* The committed slots that a port can hold: one in its place, and one that waits for it. */
#define COMMITTED_SLOTS 2

static uint64_t read(const struct port_channel* channel, unsigned offset) {
  return mmio_read64(channel->device->block + offset);
}

static void command(const struct port_channel* channel, unsigned n, uint64_t commands) {
  if (commands) mmio_write64(channel->device->block + OAE_FIRMWARE_COMMAND_AT(n), commands);
}

static uint64_t payload(const struct port_channel* channel, unsigned n, unsigned word) {
  return read(channel, OAE_FIRMWARE_COMMITTED_AT(n) + OAE_SLOT_PAYLOAD + 8 * word);
}

/* Whether the port is still in the epoch in which the agent was started. */
static bool is_ours(uint64_t status, uint8_t epoch) {
  return status & OAE_FIRMWARE_STATUS_OPEN_MASK &&
         OAE_GET(status, OAE_FIRMWARE_STATUS_EPOCH) == epoch;
}

static uint64_t now(void* context) {
  return device_clock_now(&((struct port_channel*)context)->clock);
}

static void end(struct port_cpu* cpu, enum ghost_state state, uint64_t time) {
  cpu->ended = true;
  cpu->state = state;
  cpu->time = time;
}

static union port_payload offer_of(const struct port_channel* channel, unsigned cpu) {
  return (union port_payload){.offer = {.run = channel->run,
                                        .version = GHOST_VERSION,
                                        .kind = PORT_NOTHING,
                                        .cpu = (uint16_t)cpu}};
}

static union port_payload nothing_for(const struct port_channel* channel,
                                      const struct port_cpu* cpu) {
  return offer_of(channel, (unsigned)(cpu - channel->cpu));
}

/* Writes the offer for the next swap. Returns the command to publish it. */
static uint64_t publish(const struct port_channel* channel, struct port_cpu* cpu, uint64_t header) {
  uint64_t slices[SWAP_SLICES];

  swap_offer_make(header, cpu->offer.words, slices);
  if (cpu->standing) command(channel, cpu->decisions, OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
  swap_offer_write(channel->device->block, cpu->decisions, slices);
  cpu->standing = true;
  cpu->header = header;
  return OAE_FIRMWARE_COMMAND_PUBLISH_MASK;
}

/* Returns the command to acknowledge the events in a status. */
static uint64_t acknowledge(uint64_t status) {
  return OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, OAE_GET(status, OAE_FIRMWARE_STATUS_EVENTS));
}

/* Whether the block has refused the offer that was published last, since another swap is next. */
static bool is_refused(uint64_t status) {
  return OAE_GET(status, OAE_FIRMWARE_STATUS_EVENTS) & OAE_FIRMWARE_EVENT_BAD_OFFER_MASK;
}

/* The CPU has swapped for an offer, in the swap of this header. */
static void give(struct port_channel* channel, struct port_cpu* cpu, enum port_offer_kind kind,
                 uint64_t header, bool waiting) {
  if (kind == PORT_NOTHING) {
    channel->counts.idle_taken++;
    channel->counts.idle_missed += waiting;
    return;
  }
  channel->counts.taken++;
  cpu->handed = true;
  cpu->handed_by = header;
}

/*
 * Makes an offer in place of the one that stands. Returns whether the CPU has swapped for that one
 * before, or may have, since the port is not ours any more. For as long as none stands, a swap is
 * refused. So the new offer is made before that time, for the same swap, and the block refuses it
 * if that swap has taken place.
 */
static bool replace(struct port_channel* channel, struct port_cpu* cpu,
                    const union port_payload* offer) {
  const enum port_offer_kind before = cpu->offer.offer.kind;
  const uint64_t header = cpu->header;
  uint64_t status;

  cpu->offer = *offer;
  if (!cpu->standing) return false; /* It is made as soon as the port can take it. */
  command(channel, cpu->decisions,
          publish(channel, cpu, header) |
              OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, OAE_FIRMWARE_EVENT_BAD_OFFER_MASK));
  status = read(channel, OAE_FIRMWARE_STATUS_AT(cpu->decisions));
  if (!is_refused(status)) return false;
  cpu->standing = false;
  if (!is_ours(status, cpu->decision_epoch)) return true;
  give(channel, cpu, before, header, true);
  command(channel, cpu->decisions,
          publish(channel, cpu, swap_offer_header(status)) |
              OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, OAE_FIRMWARE_EVENT_BAD_OFFER_MASK));
  return true;
}

/* Reads an event in the committed place of a port. Returns the remainder of its first word. */
static uint32_t read_entry(const struct port_channel* channel, unsigned n, union queue_entry* entry,
                           uint64_t* time) {
  uint64_t words[PORT_WORDS];

  words[0] = payload(channel, n, 0);
  words[1] = payload(channel, n, 1);
  for (unsigned i = 0; i < port_event_words(words[0] & 0xff); i++)
    words[2 + i] = payload(channel, n, 2 + i);
  *time = port_unpack(words, entry);
  return port_event_remainder(words);
}

/* Reads what a CPU has given for an offer. */
static void read_given(struct port_channel* channel, struct port_cpu* cpu) {
  const unsigned n = cpu->decisions;
  const uint64_t header = read(channel, OAE_FIRMWARE_COMMITTED_AT(n));

  if (OAE_GET(header, OAE_SLOT_HEADER_VERB) != OAE_VERB_SWAP ||
      OAE_GET(header, OAE_SLOT_HEADER_EPOCH) != cpu->decision_epoch)
    return;
  if (OAE_GET(header ^ cpu->handed_by, OAE_SLOT_HEADER_SEQUENCE) == 0) cpu->handed = false;
  cpu->given_after = read_entry(channel, n, &cpu->given, &cpu->given_time);
  cpu->gave = ghost_length(cpu->given.message.header.type) != 0;
}

/* Deals with a port's status, and returns the commands that follow from it. */
static uint64_t settle(struct port_channel* channel, struct port_cpu* cpu, uint64_t status) {
  uint64_t commands = acknowledge(status);

  if (status & OAE_FIRMWARE_STATUS_COMMITTED_MASK) {
    read_given(channel, cpu);
    commands |= OAE_FIRMWARE_COMMAND_TAKE_MASK;
  }
  /* A slot waits in its tentative place until the one before it is taken. */
  if (cpu->handed && !(status & OAE_FIRMWARE_STATUS_TENTATIVE_MASK)) {
    cpu->handed = false;
    channel->counts.reversed++;
    if (!cpu->ended) end(cpu, GHOST_ABORTED, now(channel));
  }
  return commands;
}

/* Looks at a decision port. Returns whether a swap was settled there: then another one may be. */
static bool serve_decisions(struct port_channel* channel, struct port_cpu* cpu) {
  const uint64_t status = read(channel, OAE_FIRMWARE_STATUS_AT(cpu->decisions));
  uint64_t commands;

  if (!is_ours(status, cpu->decision_epoch)) return false;
  if (cpu->standing && !(status & OAE_FIRMWARE_STATUS_OFFERED_MASK)) {
    cpu->standing = false;
    if (is_refused(status)) {
      channel->counts.refused++;
    } else {
      give(channel, cpu, cpu->offer.offer.kind, cpu->header, channel->device->waiting());
      cpu->offer = nothing_for(channel, cpu);
    }
  }
  commands = settle(channel, cpu, status);
  if (!cpu->standing) commands |= publish(channel, cpu, swap_offer_header(status));
  command(channel, cpu->decisions, commands);
  /* The next swap may have been reversed meanwhile, and its event acknowledged with this one's. */
  return status & OAE_FIRMWARE_STATUS_COMMITTED_MASK ||
         (cpu->handed &&
          OAE_GET(status, OAE_FIRMWARE_STATUS_EVENTS) & OAE_FIRMWARE_EVENT_REVERSED_MASK);
}

/* The CPUs whose ports have events that were not acknowledged yet. */
static uint64_t pending(void* context) {
  const struct port_channel* channel = context;
  uint64_t ports = read(channel, OAE_FIRMWARE_EVENTS) >> channel->first_port;
  uint64_t set = 0;

  if (channel->cpus < POLICY_CPUS / 2) ports &= (UINT64_C(1) << 2 * channel->cpus) - 1;
  for (; ports; ports &= ports - 1) set |= UINT64_C(1) << __builtin_ctzll(ports) / 2;
  return set;
}

/* Reads the next event that a CPU has sent. Returns false if none has come. Events of the port are
 * acknowledged with what they tell of, since no slot is committed before the one that is there was
 * taken. One that tells of nothing any more is acknowledged before the port is looked at again. */
static bool read_event(struct port_channel* channel, struct port_cpu* cpu, union queue_entry* entry,
                       uint64_t* time, uint32_t* remainder) {
  const unsigned n = cpu->events;
  uint64_t status, header;

  for (;;) {
    status = read(channel, OAE_FIRMWARE_STATUS_AT(n));
    if (!is_ours(status, cpu->event_epoch)) return false;
    if (!(status & OAE_FIRMWARE_STATUS_COMMITTED_MASK)) {
      if (!acknowledge(status)) return false;
      command(channel, n, acknowledge(status));
      continue;
    }
    header = read(channel, OAE_FIRMWARE_COMMITTED_AT(n));
    if (OAE_GET(header, OAE_SLOT_HEADER_VERB) == OAE_VERB_SEND &&
        OAE_GET(header, OAE_SLOT_HEADER_EPOCH) == cpu->event_epoch)
      break;
    command(channel, n, OAE_FIRMWARE_COMMAND_TAKE_MASK | acknowledge(status));
  }
  *remainder = read_entry(channel, n, entry, time);
  command(channel, n, OAE_FIRMWARE_COMMAND_TAKE_MASK | acknowledge(status));
  cpu->received++;
  return true;
}

/* Deals with what only the channel needs to know of an event. Returns whether it is a message. */
static bool take_event(struct port_channel* channel, struct port_cpu* cpu,
                       const union queue_entry* entry, uint32_t remainder) {
  switch (entry->message.header.type) {
    case QUEUE_OUTCOME:
      if (entry->outcome.number == cpu->written && !cpu->ended)
        end(cpu, entry->outcome.state, entry->outcome.time);
      return false;
    case QUEUE_LOST:
      cpu->lost = true;
      return false;
    case GHOST_ON_CPU:
      if (!cpu->ended && remainder == port_end_note(cpu->written)) {
        channel->counts.implied++;
        end(cpu, GHOST_COMPLETE, entry->message.on_cpu.commit_time);
      }
      return true;
    default:
      return true;
  }
}

/* Whether a swap has given a message, and all that was sent before it has been read. */
static bool given_is_next(const struct port_cpu* cpu) {
  const uint32_t all = (1u << PORT_REMAINDER_BITS) - 1;

  return cpu->gave && ((cpu->received ^ cpu->given_after) & all) == 0;
}

static bool take_given(struct port_channel* channel, struct port_cpu* cpu,
                       struct ghost_message* message, uint64_t* time) {
  cpu->gave = false;
  channel->counts.carried++;
  device_clock_hear(&channel->clock, cpu->given_time);
  *message = cpu->given.message;
  *time = cpu->given_time;
  return true;
}

static bool receive(void* context, unsigned number, struct ghost_message* message, uint64_t* time) {
  struct port_channel* channel = context;
  struct port_cpu* cpu = &channel->cpu[number];
  union queue_entry entry;
  uint32_t remainder;

  for (;;) {
    /* Events are read after what a swap has given, so that those which follow it come later. */
    while (!cpu->gave && serve_decisions(channel, cpu)) continue;
    if (given_is_next(cpu)) return take_given(channel, cpu, message, time);
    if (!read_event(channel, cpu, &entry, time, &remainder))
      return cpu->gave && take_given(channel, cpu, message, time);
    device_clock_hear(&channel->clock, *time);
    if (take_event(channel, cpu, &entry, remainder)) {
      *message = entry.message;
      return true;
    }
  }
}

static bool lost(void* context, unsigned cpu) {
  return ((const struct port_channel*)context)->cpu[cpu].lost;
}

static enum port_offer_kind offer_kind(enum decision_kind kind) {
  if (kind == DECISION_RUN) return PORT_RUN;
  return kind == DECISION_PREEMPT ? PORT_PREEMPT : PORT_PRESTAGE;
}

static void decide(void* context, const struct decision* decision) {
  struct port_channel* channel = context;
  struct port_cpu* cpu = &channel->cpu[decision->cpu];
  union port_payload payload = offer_of(channel, decision->cpu);
  struct port_offer* offer = &payload.offer;

  offer->kind = (uint8_t)offer_kind(decision->kind);
  offer->gtid = decision->gtid;
  offer->newest = decision->newest;
  offer->number = ++cpu->written;
  offer->decided = now(channel);
  offer->barrier = decision->barrier;
  cpu->handed = false; /* The last decision has ended. */
  cpu->ended = false;
  replace(channel, cpu, &payload);
}

static void withdraw(void* context, unsigned number) {
  struct port_channel* channel = context;
  struct port_cpu* cpu = &channel->cpu[number];
  const union port_payload nothing = offer_of(channel, number);

  if (cpu->ended || cpu->offer.offer.kind == PORT_NOTHING) return;
  if (replace(channel, cpu, &nothing)) {
    channel->counts.late++;
    return;
  }
  channel->counts.revoked++;
  end(cpu, GHOST_ABORTED, now(channel));
}

static uint64_t ended(void* context) {
  const struct port_channel* channel = context;
  uint64_t set = 0;

  for (unsigned cpu = 0; cpu < channel->cpus; cpu++)
    set |= (uint64_t)channel->cpu[cpu].ended << cpu;
  return set;
}

static void outcome(void* context, unsigned number, enum ghost_state* state, uint64_t* time) {
  const struct port_cpu* cpu = &((const struct port_channel*)context)->cpu[number];

  *state = cpu->state;
  *time = cpu->time;
}

static bool kick(void* context, uint64_t cpus, uint64_t preempt) {
  queue_kick(((const struct port_channel*)context)->device->interrupt, cpus, preempt);
  return true;
}

uint64_t port_channel_ports(const struct port_device* device, const struct queue_control* control) {
  const uint64_t ports = 2 * (uint64_t)control->host_cpus;

  if (!ports || control->host_cpus > POLICY_CPUS || control->first_port + ports > device->ports)
    return 0;
  return ~UINT64_C(0) >> (64 - ports) << control->first_port;
}

/* Frees a port of what was committed there before. Returns its status. */
static uint64_t clear(const struct port_channel* channel, unsigned n) {
  for (unsigned i = 0; i < COMMITTED_SLOTS; i++)
    command(channel, n,
            OAE_FIRMWARE_COMMAND_TAKE_MASK | OAE_FIRMWARE_COMMAND_WITHDRAW_MASK |
                OAE_FIRMWARE_COMMAND_ACKNOWLEDGE_MASK);
  return read(channel, OAE_FIRMWARE_STATUS_AT(n));
}

static bool init_cpu(struct port_channel* channel, unsigned number, unsigned first) {
  struct port_cpu* cpu = &channel->cpu[number];
  uint64_t decisions, events;

  *cpu = (struct port_cpu){.decisions = port_of_decisions(first, number),
                           .events = port_of_events(first, number)};
  decisions = clear(channel, cpu->decisions);
  events = clear(channel, cpu->events);
  /* What is still tentative would come later, from an agent's life before. */
  if (!(decisions & events & OAE_FIRMWARE_STATUS_OPEN_MASK) ||
      (decisions | events) & OAE_FIRMWARE_STATUS_TENTATIVE_MASK)
    return false;
  cpu->decision_epoch = (uint8_t)OAE_GET(decisions, OAE_FIRMWARE_STATUS_EPOCH);
  cpu->event_epoch = (uint8_t)OAE_GET(events, OAE_FIRMWARE_STATUS_EPOCH);
  cpu->offer = nothing_for(channel, cpu);
  command(channel, cpu->decisions, publish(channel, cpu, swap_offer_header(decisions)));
  return true;
}

bool port_channel_init(struct port_channel* channel, const struct port_device* device,
                       const struct queue_control* control) {
  if (!port_channel_ports(device, control)) return false;
  channel->device = device;
  channel->cpus = control->host_cpus;
  channel->first_port = control->first_port;
  channel->run = (uint32_t)control->request;
  channel->clock = device_clock_at(device->now, control->time);
  channel->counts = (struct port_counts){0};
  for (unsigned cpu = 0; cpu < channel->cpus; cpu++)
    if (!init_cpu(channel, cpu, control->first_port)) return false;
  return true;
}

struct agent_channel port_channel_of_agent(struct port_channel* channel) {
  return (struct agent_channel){channel, channel->cpus, now,   pending, receive, lost,
                                decide,  withdraw,      ended, outcome, kick};
}

bool port_channel_busy(const struct port_channel* channel) {
  for (unsigned cpu = 0; cpu < channel->cpus; cpu++)
    if (read(channel, OAE_FIRMWARE_STATUS_AT(channel->cpu[cpu].events)) &
        (OAE_FIRMWARE_STATUS_TENTATIVE_MASK | OAE_FIRMWARE_STATUS_COMMITTED_MASK))
      return true;
  return false;
}

void port_channel_end(struct port_channel* channel) {
  for (unsigned cpu = 0; cpu < channel->cpus; cpu++)
    if (channel->cpu[cpu].standing)
      command(channel, channel->cpu[cpu].decisions, OAE_FIRMWARE_COMMAND_WITHDRAW_MASK);
}
