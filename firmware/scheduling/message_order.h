/* SPDX-License-Identifier: Apache-2.0 */
/* Holds messages about tasks that came before a message which they follow. */
#ifndef SCHEDULING_MESSAGE_ORDER_H
#define SCHEDULING_MESSAGE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "ghost.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MESSAGES_HELD_MAX 64

struct held_message {
  uint64_t time;
  struct ghost_message message;
};

struct message_order {
  unsigned count;
  struct held_message held[MESSAGES_HELD_MAX];
};

void message_order_init(struct message_order* order);

/* Holds a message. Returns false if there is no room. A message that is held already is ignored. */
bool message_order_hold(struct message_order* order, const struct ghost_message* message,
                        uint64_t time);

/* Gives back the task's message of that sequence, and forgets those before it. Returns false if it
 * is not held. */
bool message_order_take(struct message_order* order, uint64_t gtid, uint32_t sequence,
                        struct held_message* taken);

/* Whether a sequence number comes before another; they wrap around. */
static inline bool sequence_before(uint32_t sequence, uint32_t other) {
  return (int32_t)(sequence - other) < 0;
}

#ifdef __cplusplus
}
#endif

#endif
