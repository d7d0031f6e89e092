/* SPDX-License-Identifier: Apache-2.0 */
#include "message_order.h"

void message_order_init(struct message_order* order) {
  order->count = 0;
}

static void forget(struct message_order* order, unsigned n) {
  order->held[n] = order->held[--order->count];
}

bool message_order_hold(struct message_order* order, const struct ghost_message* message,
                        uint64_t time) {
  for (unsigned n = 0; n < order->count; n++) {
    const struct ghost_message* held = &order->held[n].message;
    if (held->gtid == message->gtid && held->header.sequence == message->header.sequence)
      return true;
  }
  if (order->count == MESSAGES_HELD_MAX) return false;
  order->held[order->count++] = (struct held_message){.time = time, .message = *message};
  return true;
}

bool message_order_take(struct message_order* order, uint64_t gtid, uint32_t sequence,
                        struct held_message* taken) {
  bool found = false;

  for (unsigned n = 0; n < order->count;) {
    const struct ghost_message* held = &order->held[n].message;
    if (held->gtid != gtid || sequence_before(sequence, held->header.sequence)) {
      n++;
      continue;
    }
    if (held->header.sequence == sequence) {
      *taken = order->held[n];
      found = true;
    }
    forget(order, n);
  }
  return found;
}
