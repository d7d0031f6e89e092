/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project's firmware, which restarts when a host orders it, at whatever point it is. This file
 * stands between the interrupt controller and the handler of interrupts (irq.c), and uses the
 * physical timer, of which the firmware makes no use.
 *
 * A slot that is committed at port 0 is an order if its first payload word is ORDER. The further
 * words say how many restarts there shall be, the mean time between two of them in microseconds,
 * and a number from which their times follow. A restart enters start.S, as after a reset of the
 * core: .bss is cleared, and nothing remains but the section .kept and what the devices hold.
 */
#include <stdbool.h>
#include <stdint.h>

#include "cpu.h"
#include "gic.h"
#include "mmio.h"
#include "oae_memory_map.h"
#include "oae_registers.h"

/* The build gives that name to the function that irq.c calls. */
unsigned acknowledge_or_restart(void);
#undef gic_acknowledge
unsigned gic_acknowledge(void);

#define ORDER 0x7472617473657221ull /* "!restart" */
#define ORDER_PORT 0
#define PHYSICAL_TIMER_INTID 30
#define TIMER_ENABLE 1
#define SCTLR_EL1_RESET 0x30d00800 /* MMU and caches off */

/* Zero at power-up. */
static struct {
  uint64_t header; /* of the order that was taken last */
  uint64_t left;   /* restarts */
  uint64_t mean_us;
  uint64_t random;
} orders __attribute__((section(".kept")));

static bool aimed; /* the timer runs */

extern char _start[];

static uint64_t order_word(unsigned n) {
  return mmio_read64(OAE_IPU_OAE_BASE + OAE_FIRMWARE_COMMITTED_AT(ORDER_PORT) + 8 * n);
}

static void look_for_an_order(void) {
  uint64_t header = order_word(0);

  if (header == orders.header || order_word(1) != ORDER) return;
  orders.header = header;
  orders.left = order_word(2);
  orders.mean_us = order_word(3);
  orders.random = order_word(4) | 1;
}

static uint64_t random_below(uint64_t limit) {
  orders.random ^= orders.random << 13;
  orders.random ^= orders.random >> 7;
  orders.random ^= orders.random << 17;
  return orders.random % limit;
}

static void aim(void) {
  uint64_t us = 1 + random_below(2 * orders.mean_us + 1);

  aimed = true;
  gic_enable(PHYSICAL_TIMER_INTID);
  cpu_write(cntp_cval_el0, cpu_read(cntpct_el0) + cpu_read(cntfrq_el0) * us / 1000000);
  cpu_write(cntp_ctl_el0, TIMER_ENABLE);
  cpu_isb();
}

_Noreturn static void restart(void) {
  orders.left--;
  cpu_write(cntp_ctl_el0, 0);
  cpu_write(cntv_ctl_el0, 0);
  cpu_write(sctlr_el1, SCTLR_EL1_RESET);
  cpu_isb();
  __asm__ volatile("br %0" ::"r"(_start) : "memory");
  __builtin_unreachable();
}

unsigned acknowledge_or_restart(void) {
  unsigned id = gic_acknowledge();

  if (id == PHYSICAL_TIMER_INTID) {
    gic_drop(id);
    restart();
  }
  look_for_an_order();
  if (orders.left && !aimed) aim();
  return id;
}
