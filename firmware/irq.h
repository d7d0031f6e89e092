/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts as events: a handler only notes them, the main loop serves them. */
#ifndef FIRMWARE_IRQ_H
#define FIRMWARE_IRQ_H

#include <stdbool.h>
#include <stdint.h>

enum irq_event {
  IRQ_EVENT_TICK = 1 << 0,
  IRQ_EVENT_MAILBOX = 1 << 1,
  IRQ_EVENT_OAE = 1 << 2,
  IRQ_EVENT_LINK = 1 << 3, /* of link 0; the others follow */
};

/* Called by vectors.S. */
void irq_handle(void);

/* The events since the last time. With none, sleeps until one comes if `sleep` is set. */
uint32_t irq_take(bool sleep);
/* The causes of these events are gone: they may interrupt again. */
void irq_done(uint32_t events);

#endif
