/* SPDX-License-Identifier: Apache-2.0 */
#include "services/window_service.h"

#include "base/mmio.h"
#include "oae_registers.h"

static uint64_t link_read(const struct window_service* service, unsigned offset) {
  return mmio_read64(service->link + offset);
}

static void link_write(const struct window_service* service, unsigned offset, uint64_t value) {
  mmio_write64(service->link + offset, value);
}

/* A link that is up stays up. One that holds off after power-up begins by itself afterwards. */
static void begin(const struct window_service* service) {
  link_write(service, OAE_WINDOW_CONTROL,
             OAE_WINDOW_CONTROL_UP_MASK | (service->block ? OAE_WINDOW_CONTROL_BRIDGED_MASK : 0));
}

/* Joining a port that is joined changes nothing. */
static void join_ports(const struct window_service* service) {
  for (uint64_t ports = service->ports; ports; ports &= ports - 1)
    mmio_write64(service->block + OAE_FIRMWARE_JOIN_AT((unsigned)__builtin_ctzll(ports)),
                 OAE_FIRMWARE_JOIN_JOINED_MASK);
  link_write(service, OAE_WINDOW_PORTS, service->ports);
}

/* The label of a slot is the number of its port (passage.yaml), and stays so in the whole chain. */
static void write_routes(const struct window_service* service) {
  for (unsigned port = 0; port < OAE_WINDOW_ROUTE_COUNT; port++)
    link_write(service, OAE_WINDOW_ROUTE_AT(port),
               service->ports >> port & 1
                   ? OAE_WINDOW_ROUTE_ONWARD_MASK | OAE_PUT(OAE_WINDOW_ROUTE_LABEL, port)
                   : 0);
}

void window_service_init(struct window_service* service, uintptr_t link, uintptr_t block,
                         unsigned peer, uint64_t ports, const struct window_observer* observer) {
  *service = (struct window_service){
      .link = link, .block = block, .peer = peer, .ports = ports, .observer = observer};
}

void window_service_start(struct window_service* service) {
  if (service->block)
    join_ports(service);
  else
    write_routes(service);
  service->lost = link_read(service, OAE_WINDOW_COUNT_LOST);
  link_write(service, OAE_WINDOW_IRQ_ENABLE,
             OAE_WINDOW_EVENT_UP_MASK | OAE_WINDOW_EVENT_DOWN_MASK | OAE_WINDOW_EVENT_LOST_MASK);
  begin(service);
}

void window_service_serve(struct window_service* service) {
  uint64_t events = link_read(service, OAE_WINDOW_EVENT);
  uint64_t state;

  if (!events) return;
  link_write(service, OAE_WINDOW_EVENT, events);
  state = link_read(service, OAE_WINDOW_STATE);
  if (events & OAE_WINDOW_EVENT_DOWN_MASK)
    service->observer->down(service->peer, OAE_GET(state, OAE_WINDOW_STATE_REASON));
  if (events & OAE_WINDOW_EVENT_LOST_MASK) {
    uint64_t lost = link_read(service, OAE_WINDOW_COUNT_LOST);

    service->observer->lost(service->peer, lost - service->lost);
    service->lost = lost;
  }
  if (OAE_GET(state, OAE_WINDOW_STATE_PHASE) == OAE_WINDOW_PHASE_DOWN)
    begin(service);
  else if (events & OAE_WINDOW_EVENT_UP_MASK)
    service->observer->up(service->peer);
}

void window_service_tick(struct window_service* service, uint32_t liveness) {
  link_write(service, OAE_WINDOW_LIVENESS, liveness);
  if (OAE_GET(link_read(service, OAE_WINDOW_STATE), OAE_WINDOW_STATE_PHASE) ==
      OAE_WINDOW_PHASE_DOWN)
    begin(service);
}
