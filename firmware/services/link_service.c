/* SPDX-License-Identifier: Apache-2.0 */
#include "services/link_service.h"

#include <stddef.h>

#include "base/mmio.h"
#include "oae_registers.h"
#include "services/crc64.h"

#define SLICES 8

static uint64_t link_read(const struct link* link, unsigned offset) {
  return mmio_read64(link->base + offset);
}

static void link_write(const struct link* link, unsigned offset, uint64_t value) {
  mmio_write64(link->base + offset, value);
}

static unsigned phase_of(const struct link* link) {
  return OAE_GET(link_read(link, OAE_LINK_STATE), OAE_LINK_STATE_PHASE);
}

/* Whether a frame of the other side may still settle a transfer. */
static bool accepts_frames(const struct link* link) {
  unsigned phase = phase_of(link);

  return phase == OAE_LINK_STATE_JOINED || phase == OAE_LINK_STATE_IDLE;
}

static unsigned number_of(const struct link_service* service, const struct link* link) {
  return (unsigned)(link - service->links);
}

static struct link* link_to(struct link_service* service, unsigned cell) {
  for (unsigned n = 0; n < service->count; n++)
    if (service->links[n].peer == cell) return &service->links[n];
  return NULL;
}

static uint64_t header_of(unsigned kind) {
  return OAE_PUT(OAE_MESSAGE_HEADER_VERB, OAE_VERB_SEND) | OAE_PUT(OAE_MESSAGE_HEADER_KIND, kind);
}

static uint32_t transfer_of(const struct link* link) {
  return OAE_GET(link_read(link, OAE_LINK_SENT), OAE_LINK_SENT_NUMBER);
}

static uint64_t committed_header(const struct link_service* service, unsigned n) {
  return mmio_read64(service->swaps->block + OAE_FIRMWARE_COMMITTED_AT(n));
}

/* ---- Sending ---- */

static void launch(struct link* link, unsigned sends, const uint64_t* words) {
  uint64_t crc = crc64_words(words, SLICES - 1);

  for (unsigned i = 0; i < SLICES - 1; i++) link_write(link, OAE_LINK_SEND_AT(0) + 8 * i, words[i]);
  link_write(link, OAE_LINK_SEND_AT(0) + 8 * (SLICES - 1), crc);
  link->memory->number = transfer_of(link);
  link->memory->sends = sends;
  link_write(link, OAE_LINK_COMMAND, OAE_PUT(OAE_LINK_COMMAND_VERB, OAE_LINK_COMMAND_PACKET));
}

static void send_slot_of(struct link_service* service, struct link* link, unsigned n) {
  uint64_t words[SLICES - 1] = {header_of(OAE_MESSAGE_SLOT) | OAE_PUT(OAE_MESSAGE_HEADER_PORT, n)};

  for (unsigned i = 0; i < SWAP_PAYLOAD_WORDS; i++)
    words[1 + i] = mmio_read64(service->waits[n] + 8 * i);
  link->memory->port = n;
  link->memory->header = committed_header(service, n);
  launch(link, LINK_SLOT, words);
}

/* The ports take turns. */
static void send_slot(struct link_service* service, struct link* link) {
  uint64_t ready = 0;
  uint64_t later;

  for (uint64_t ports = link->ports; ports; ports &= ports - 1)
    if (service->waits[__builtin_ctzll(ports)]) ready |= ports & -ports;
  later = ready & ~1ull << link->memory->port % SWAP_PORTS_MAX;
  if (ready) send_slot_of(service, link, (unsigned)__builtin_ctzll(later ? later : ready));
}

/* Sends the most urgent message or slot, if there is one. After several reversals in succession the
 * link pauses until the next tick: the other side has no room, or the wire is bad. */
static void pump(struct link_service* service, struct link* link) {
  if (!link->up || link->memory->sends != LINK_IDLE || link->reversals >= LINK_REVERSALS) return;
  if (link->waiting)
    launch(link, LINK_MESSAGE, link->messages[link->first].words);
  else
    send_slot(service, link);
}

static void post(struct link_service* service, struct link* link,
                 const struct link_message* message) {
  if (link->waiting < LINK_MESSAGES)
    link->messages[(link->first + link->waiting++) % LINK_MESSAGES] = *message;
  pump(service, link);
}

