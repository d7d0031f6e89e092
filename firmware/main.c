/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware of the IPU: swap ports and mailbox, on core 0. */
#include <stdbool.h>
#include <stdint.h>

#include "board.h"
#include "config.h"
#include "console.h"
#include "cpu.h"
#include "fault.h"
#include "gic.h"
#include "irq.h"
#include "log.h"
#include "mailbox_service.h"
#include "mmu.h"
#include "start.h"
#include "swap_service.h"
#include "system.h"
#include "timer.h"

static struct swap_service swaps;

static void print_banner(bool polling) {
  unsigned cores = system_cores();

  log_info("OAE firmware %u.%u.%u: %u core%s, %lu KiB SRAM, %lu MiB DRAM, %u swap port%s, %s",
           FIRMWARE_VERSION_MAJOR, FIRMWARE_VERSION_MINOR, FIRMWARE_VERSION_PATCH, cores,
           cores == 1 ? "" : "s", system_sram().size >> 10, system_dram().size >> 20, swaps.count,
           swaps.count == 1 ? "" : "s", polling ? "polling" : "interrupt-driven");
}

static void enable_interrupts(bool polling) {
  if (!gic_init()) panic("no redistributor for core %u", cpu_core());
  gic_enable(BOARD_IRQ_VIRTUAL_TIMER);
  gic_enable(BOARD_IRQ_MAILBOX);
  if (!polling) gic_enable(BOARD_IRQ_OAE);
  timer_start(FIRMWARE_TICK_US);
  cpu_unmask_irqs();
}

_Noreturn static void serve(bool polling) {
  for (;;) {
    uint32_t events = irq_take(!polling);

    if (polling || events & IRQ_EVENT_OAE) swap_service_serve(&swaps);
    if (events & IRQ_EVENT_TICK) swap_service_tick(&swaps, timer_take());
    if (events & IRQ_EVENT_MAILBOX) mailbox_serve(BOARD_MAILBOX, &swaps, polling);
    irq_done(events);
  }
}

void core_main(unsigned core) {
  bool polling;

  if (core != 0) cpu_park();
  console_init();
  mmu_init();
  polling = system_poll();
  if (!swap_service_init(&swaps, BOARD_OAE)) panic("no OAE block at %x", BOARD_OAE);
  print_banner(polling);
  enable_interrupts(polling);
  serve(polling);
}
