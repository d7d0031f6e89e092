/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's part in a link with a window that a bridge joins with the swap ports. The bridge
 * passes the slots of the joined ports on in hardware. The firmware gives it the ports and the
 * rings of the link, takes a link up that has gone down, and gives a sign of life.
 *
 * The service keeps nothing that a restart of the firmware could lose: whatever it has done before
 * it does again, which changes nothing.
 */
#ifndef FIRMWARE_BRIDGE_SERVICE_H
#define FIRMWARE_BRIDGE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that report events of the link, for the console. */
struct bridge_observer {
  void (*up)(void);
  void (*down)(unsigned reason); /* enum window_down of window.yaml */
  void (*lost)(uint64_t slots);  /* their fate is unknown, since the other side lost its power */
};

struct bridge_service {
  uintptr_t link;  /* registers of the end of the link; 0: there is none */
  uintptr_t block; /* the OAE block's firmware side */
  unsigned peer;   /* the cell at the other end */
  uint64_t ports;  /* the joined ports, a bit each */
  uint64_t lost;   /* slots that were reported as lost */
  const struct bridge_observer* observer;
};

/* `observer` has all of its functions. No register is accessed. */
void bridge_service_init(struct bridge_service* service, uintptr_t link, uintptr_t block,
                         unsigned peer, uint64_t ports, const struct bridge_observer* observer);

/* Gives ports and rings to the bridge, and takes the link up. */
void bridge_service_start(struct bridge_service* service);

/* Serves the events of the link. */
void bridge_service_serve(struct bridge_service* service);

/* Gives a sign of life. */
void bridge_service_tick(struct bridge_service* service, uint32_t liveness);

#ifdef __cplusplus
}
#endif

#endif
