/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts as events: a handler only records them, and the main loop serves them. */
#ifndef FIRMWARE_BASE_IRQ_H
#define FIRMWARE_BASE_IRQ_H

#include <stdbool.h>
#include <stdint.h>

enum irq_event {
  IRQ_EVENT_TICK = 1 << 0,
  IRQ_EVENT_MAILBOX = 1 << 1,
  IRQ_EVENT_OAE = 1 << 2,
  IRQ_EVENT_LINK = 1 << 3, /* link 0; the events of the other links follow */
};

/* The software-generated interrupt that lets a core begin anew. */
#define IRQ_BEGIN_ANEW 0

/* Enables that interrupt for this core, which then calls `entry` on an empty stack, with IRQs
 * masked, wherever it was. One core can have this. */
void irq_begin_anew_at(void (*entry)(void));

/* Called by vectors.S. */
void irq_handle(void);

/* Returns the events since the last call. If there are none and `sleep` is set, it first sleeps
 * until there is one. */
uint32_t irq_wait(bool sleep);
/* Enables the interrupts of these events again. Their causes must be gone. */
void irq_done(uint32_t events);

#endif
