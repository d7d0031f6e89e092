/* SPDX-License-Identifier: Apache-2.0 */
#include "base/irq.h"

#include "base/cpu.h"
#include "base/gic.h"
#include "config.h"
#include "fault/fault.h"
#include "oae_memory_map.h"

static const struct {
  enum irq_event event;
  unsigned id;
} sources[] = {
    {IRQ_EVENT_TICK, OAE_IPU_VIRTUAL_TIMER_INTID},
    {IRQ_EVENT_MAILBOX, OAE_IPU_MAILBOX_INTID},
    {IRQ_EVENT_OAE, OAE_IPU_OAE_INTID},
    {IRQ_EVENT_LINK << 0, OAE_IPU_LINK_INTID + 0},
    {IRQ_EVENT_LINK << 1, OAE_IPU_LINK_INTID + 1},
    {IRQ_EVENT_LINK << 2, OAE_IPU_LINK_INTID + 2},
    {IRQ_EVENT_LINK << 3, OAE_IPU_LINK_INTID + 3},
};

#define SOURCES (sizeof(sources) / sizeof(sources[0]))

static volatile uint32_t noted;
static void (*entry_anew)(void);

void irq_begin_anew_at(void (*entry)(void)) {
  entry_anew = entry;
  gic_enable(IRQ_BEGIN_ANEW);
}

/* The exception that led here never returns. */
_Noreturn static void begin_anew(void) {
  gic_drop(IRQ_BEGIN_ANEW);
  gic_deactivate(IRQ_BEGIN_ANEW);
  cpu_call_on_empty_stack(entry_anew, cpu_read(tpidr_el1) - FIRMWARE_FAULT_STACK_SIZE);
}

void irq_handle(void) {
  unsigned id = gic_acknowledge();

  if (id >= GIC_SPECIAL) return;
  if (id == IRQ_BEGIN_ANEW && entry_anew) begin_anew();
  for (unsigned i = 0; i < SOURCES; i++) {
    if (sources[i].id == id) {
      noted |= sources[i].event;
      gic_drop(id);
      return;
    }
  }
  panic("interrupt %u has no service", id);
}

/* WFI also ends for a masked interrupt. An interrupt after the read of `noted` therefore ends the
 * sleep, and is handled when interrupts are unmasked. */
uint32_t irq_wait(bool sleep) {
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
