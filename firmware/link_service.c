/* SPDX-License-Identifier: Apache-2.0 */
#include "link_service.h"

#include <stddef.h>

#include "crc64.h"
#include "mmio.h"
#include "oae_registers.h"

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

/* ---- Sending ---- */

static void launch(struct link* link, unsigned sends, const uint64_t* words) {
  uint64_t crc = crc64_words(words, SLICES - 1);

  for (unsigned i = 0; i < SLICES - 1; i++) link_write(link, OAE_LINK_SEND_AT(0) + 8 * i, words[i]);
  link_write(link, OAE_LINK_SEND_AT(0) + 8 * (SLICES - 1), crc);
  link->sends = sends;
  link_write(link, OAE_LINK_COMMAND, OAE_PUT(OAE_LINK_COMMAND_VERB, OAE_LINK_COMMAND_PACKET));
}

static void send_slot_of(struct link_service* service, struct link* link, unsigned n) {
  uint64_t words[SLICES - 1] = {header_of(OAE_MESSAGE_SLOT) | OAE_PUT(OAE_MESSAGE_HEADER_PORT, n)};

  for (unsigned i = 0; i < SWAP_PAYLOAD_WORDS; i++)
    words[1 + i] = mmio_read64(service->ports[n].waits + 8 * i);
  link->port = n;
  launch(link, LINK_SLOT, words);
}

/* The ports take turns. */
static void send_slot(struct link_service* service, struct link* link) {
  uint64_t ready = 0;
  uint64_t later;

  for (uint64_t ports = link->ports; ports; ports &= ports - 1)
    if (service->ports[__builtin_ctzll(ports)].waits) ready |= ports & -ports;
  later = ready & ~1ull << link->port;
  if (ready) send_slot_of(service, link, (unsigned)__builtin_ctzll(later ? later : ready));
}

