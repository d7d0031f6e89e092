/* SPDX-License-Identifier: Apache-2.0 */
#include "irq.h"

#include "board.h"
#include "cpu.h"
#include "fault.h"
#include "gic.h"

static const struct {
  enum irq_event event;
  unsigned id;
} sources[] = {
    {IRQ_EVENT_TICK, BOARD_IRQ_VIRTUAL_TIMER},
    {IRQ_EVENT_MAILBOX, BOARD_IRQ_MAILBOX},
    {IRQ_EVENT_OAE, BOARD_IRQ_OAE},
    {IRQ_EVENT_LINK << 0, BOARD_IRQ_LINK(0)},
    {IRQ_EVENT_LINK << 1, BOARD_IRQ_LINK(1)},
    {IRQ_EVENT_LINK << 2, BOARD_IRQ_LINK(2)},
    {IRQ_EVENT_LINK << 3, BOARD_IRQ_LINK(3)},
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static volatile uint32_t noted;

void irq_handle(void) {
  unsigned id = gic_acknowledge();

  if (id >= GIC_SPECIAL) return;
  for (unsigned i = 0; i < SOURCES; i++) {
    if (sources[i].id == id) {
      noted |= sources[i].event;
      gic_drop(id);
      return;
    }
  }
  panic("interrupt %u has no service", id);
}

/* WFI ends for a masked interrupt too, so one that comes after the look at `noted` is not slept
 * through: it is taken once unmasked. */
uint32_t irq_take(bool sleep) {
  uint32_t events;

  cpu_mask_irqs();
  while (!(events = noted) && sleep) {
    cpu_wait();
    cpu_unmask_irqs();
    cpu_mask_irqs();
  }
  noted = 0;
  cpu_unmask_irqs();
  return events;
}

void irq_done(uint32_t events) {
  for (unsigned i = 0; i < SOURCES; i++) {
    if (events & sources[i].event) gic_deactivate(sources[i].id);
  }
}
