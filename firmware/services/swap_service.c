/* SPDX-License-Identifier: Apache-2.0 */
#include "services/swap_service.h"

#include <stddef.h>

#include "base/mmio.h"
#include "oae_registers.h"
#include "services/crc64.h"
#include "services/swap_offer.h"

/* The events that take an offer back or make one possible. */
#define OFFER_EVENTS                                                   \
  (OAE_FIRMWARE_EVENT_REVERSED_MASK | OAE_FIRMWARE_EVENT_OPENED_MASK | \
   OAE_FIRMWARE_EVENT_CLOSED_MASK | OAE_FIRMWARE_EVENT_PASSED_MASK)

static uint64_t block_read(const struct swap_service* service, unsigned offset) {
  return mmio_read64(service->block + offset);
}

static void block_write(const struct swap_service* service, unsigned offset, uint64_t value) {
  mmio_write64(service->block + offset, value);
}

static const struct swap_partner* partner_of(const struct swap_service* service, unsigned n) {
  return service->partner && service->partner->ports >> n & 1 ? service->partner : NULL;
}

/* The ports that the service may serve, unless another core has them. */
static uint64_t served(const struct swap_service* service) {
  return ~0ull >> (64 - service->count) & ~(service->partner ? service->partner->bridged : 0);
}

/* Takes the committed slot. Returns false if it has to stay for now. */
static bool collect(struct swap_service* service, unsigned n) {
  const struct swap_partner* partner = partner_of(service, n);
  struct swap_port* port = &service->ports[n];
  uint64_t header = partner ? block_read(service, OAE_FIRMWARE_COMMITTED_AT(n)) : 0;

  if (OAE_GET(header, OAE_SLOT_HEADER_VERB) == OAE_VERB_SWAP) {
    if (header != port->reported) partner->used(partner->context, n);
    port->reported = header;
    if (!partner->accept(partner->context, n, service->block + OAE_FIRMWARE_COMMITTED_AT(n) + 8))
      return false;
  } else {
    port->host_word = block_read(service, OAE_FIRMWARE_COMMITTED_AT(n) + 8);
  }
  port->committed++;
  return true;
}

/* What keeps a port from being offered a payload. */
enum hindrance {
  NONE,
  WAITS, /* Something has to happen first. It is an event, or the partner says so. */
  MOVED, /* Something has happened since the status was read. */
};

/*
 * A partner's payload is offered again after a reversal, so its order is kept only if none is in a
 * tentative swap. No offer waits for a swap of words, which has no payload and whose end is no event.
 */
static enum hindrance tentative_swap(const struct swap_service* service, unsigned n,
                                     uint64_t status) {
  uint64_t verb, now;

  if (!(status & OAE_FIRMWARE_STATUS_TENTATIVE_MASK)) return NONE;
  verb = OAE_GET(block_read(service, OAE_FIRMWARE_TENTATIVE_AT(n)), OAE_SLOT_HEADER_VERB);
  now = block_read(service, OAE_FIRMWARE_STATUS_AT(n));
  if ((now ^ status) & ~OAE_FIRMWARE_STATUS_EVENTS_MASK) return MOVED;
  return verb == OAE_VERB_SWAP || verb == OAE_VERB_SEND ? WAITS : NONE;
}

static enum hindrance hindrance_of(const struct swap_service* service, unsigned n,
                                   uint64_t status) {
  const struct swap_partner* partner = partner_of(service, n);

  if (!(status & OAE_FIRMWARE_STATUS_OPEN_MASK) || status & OAE_FIRMWARE_STATUS_OFFERED_MASK)
    return WAITS;
  if (!partner) return NONE;
  return partner->offer(partner->context, n) ? tentative_swap(service, n, status) : WAITS;
}

static void write_offer(struct swap_service* service, unsigned n, uint64_t header) {
  const struct swap_partner* partner = partner_of(service, n);
  const struct swap_port* port = &service->ports[n];
  const uint64_t own[SWAP_PAYLOAD_WORDS] = {
      port->committed,
      OAE_GET(header, OAE_SLOT_HEADER_SEQUENCE),
      service->liveness,
      port->host_word,
  };
  const uint64_t* payload = partner ? partner->offer(partner->context, n) : own;
  uint64_t slices[SWAP_SLICES];

  swap_offer_make(header, payload, slices);
  swap_offer_write(service->block, n, slices);
}

/*
 * Serves a port by what its status shows. Returns false if the status has to be read again. The
 * command that ends the service acknowledges the events in the status. A change in between leaves
 * an event behind: another one or, if the offer is out of date by then, its refusal. A second event
 * of the same kind is acknowledged unseen, however, and no offer may depend on it. The actions
 * follow from the other parts of the status; the events are only counted.
 */