static void drop_message(struct link* link) {
  if (!link->waiting) return;
  link->first = (link->first + 1) % LINK_MESSAGES;
  link->waiting--;
}

/* Ends the present transfer, which may never have begun. A reversed transfer is repeated. */
static void settled(struct link_service* service, struct link* link) {
  uint64_t sent = link_read(link, OAE_LINK_SENT);
  uint32_t number = OAE_GET(sent, OAE_LINK_SENT_NUMBER);
  unsigned outcome = OAE_GET(sent, OAE_LINK_SENT_OUTCOME);
  uint64_t sends = link->memory->sends;
  unsigned n = link->memory->port % SWAP_PORTS_MAX;
  bool begun = number != (uint32_t)link->memory->number;
  bool ended = begun && outcome != OAE_OUTCOME_REVERSED;

  if (sends == LINK_IDLE || (begun && outcome == OAE_OUTCOME_NONE)) return;
  if (ended && sends == LINK_SLOT) service->memory->ports[n].delivered = link->memory->header;
  link->memory->sends = LINK_IDLE;
  if (!begun) return; /* the link is down and has refused it */
  link->reversals = ended ? 0 : link->reversals + 1;
  if (outcome == OAE_OUTCOME_LOST) link->lost++;
  if (!ended) return;
  if (sends == LINK_MESSAGE) {
    drop_message(link);
  } else {
    service->waits[n] = 0;
    swap_service_serve_port(service->swaps, n);
  }
}

/* ---- Doubt, with the link down ---- */

static bool in_doubt(const struct link* link) {
  uint64_t state = link_read(link, OAE_LINK_STATE);

  return OAE_GET(state, OAE_LINK_STATE_PHASE) != OAE_LINK_STATE_IDLE &&
         OAE_GET(state, OAE_LINK_STATE_SENDER) == OAE_LINK_STATE_IN_DOUBT;
}

/* Asks the other side through each cell that may have a route to it. */
static void ask(struct link_service* service, const struct link* link) {
  const struct link_message query = {{header_of(OAE_MESSAGE_QUERY) |
                                          OAE_PUT(OAE_MESSAGE_HEADER_TO, link->peer) |
                                          OAE_PUT(OAE_MESSAGE_HEADER_FROM, service->cell),
                                      transfer_of(link), 0, link->memory->token}};

  for (unsigned n = 0; n < service->count; n++) {
    struct link* route = &service->links[n];

    if (route != link && route->up && !route->waiting) post(service, route, &query);
  }
}

/*
 * Returns the fate of a transfer of the other side. The link is no longer up at this side, so no
 * frame that is still on the wire can change it. A journal says nothing about transfers before its
 * beginning.
 */
static unsigned fate_of(const struct link* link, uint32_t number) {
  uint64_t journal = link_read(link, OAE_LINK_JOURNAL);
  uint64_t history = link_read(link, OAE_LINK_HISTORY);
  uint32_t last = OAE_GET(journal, OAE_LINK_JOURNAL_NUMBER);
  uint32_t first = OAE_GET(history, OAE_LINK_HISTORY_FIRST);

  if (!(history & OAE_LINK_HISTORY_KNOWN_MASK) || (int32_t)(number - first) < 0)
    return OAE_OUTCOME_LOST;
  if (number == last) return OAE_GET(journal, OAE_LINK_JOURNAL_OUTCOME);
  /* A later settlement says nothing about it. An unsettled transfer can no longer commit. */
  return (int32_t)(number - last) > 0 ? OAE_OUTCOME_REVERSED : OAE_OUTCOME_NONE;
}

/*
 * Answers the question of the other side of this link. As long as the link is up here, a frame on
 * the wire may still commit the transfer, so the answer waits. It does not wait for long, since the
 * other side has stopped sending: either the link goes down here as well, or it comes up again,
 * which settles the transfer without an answer.
 */
static void answer(struct link_service* service, struct link* link) {
  uint32_t number = (uint32_t)link->question.words[1];
  unsigned outcome;

  if (!link->asked || accepts_frames(link)) return;
  link->asked = false;
  outcome = fate_of(link, number);
  if (outcome == OAE_OUTCOME_NONE) return;
  const struct link_message verdict = {{header_of(OAE_MESSAGE_VERDICT) |
                                            OAE_PUT(OAE_MESSAGE_HEADER_TO, link->peer) |
                                            OAE_PUT(OAE_MESSAGE_HEADER_FROM, service->cell),
                                        number, outcome, link->question.words[3]}};
  if (link->asked_through->up) post(service, link->asked_through, &verdict);
}

