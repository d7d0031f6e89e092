/* SPDX-License-Identifier: Apache-2.0 */
#include "order_port.h"

#include <stdbool.h>

/* The linker leads the firmware's calls of the function to the first of the two. */
bool __wrap_swap_service_init(struct swap_service* service, uintptr_t block,
                              const struct swap_partner* others);
bool __real_swap_service_init(struct swap_service* service, uintptr_t block,
                              const struct swap_partner* partner);

#define ORDER_PORT 0

struct order_port order_port;

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
  order_port_accept(payload);
  return true;
}

bool __wrap_swap_service_init(struct swap_service* service, uintptr_t block,
                              const struct swap_partner* others) {
  static struct swap_partner partner;

  order_port = (struct order_port){block, others};
  partner = (struct swap_partner){.ports = others->ports | 1ull << ORDER_PORT,
                                  .bridged = others->bridged,
                                  .context = (void*)others,
                                  .offer = offer,
                                  .used = used,
                                  .accept = accept};
  return __real_swap_service_init(service, block, &partner);
}
