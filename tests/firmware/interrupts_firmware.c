/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that an interrupt leaves all registers of the interrupted code unchanged. */
#include <stdint.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/irq.h"
#include "base/mmu.h"
#include "base/start.h"
#include "base/system.h"
#include "base/timer.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/fault.h"
#include "oae_memory_map.h"

#define INTERRUPTS 200
#define PERIOD_US 3

uint64_t registers_check(const volatile uint32_t* count, uint32_t target);

static volatile uint32_t interrupts;

/* Takes the place of irq.c, and overwrites all registers that a handler may change. */
void irq_handle(void) {
  unsigned id = gic_acknowledge();

  if (id >= GIC_SPECIAL) return;
  timer_acknowledge();
  interrupts++;
  gic_drop(id);
  gic_deactivate(id);
  __asm__ volatile(
      "mov x0, #-1\n\tmov x1, x0\n\tmov x2, x0\n\tmov x3, x0\n\t"
      "mov x4, x0\n\tmov x5, x0\n\tmov x6, x0\n\tmov x7, x0\n\t"
      "mov x8, x0\n\tmov x9, x0\n\tmov x10, x0\n\tmov x11, x0\n\t"
      "mov x12, x0\n\tmov x13, x0\n\tmov x14, x0\n\tmov x15, x0\n\t"
      "mov x16, x0\n\tmov x17, x0\n\tmov x18, x0\n\t"
      "msr elr_el1, xzr\n\tmsr spsr_el1, xzr\n\tcmp xzr, x0" ::
          : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
            "x14", "x15", "x16", "x17", "x18", "cc", "memory");
}

void core_main(unsigned core) {
  uint64_t spoilt;

  if (core != 0) cpu_park();
  console_init();
  mmu_init();
  if (!gic_init()) panic("no redistributor");
  gic_enable(OAE_IPU_VIRTUAL_TIMER_INTID);
  timer_start(PERIOD_US);
  cpu_unmask_irqs();
  spoilt = registers_check(&interrupts, INTERRUPTS);
  cpu_mask_irqs();
  if (spoilt) panic("an interrupt spoilt x%lu", spoilt - 1);
  log_info("registers: as they were after %u interrupts", interrupts);
  system_shutdown();
}