static bool serve_once(struct swap_service* service, unsigned n) {
  struct swap_port* port = &service->ports[n];
  uint64_t status = block_read(service, OAE_FIRMWARE_STATUS_AT(n));
  uint64_t events = OAE_GET(status, OAE_FIRMWARE_STATUS_EVENTS);
  uint64_t command = OAE_PUT(OAE_FIRMWARE_COMMAND_ACKNOWLEDGE, events);
  uint64_t header = swap_offer_header(status);
  enum hindrance hindrance;

  if (events & OAE_FIRMWARE_EVENT_EXCHANGED_MASK) port->exchanged++;
  if (events & OAE_FIRMWARE_EVENT_REVERSED_MASK) port->reversed++;
  if (events & OAE_FIRMWARE_EVENT_BAD_OFFER_MASK) {
    port->bad_offers++;
    port->refused = true;
  }
  if (status & OAE_FIRMWARE_STATUS_COMMITTED_MASK && collect(service, n))
    command |= OAE_FIRMWARE_COMMAND_TAKE_MASK;
  /* An offer is refused if the port was reopened meanwhile. The same offer is not repeated. */
  hindrance = hindrance_of(service, n, status);
  if (hindrance == NONE && !(port->refused && header == port->published)) {
    port->published = header;
    port->refused = false;
    write_offer(service, n, header);
    command |= OAE_FIRMWARE_COMMAND_PUBLISH_MASK;
  }
  if (command) block_write(service, OAE_FIRMWARE_COMMAND_AT(n), command);
  if (hindrance == MOVED) return false;
  return !(events & OFFER_EVENTS) || command & OAE_FIRMWARE_COMMAND_PUBLISH_MASK;
}

void swap_service_serve_port(struct swap_service* service, unsigned n) {
  while (!serve_once(service, n))
    ;
}

/* Which of these ports this core serves. It gives away those that another core has asked for, and
 * takes back what that one has returned. */
static uint64_t keep(struct swap_service* service, uint64_t ports) {
  uint64_t returned = service->lent & ~service->borrowed & ports;
  uint64_t lent;

  if (((service->lent ^ service->borrowed) & ports) == 0) return ports & ~service->lent;
  __atomic_fetch_or(&service->lent, service->borrowed & ports, __ATOMIC_SEQ_CST);
  __atomic_fetch_and(&service->lent, ~returned, __ATOMIC_SEQ_CST);
  /* Other cores may do the same with ports of theirs. */
  do {
    lent = service->lent;
    block_write(service, OAE_FIRMWARE_IRQ_ENABLE, served(service) & ~lent);
  } while (service->lent != lent);
  for (; returned; returned &= returned - 1)
    swap_service_serve_port(service, (unsigned)__builtin_ctzll(returned));
  return ports & ~service->lent;
}

bool swap_service_borrow(struct swap_service* service, uint64_t ports) {
  if (ports & ~served(service)) return false;
  if (service->partner && service->partner->ports & ports) return false;
  service->borrowed = ports;
  return true;
}

bool swap_service_lends(const struct swap_service* service) {
  return service->lent == service->borrowed;
}

bool swap_service_init(struct swap_service* service, uintptr_t block,
                       const struct swap_partner* partner) {
  uint64_t id = mmio_read64(block + OAE_FIRMWARE_ID);
  uint64_t ports = OAE_GET(id, OAE_FIRMWARE_ID_PORTS);

  if (OAE_GET(id, OAE_FIRMWARE_ID_MAGIC) != OAE_GET(OAE_FIRMWARE_ID_RESET, OAE_FIRMWARE_ID_MAGIC) ||
      !ports || ports > SWAP_PORTS_MAX)
    return false;
  *service = (struct swap_service){.block = block, .count = (unsigned)ports, .partner = partner};
  crc64_init();
  swap_service_tick(service, 1);
  for (unsigned n = 0; n < service->count; n++)
    if (served(service) >> n & 1) swap_service_serve_port(service, n);
  block_write(service, OAE_FIRMWARE_IRQ_ENABLE, served(service));
  return true;
}

void swap_service_share_words(struct swap_service* service, unsigned per_port) {
  const unsigned words = OAE_GET(OAE_HOST_FEATURES_RESET, OAE_HOST_FEATURES_WORDS);

  for (unsigned n = 0; n < service->count; n++) {
    uint64_t first = per_port ? (uint64_t)n * per_port : 0;
    uint64_t count = per_port ? per_port : words;

    if (first > words) first = words;
    if (count > words - first) count = words - first;
    block_write(
        service, OAE_FIRMWARE_WORDS_AT(n),
        OAE_PUT(OAE_FIRMWARE_WORDS_FIRST, first) | OAE_PUT(OAE_FIRMWARE_WORDS_COUNT, count));
  }
}

bool swap_service_serve(struct swap_service* service, uint64_t ports) {
  uint64_t waiting;

  ports = keep(service, ports);
  waiting = block_read(service, OAE_FIRMWARE_IRQ_STATUS) & ports & served(service);
  if (!waiting) return false;
  for (; waiting; waiting &= waiting - 1) {
    unsigned n = (unsigned)__builtin_ctzll(waiting);

    if (n < service->count) swap_service_serve_port(service, n);
  }
  return true;
}

void swap_service_tick(struct swap_service* service, uint64_t ticks) {
  uint32_t liveness = service->liveness + (uint32_t)ticks;

  service->liveness = liveness;
  block_write(service, OAE_FIRMWARE_LIVENESS, liveness);
}

void swap_service_retry(struct swap_service* service, uint64_t ports) {
  ports = keep(service, ports);
  for (unsigned n = 0; n < service->count; n++) {
    if (ports >> n & 1 && service->ports[n].refused) {
      service->ports[n].refused = false;
      swap_service_serve_port(service, n);
    }
  }
}
