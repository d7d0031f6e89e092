/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Port 0 of a firmware that is ordered about by a host: its partner offers empty slots, and hands
 * each slot that is committed there to the test's own function. The other ports keep their partner.
 * The firmware's build wraps swap_service_init.
 */
#ifndef ORDER_PORT_H
#define ORDER_PORT_H

#include <stdint.h>

#include "services/swap_service.h"

extern struct order_port {
  uintptr_t block;                   /* registers of the OAE block */
  const struct swap_partner* others; /* the partner of the other ports */
} order_port;

/* What the test does with a slot */
void order_port_accept(uintptr_t payload);

#endif
