/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project's firmware, which takes ports back from the bridge and joins them anew when a host
 * orders it. What waits in these ports is discarded, and what is on its way to them is lost, as
 * after a loss of the card's power, which a platform's IPU never has. This file wraps a function of
 * that firmware, and is the partner of port 0.
 *
 * A slot that is committed at port 0 is an order if its first payload word is ORDER. The second one
 * has a bit for each port.
 */
#include <stdbool.h>
#include <stdint.h>

#include "mmio.h"
#include "oae_registers.h"
#include "swap_service.h"

/* The linker leads the firmware's calls of the function to the first of the two. */
bool __wrap_swap_service_init(struct swap_service* service, uintptr_t block,
                              const struct swap_partner* others);
bool __real_swap_service_init(struct swap_service* service, uintptr_t block,
                              const struct swap_partner* partner);

#define ORDER 0x657661656c21ull /* "!leave" */
#define ORDER_PORT 0

static uintptr_t registers;

static void leave(unsigned n) {
  mmio_write64(registers + OAE_FIRMWARE_JOIN_AT(n), 0);
  mmio_write64(registers + OAE_FIRMWARE_JOIN_AT(n), OAE_FIRMWARE_JOIN_JOINED_MASK);
}

static const uint64_t* offer(void* context, unsigned n) {
  static const uint64_t nothing[SWAP_PAYLOAD_WORDS];
  const struct swap_partner* others = context;

  return n == ORDER_PORT ? nothing : others->offer(others->context, n);
}

static void used(void* context, unsigned n) {
  const struct swap_partner* others = context;

  if (n != ORDER_PORT) others->used(others->context, n);
}

static bool accept(void* context, unsigned n, uintptr_t payload) {
  const struct swap_partner* others = context;

  if (n != ORDER_PORT) return others->accept(others->context, n, payload);
  if (mmio_read64(payload) != ORDER) return true;
  for (uint64_t ports = mmio_read64(payload + 8) & others->bridged; ports; ports &= ports - 1)
    leave((unsigned)__builtin_ctzll(ports));
  return true;
}

bool __wrap_swap_service_init(struct swap_service* service, uintptr_t block,
                              const struct swap_partner* others) {
  static struct swap_partner partner;

  registers = block;
  partner = (struct swap_partner){.ports = others->ports | 1ull << ORDER_PORT,
                                  .bridged = others->bridged,
                                  .context = (void*)others,
                                  .offer = offer,
                                  .used = used,
                                  .accept = accept};
  return __real_swap_service_init(service, block, &partner);
}