static unsigned command_of(unsigned outcome) {
  switch (outcome) {
    case OAE_OUTCOME_COMMITTED:
      return OAE_LINK_COMMAND_SETTLE_COMMITTED;
    case OAE_OUTCOME_REVERSED:
      return OAE_LINK_COMMAND_SETTLE_REVERSED;
    case OAE_OUTCOME_LOST:
      return OAE_LINK_COMMAND_SETTLE_LOST;
    default:
      return OAE_LINK_COMMAND_NONE;
  }
}

/* A verdict with another token dates from before this side lost its power, so its number means
 * another transfer. */
static void handle_verdict(struct link_service* service, struct link* link,
                           const struct link_message* verdict) {
  uint32_t number = (uint32_t)verdict->words[1];
  unsigned outcome = (unsigned)verdict->words[2];

  if (!in_doubt(link) || transfer_of(link) != number || verdict->words[3] != link->memory->token)
    return;
  link_write(link, OAE_LINK_COMMAND, OAE_PUT(OAE_LINK_COMMAND_VERB, command_of(outcome)));
  link->by_others++;
  if (service->observer && service->observer->settled)
    service->observer->settled(number_of(service, link), number, outcome);
}

/* ---- Receiving ---- */

/* Handles a query or a verdict, or passes it on to another cell. Returns false if it is invalid. */
static bool receive_message(struct link_service* service, struct link* link,
                            const struct link_message* message) {
  uint64_t header = message->words[0];
  unsigned to = OAE_GET(header, OAE_MESSAGE_HEADER_TO);
  unsigned from = OAE_GET(header, OAE_MESSAGE_HEADER_FROM);
  struct link* about;

  if (to != service->cell) {
    struct link* route = link_to(service, to);

    /* Only messages of a neighbour are passed on, so that none circulates for ever. */
    if (!route || link->peer != from) return false;
    if (route->up) post(service, route, message);
    return true;
  }
  about = link_to(service, from);
  if (!about) return false;
  if (OAE_GET(header, OAE_MESSAGE_HEADER_KIND) == OAE_MESSAGE_QUERY) {
    about->asked = true;
    about->asked_through = link;
    about->question = *message;
    answer(service, about);
    return true;
  }
  if (message->words[2] > OAE_OUTCOME_LOST || command_of((unsigned)message->words[2]) == OAE_LINK_COMMAND_NONE)
    return false;
  handle_verdict(service, about, message);
  return true;
}

/* ---- Slots that wait for their host ---- */

static uint32_t arrived_of(uint64_t arrived) { return (uint32_t)arrived; }
static uint32_t frame_of(uint64_t arrived) { return (uint32_t)(arrived >> 32); }

/* The number of slots that have arrived and are not used up. */
static unsigned waiting_for(volatile const struct link_port_memory* port) {
  return (uint16_t)(arrived_of(port->arrived) - (uint16_t)port->used);
}

/* Stores the slot of this frame, unless the firmware stored it before a restart. */
static bool receive_slot(struct link_service* service, unsigned n, const uint64_t* payload,
                         uint32_t frame) {
  volatile struct link_port_memory* port = &service->memory->ports[n];
  uint32_t arrived = arrived_of(port->arrived);

  if (frame_of(port->arrived) == frame) return true;
  if (waiting_for(port) >= LINK_SLOTS) return false;
  for (unsigned i = 0; i < SWAP_PAYLOAD_WORDS; i++)
    port->inbox[arrived % LINK_SLOTS][i] = payload[i];
  port->arrived = (uint64_t)frame << 32 | (uint32_t)(arrived + 1);
  swap_service_serve_port(service->swaps, n);
  return true;
}

/* The link has released all frames except those from `first` to `last`. */
static void forget_frames(struct link_service* service, const struct link* link, uint32_t first,
                          uint32_t last) {
  for (uint64_t ports = link->ports; ports; ports &= ports - 1) {
    volatile struct link_port_memory* port = &service->memory->ports[__builtin_ctzll(ports)];
    uint32_t frame = frame_of(port->arrived);

    if (frame && frame - first > last - first) port->arrived = arrived_of(port->arrived);
  }
}

