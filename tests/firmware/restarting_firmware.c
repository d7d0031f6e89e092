/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The project's firmware, which restarts when a host orders it, at whatever point it is. This file
 * takes the orders of port 0 (order_port.h), and stands between the interrupt controller and the
 * handler of interrupts (irq.c). It uses the physical timer, of which
 * the firmware makes no use.
 *
 * A slot that is committed at port 0 is an order if its first payload word is ORDER. The further
 * words say how many restarts there shall be, the mean time between two of them in microseconds,
 * a number from which their times follow, and, if it is not 0, that the last of them is none: the
 * core then hangs for ever. A restart enters start.S, as after a reset of the core: .bss is
 * cleared, and nothing remains but the section .kept and what the devices hold.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/gic.h"
#include "base/mmio.h"
#include "console/log.h"
#include "oae_memory_map.h"
#include "order_port.h"

/* The linker leads the firmware's calls of the function to the first of the two. */
unsigned __wrap_gic_acknowledge(void);
unsigned __real_gic_acknowledge(void);

#define ORDER 0x7472617473657221ull /* "!restart" */
#define PHYSICAL_TIMER_INTID 30
#define TIMER_ENABLE 1
#define SCTLR_EL1_RESET 0x30d00800 /* MMU and caches off */

/* Zero at power-up. */
static struct {
  uint64_t header; /* of the order that was taken last */
  uint64_t left;   /* restarts */
  uint64_t mean_us;
  uint64_t random;
  uint64_t hangs;
} orders __attribute__((section(".kept")));

static bool aimed; /* the timer runs */

extern char _start[];

/* A restart may come between this and the release of the slot, which is then taken once more. */
void order_port_accept(uintptr_t payload) {
  uint64_t header = mmio_read64(payload - 8);

  if (header == orders.header || mmio_read64(payload) != ORDER) return;
  orders.header = header;
  orders.left = mmio_read64(payload + 8);
  orders.mean_us = mmio_read64(payload + 16);
  orders.random = mmio_read64(payload + 24) | 1;
  orders.hangs = mmio_read64(payload + 32);
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

/* The timer's interrupt is still the running one, so that no other one wakes the core. */
_Noreturn static void hang(void) {
  log_warning("the firmware hangs");
  cpu_park();
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

unsigned __wrap_gic_acknowledge(void) {
  unsigned id = __real_gic_acknowledge();

  if (id == PHYSICAL_TIMER_INTID) {
    if (orders.left == 1 && orders.hangs) hang();
    gic_drop(id);
    restart();
  }
  if (orders.left && !aimed) aim();
  return id;
}