/* Sends what is most urgent, if there is anything. */
static void pump(struct link_service* service, struct link* link) {
  if (!link->up || link->sends != LINK_IDLE) return;
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

/* The transfer under way has come to its end, or was none; one that was reversed is made anew. */
static void settled(struct link_service* service, struct link* link) {
  uint64_t sent = link_read(link, OAE_LINK_SENT);
  uint32_t number = OAE_GET(sent, OAE_LINK_SENT_NUMBER);
  unsigned outcome = OAE_GET(sent, OAE_LINK_SENT_OUTCOME);
  unsigned sends = link->sends;
  struct link_port* port = &service->ports[link->port];

  if (sends == LINK_IDLE || (number != link->number && outcome == OAE_OUTCOME_NONE)) return;
  link->sends = LINK_IDLE;
  if (number == link->number) return; /* it was refused: the link is down */
  link->number = number;
  if (outcome == OAE_OUTCOME_LOST) link->lost++;
  if (outcome == OAE_OUTCOME_REVERSED) return;
  if (sends == LINK_MESSAGE) {
    link->first = (link->first + 1) % LINK_MESSAGES;
    link->waiting--;
  } else {
    port->waits = 0;
    port->has_arrived = true;
    swap_service_serve_port(service->swaps, link->port);
  }
}

/* ---- Doubt, with the link down ---- */

static uint32_t transfer_of(const struct link* link) {
  return OAE_GET(link_read(link, OAE_LINK_SENT), OAE_LINK_SENT_NUMBER);
}

static bool in_doubt(const struct link* link) {
  uint64_t state = link_read(link, OAE_LINK_STATE);

  return OAE_GET(state, OAE_LINK_STATE_PHASE) != OAE_LINK_STATE_IDLE &&
         OAE_GET(state, OAE_LINK_STATE_SENDER) == OAE_LINK_STATE_IN_DOUBT;
}

/* Asks the other side through each cell that may know a way to it. */
static void ask(struct link_service* service, const struct link* link) {
  const struct link_message query = {{header_of(OAE_MESSAGE_QUERY) |
                                          OAE_PUT(OAE_MESSAGE_HEADER_TO, link->peer) |
                                          OAE_PUT(OAE_MESSAGE_HEADER_FROM, service->cell),
                                      transfer_of(link)}};

  for (unsigned n = 0; n < service->count; n++) {
    struct link* way = &service->links[n];

    if (way != link && way->up && !way->waiting) post(service, way, &query);
  }
}

/*
 * What became of a transfer of cell `from`, whose link to here it believes to be down. As long as
 * it is up here, what is on the wire may still commit the transfer; so it goes down first.
 */
static unsigned fate_of(struct link_service* service, unsigned from, uint32_t number) {
  struct link* link = link_to(service, from);
  uint64_t journal;

  if (!link) return OAE_OUTCOME_NONE;
  link_write(link, OAE_LINK_CONTROL, 0);
  while (phase_of(link) != OAE_LINK_STATE_DOWN)
    ;
  journal = link_read(link, OAE_LINK_JOURNAL);
  link_write(link, OAE_LINK_CONTROL, OAE_LINK_CONTROL_UP_MASK);
  if (OAE_GET(journal, OAE_LINK_JOURNAL_NUMBER) == number)
    return OAE_GET(journal, OAE_LINK_JOURNAL_OUTCOME);
  /* One settled later says nothing of it; one that has never been settled can no longer be. */
  return (int32_t)(number - (uint32_t)OAE_GET(journal, OAE_LINK_JOURNAL_NUMBER)) > 0
             ? OAE_OUTCOME_REVERSED
             : OAE_OUTCOME_NONE;
}

static void take_verdict(struct link_service* service, unsigned from, uint32_t number,
                         unsigned outcome) {
  struct link* link = link_to(service, from);

  if (!link || !in_doubt(link) || transfer_of(link) != number) return;
  link_write(link, OAE_LINK_COMMAND,
             OAE_PUT(OAE_LINK_COMMAND_VERB, outcome == OAE_OUTCOME_COMMITTED
                                                ? OAE_LINK_COMMAND_SETTLE_COMMITTED
                                                : OAE_LINK_COMMAND_SETTLE_REVERSED));
  link->by_others++;
  if (service->observer && service->observer->settled)
    service->observer->settled(number_of(service, link), number, outcome);
}

/* ---- Receiving ---- */

/* A query or a verdict: for this cell, or to be passed on. False: it makes no sense. */
static bool receive_message(struct link_service* service, struct link* link,
                            const struct link_message* message) {
  uint64_t header = message->words[0];
  unsigned to = OAE_GET(header, OAE_MESSAGE_HEADER_TO);
  unsigned from = OAE_GET(header, OAE_MESSAGE_HEADER_FROM);
  uint32_t number = (uint32_t)message->words[1];
  unsigned outcome;

  if (to != service->cell) {
    struct link* way = link_to(service, to);

    /* Only from the cell that says it, so that nothing goes round for ever. */
    if (!way || link->peer != from) return false;
    if (way->up) post(service, way, message);
    return true;
  }
  if (OAE_GET(header, OAE_MESSAGE_HEADER_KIND) == OAE_MESSAGE_QUERY) {
    outcome = fate_of(service, from, number);
    if (outcome != OAE_OUTCOME_COMMITTED && outcome != OAE_OUTCOME_REVERSED) return false;
    const struct link_message verdict = {{header_of(OAE_MESSAGE_VERDICT) |
                                              OAE_PUT(OAE_MESSAGE_HEADER_TO, from) |
                                              OAE_PUT(OAE_MESSAGE_HEADER_FROM, service->cell),
                                          number, outcome}};
    post(service, link, &verdict);
    return true;
  }
  outcome = (unsigned)message->words[2];
  if (outcome != OAE_OUTCOME_COMMITTED && outcome != OAE_OUTCOME_REVERSED) return false;
  take_verdict(service, from, number, outcome);
  return true;
}

static bool receive_slot(struct link_service* service, unsigned n, const uint64_t* payload) {
  struct link_port* port = &service->ports[n];
  uint64_t* place = port->inbox[port->arrived % LINK_SLOTS];

  if (port->arrived - port->used == LINK_SLOTS) return false;
  for (unsigned i = 0; i < SWAP_PAYLOAD_WORDS; i++) place[i] = payload[i];
  port->arrived++;
  swap_service_serve_port(service->swaps, n);
  return true;
}

static bool receive_one(struct link_service* service, struct link* link,
                        const struct link_message* message) {
  uint64_t header = message->words[0];
  unsigned n = OAE_GET(header, OAE_MESSAGE_HEADER_PORT);
  bool joined = n < SWAP_PORTS_MAX && link->ports >> n & 1;

  if (OAE_GET(header, OAE_MESSAGE_HEADER_VERB) != OAE_VERB_SEND) return false;
  switch (OAE_GET(header, OAE_MESSAGE_HEADER_KIND)) {
    case OAE_MESSAGE_SLOT:
      return joined && receive_slot(service, n, &message->words[1]);
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

    for (unsigned k = 0; k < slots; k++) {
      struct link_message message;

      for (unsigned i = 0; i < SLICES - 1; i++)
        message.words[i] = link_read(link, OAE_LINK_RECEIVE_AT(k) + 8 * i);
      if (!receive_one(service, link, &message)) link->bad++;
    }
    link_write(link, OAE_LINK_COMMAND, OAE_PUT(OAE_LINK_COMMAND_VERB, OAE_LINK_COMMAND_TAKE));
  }
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
}

static void comes_up(struct link_service* service, struct link* link) {
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
  pump(service, link);
}

/* ---- The partner of the joined ports ---- */

static const uint64_t* offer(void* context, unsigned n) {
  const struct link_port* port = &((struct link_service*)context)->ports[n];

  return port->arrived != port->used ? port->inbox[port->used % LINK_SLOTS] : NULL;
}

static struct link* link_of_port(struct link_service* service, unsigned n) {
  struct link* link = service->links;

  while (!(link->ports >> n & 1)) link++;
  return link;
}

static void used(void* context, unsigned n) {
  struct link_port* port = &((struct link_service*)context)->ports[n];

  if (port->arrived != port->used) port->used++;
}

static bool take(void* context, unsigned n, uintptr_t payload) {
  struct link_service* service = context;
  struct link_port* port = &service->ports[n];

  if (port->has_arrived) {
    port->has_arrived = false;
    return true;
  }
  port->waits = payload;
  pump(service, link_of_port(service, n));
  return false;
}

void link_service_init(struct link_service* service, unsigned cell, const struct link_place* places,
                       unsigned count, struct swap_service* swaps,
                       const struct link_observer* observer) {
  *service = (struct link_service){
      .cell = cell,
      .count = count,
      .swaps = swaps,
      .partner = {.context = service, .offer = offer, .used = used, .take = take},
      .observer = observer};
  for (unsigned n = 0; n < count; n++) {
    service->links[n] =
        (struct link){.base = places[n].base, .peer = places[n].peer, .ports = places[n].ports};
    service->partner.ports |= places[n].ports;
    /* The empty slot that answers the first swap. */
    for (uint64_t ports = places[n].ports; ports; ports &= ports - 1)
      service->ports[__builtin_ctzll(ports)].arrived = 1;
  }
}

void link_service_start(struct link_service* service) {
  for (unsigned n = 0; n < service->count; n++) {
    struct link* link = &service->links[n];

    link_write(link, OAE_LINK_IRQ_ENABLE,
               OAE_LINK_IRQ_ENABLE_EVENTS_MASK & ~(uint64_t)OAE_LINK_EVENT_ALIVE_MASK);
    link->number = transfer_of(link);
    begin(link);
  }
}

void link_service_tick(struct link_service* service) {
  for (unsigned n = 0; n < service->count; n++) {
    struct link* link = &service->links[n];

    link_write(link, OAE_LINK_LIVENESS, service->swaps->liveness);
    begin(link);
    if (in_doubt(link)) ask(service, link);
    pump(service, link);
  }
}
