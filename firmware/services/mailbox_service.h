/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the driver's requests. Commands and results: rtl/registers/mailbox.yaml.
 *
 *   echo               replies with the arguments
 *   port_statistics p  exchanged, committed, reversed, bad offers, liveness, 1 if it polls
 *   version            major << 32 | minor << 16 | patch
 */
#ifndef FIRMWARE_SERVICES_MAILBOX_SERVICE_H
#define FIRMWARE_SERVICES_MAILBOX_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "services/swap_service.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Serves the request that waits at the mailbox, if there is one. */
void mailbox_serve(uintptr_t mailbox, const struct swap_service* swaps, bool polling);

#ifdef __cplusplus
}
#endif

#endif
