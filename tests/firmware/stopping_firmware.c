/* SPDX-License-Identifier: Apache-2.0 */
/* This firmware serves its swap ports and the mailbox until SWAPS swaps of port 0 are committed.
 * Then it stops without a message, and its last offer stays. */
#include <stdint.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/irq.h"
#include "base/mmu.h"
#include "base/start.h"
#include "base/timer.h"
#include "config.h"
#include "console/console.h"
#include "fault/fault.h"
#include "oae_memory_map.h"
#include "services/mailbox_service.h"
#include "services/swap_service.h"

static struct swap_service swaps;

void core_main(unsigned core) {
  if (core != 0) cpu_park();
  console_init();
  mmu_init();
  if (!swap_service_init(&swaps, OAE_IPU_OAE_BASE, 0)) panic("no OAE block");
  if (!gic_init()) panic("no redistributor");
  gic_enable(OAE_IPU_VIRTUAL_TIMER_INTID);
  gic_enable(OAE_IPU_MAILBOX_INTID);
  gic_enable(OAE_IPU_OAE_INTID);
  timer_start(FIRMWARE_TICK_US);
  cpu_unmask_irqs();
  while (swaps.ports[0].committed < SWAPS) {
    uint32_t events = irq_wait(true);

    if (events & IRQ_EVENT_OAE) swap_service_serve(&swaps, ~0ull);
    if (events & IRQ_EVENT_TICK) {
      swap_service_tick(&swaps, timer_acknowledge());
      swap_service_retry(&swaps, ~0ull);
    }
    if (events & IRQ_EVENT_MAILBOX) mailbox_serve(OAE_IPU_MAILBOX_BASE, &swaps, false);
    irq_done(events);
  }
  cpu_park();
}