static bool receive_one(struct link_service* service, struct link* link,
                        const struct link_message* message, uint32_t frame) {
  uint64_t header = message->words[0];
  unsigned n = OAE_GET(header, OAE_MESSAGE_HEADER_PORT);
  bool joined = n < SWAP_PORTS_MAX && link->ports >> n & 1;

  if (OAE_GET(header, OAE_MESSAGE_HEADER_VERB) != OAE_VERB_SEND) return false;
  switch (OAE_GET(header, OAE_MESSAGE_HEADER_KIND)) {
    case OAE_MESSAGE_SLOT:
      return joined && receive_slot(service, n, &message->words[1], frame);
    case OAE_MESSAGE_QUERY:
    case OAE_MESSAGE_VERDICT:
      return receive_message(service, link, message);
    default:
      return false;
  }
}

static void receive(struct link_service* service, struct link* link) {
  uint64_t received;

  while (OAE_GET(received = link_read(link, OAE_LINK_RECEIVED), OAE_LINK_RECEIVED_TRANSFERS)) {
    unsigned slots = 1u << 2 * OAE_GET(received, OAE_LINK_RECEIVED_BEATS);
    uint32_t last = OAE_GET(received, OAE_LINK_RECEIVED_NUMBER);
    uint32_t first = last - slots + 1;

    forget_frames(service, link, first, last);

    for (unsigned k = 0; k < slots; k++) {
      struct link_message message;

      for (unsigned i = 0; i < SLICES - 1; i++)
        message.words[i] = link_read(link, OAE_LINK_RECEIVE_AT(k) + 8 * i);
      if (!receive_one(service, link, &message, first + k)) link->bad++;
    }
    link_write(link, OAE_LINK_COMMAND, OAE_PUT(OAE_LINK_COMMAND_VERB, OAE_LINK_COMMAND_TAKE));
  }
  forget_frames(service, link, 1, 0);
}

/* ---- The link itself ---- */

static void goes_down(struct link_service* service, struct link* link, uint64_t state) {
  link->downs++;
  if (service->observer && service->observer->down)
    service->observer->down(number_of(service, link), OAE_GET(state, OAE_LINK_STATE_REASON));
  if (in_doubt(link)) {
    if (service->observer && service->observer->in_doubt)
      service->observer->in_doubt(number_of(service, link), transfer_of(link));
    ask(service, link);
  }
  /* Messages from before the link went down are dropped, since each cell repeats its questions. */
  link->waiting = 0;
}

static void comes_up(struct link_service* service, struct link* link) {
  link->memory->token = OAE_GET(link_read(link, OAE_LINK_SESSION), OAE_LINK_SESSION_OTHER);
  link->reversals = 0;
  link->asked = false;
  if (service->observer && service->observer->up) service->observer->up(number_of(service, link));
  for (unsigned n = 0; n < service->count; n++)
    if (&service->links[n] != link && in_doubt(&service->links[n]))
      ask(service, &service->links[n]);
}

static void begin(struct link* link) {
  if (phase_of(link) == OAE_LINK_STATE_DOWN)
    link_write(link, OAE_LINK_CONTROL, OAE_LINK_CONTROL_UP_MASK);
}

void link_service_serve(struct link_service* service, unsigned n) {
  struct link* link = &service->links[n];
  uint64_t events = link_read(link, OAE_LINK_EVENT);
  uint64_t state;
  bool was_up = link->up;

  if (!events) return;
  link_write(link, OAE_LINK_EVENT, events);
  state = link_read(link, OAE_LINK_STATE);
  link->up = OAE_GET(state, OAE_LINK_STATE_PHASE) == OAE_LINK_STATE_IDLE;
  if (events & OAE_LINK_EVENT_DOWN_MASK || (was_up && !link->up)) goes_down(service, link, state);
  if (events & (OAE_LINK_EVENT_SETTLED_MASK | OAE_LINK_EVENT_REFUSED_MASK)) settled(service, link);
  receive(service, link);
  if (link->up && (!was_up || events & OAE_LINK_EVENT_UP_MASK)) comes_up(service, link);
  begin(link);
  answer(service, link);
  pump(service, link);
}

/* ---- The partner of the joined ports ---- */

