/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project's firmware, which takes ports back from the bridge and joins them anew when a host
 * orders it. What waits in these ports is discarded, and what is on its way to them is lost, as
 * after a loss of the card's power, which a platform's IPU never has. This file takes the orders of
 * port 0 (order_port.h).
 *
 * A slot that is committed at port 0 is an order if its first payload word is ORDER. The second one
 * has a bit for each port.
 */
#include <stdint.h>

#include "base/mmio.h"
#include "oae_registers.h"
#include "order_port.h"

#define ORDER 0x657661656c21ull /* "!leave" */

void order_port_accept(uintptr_t payload) {
  if (mmio_read64(payload) != ORDER) return;
  for (uint64_t ports = mmio_read64(payload + 8) & order_port.others->bridged; ports;
       ports &= ports - 1) {
    const uintptr_t join =
        order_port.block + OAE_FIRMWARE_JOIN_AT((unsigned)__builtin_ctzll(ports));

    mmio_write64(join, 0);
    mmio_write64(join, OAE_FIRMWARE_JOIN_JOINED_MASK);
  }
}
