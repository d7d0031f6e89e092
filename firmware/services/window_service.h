/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's part in a link with a window. Hardware passes the slots on: a bridge between the
 * link and the swap ports of this cell, which may have two such links with different ports, or a
 * relay between the two links of a cell in the middle of a chain. The firmware gives ports and
 * rings to the bridge, or routes to the relay. It takes a link up that has gone down, and gives a
 * sign of life.
 *
 * The service keeps nothing that a restart of the firmware could lose: whatever it has done before
 * it does again, which changes nothing.
 */
#ifndef FIRMWARE_SERVICES_WINDOW_SERVICE_H
#define FIRMWARE_SERVICES_WINDOW_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that report events of the link to cell `peer`, for the console. */
struct window_observer {
  void (*up)(unsigned peer);
  void (*down)(unsigned peer, unsigned reason); /* enum window_down of window.yaml */
  /* Their fate is unknown, since a cell behind the link has lost its power. */
  void (*lost)(unsigned peer, uint64_t slots);
};

struct window_service {
  uintptr_t link;  /* registers of the end of the link */
  uintptr_t block; /* the OAE block's firmware side, if a bridge joins it; 0: the end of a relay */
  unsigned peer;   /* the cell at the other end */
  uint64_t ports;  /* a bit for each port whose slots the link carries */
  uint64_t lost;   /* slots that were reported as lost */
  const struct window_observer* observer;
};

/* `observer` has all of its functions. No register is accessed. */
void window_service_init(struct window_service* service, uintptr_t link, uintptr_t block,
                         unsigned peer, uint64_t ports, const struct window_observer* observer);

/* Gives ports and rings to the bridge, or routes to the relay, and takes the link up. */
void window_service_start(struct window_service* service);

/* Serves the events of the link. */
void window_service_serve(struct window_service* service);

/* Gives a sign of life. */
void window_service_tick(struct window_service* service, uint32_t liveness);

#ifdef __cplusplus
}
#endif

#endif