static const uint64_t* offer(void* context, unsigned n) {
  struct link_service* service = context;
  volatile const struct link_port_memory* port = &service->memory->ports[n];

  if (!waiting_for(port)) return NULL;
  /* Nothing else writes this slot until it is used up. */
  return (const uint64_t*)port->inbox[(uint16_t)port->used % LINK_SLOTS];
}

static struct link* link_of_port(struct link_service* service, unsigned n) {
  struct link* link = service->links;

  while (!(link->ports >> n & 1)) link++;
  return link;
}

/* Returns epoch and sequence of a host's slot, above the 16 bits of a count. */
static uint64_t user_of(uint64_t header) {
  return OAE_GET(header, OAE_SLOT_HEADER_EPOCH) << 16 |
         OAE_GET(header, OAE_SLOT_HEADER_SEQUENCE) << 24;
}

/* The committed slot has used up the offer. This is called again after a restart. */
static void used(void* context, unsigned n) {
  struct link_service* service = context;
  volatile struct link_port_memory* port = &service->memory->ports[n];
  uint64_t user = user_of(committed_header(service, n));

  if (waiting_for(port) && port->used >> 16 != user >> 16)
    port->used = user | (uint16_t)(port->used + 1);
}

static bool accept(void* context, unsigned n, uintptr_t payload) {
  struct link_service* service = context;

  if (service->memory->ports[n].delivered == committed_header(service, n)) return true;
  service->waits[n] = payload;
  pump(service, link_of_port(service, n));
  return false;
}

/* If no link has begun since power-up, power was lost, and the memory holds random values. */
static bool memory_is_made(const struct link_service* service) {
  bool begun = false;

  for (unsigned n = 0; n < service->count; n++)
    if (OAE_GET(link_read(&service->links[n], OAE_LINK_SESSION), OAE_LINK_SESSION_OWN)) begun = true;
  return begun && service->memory->made == LINK_MEMORY_MADE;
}

static void make_memory(struct link_service* service) {
  volatile struct link_service_memory* memory = service->memory;

  memory->made = 0;
  for (unsigned n = 0; n < LINKS_MAX; n++) {
    memory->links[n].sends = LINK_IDLE;
    memory->links[n].port = 0;
    memory->links[n].header = 0;
    memory->links[n].number = 0;
    memory->links[n].token = 0;
  }
  for (unsigned n = 0; n < SWAP_PORTS_MAX; n++) {
    for (unsigned i = 0; i < SWAP_PAYLOAD_WORDS; i++) memory->ports[n].inbox[0][i] = 0;
    /* An empty slot answers the first swap. */
    memory->ports[n].arrived = 1;
    memory->ports[n].used = 0;
    memory->ports[n].delivered = 0;
  }
  memory->made = LINK_MEMORY_MADE;
}

void link_service_init(struct link_service* service, unsigned cell, const struct link_place* places,
                       unsigned count, struct swap_service* swaps,
                       volatile struct link_service_memory* memory,
                       const struct link_observer* observer) {
  *service = (struct link_service){
      .cell = cell,
      .count = count,
      .swaps = swaps,
      .memory = memory,
      .partner = {.context = service, .offer = offer, .used = used, .accept = accept},
      .observer = observer};
  for (unsigned n = 0; n < count; n++) {
    service->links[n] = (struct link){.base = places[n].base,
                                      .peer = places[n].peer,
                                      .ports = places[n].ports,
                                      .memory = &memory->links[n]};
    service->partner.ports |= places[n].ports;
  }
  if (!memory_is_made(service)) make_memory(service);
}

void link_service_start(struct link_service* service) {
  for (unsigned n = 0; n < service->count; n++) {
    struct link* link = &service->links[n];

    link_write(link, OAE_LINK_IRQ_ENABLE,
               OAE_LINK_IRQ_ENABLE_EVENTS_MASK & ~(uint64_t)OAE_LINK_EVENT_ALIVE_MASK);
    link->up = phase_of(link) == OAE_LINK_STATE_IDLE;
    if (link->up) comes_up(service, link);
    settled(service, link);
    receive(service, link);
    begin(link);
    pump(service, link);
  }
}

void link_service_tick(struct link_service* service) {
  for (unsigned n = 0; n < service->count; n++) {
    struct link* link = &service->links[n];

    link_write(link, OAE_LINK_LIVENESS, service->swaps->liveness);
    link->reversals = 0;
    begin(link);
    answer(service, link);
    if (in_doubt(link)) ask(service, link);
    pump(service, link);
  }
}
