/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timer.h"

#include "base/cpu.h"

#define CTL_ENABLE 1

static uint64_t period;
static uint64_t deadline;

static uint64_t counter(void) {
  cpu_isb();
  return cpu_read(cntvct_el0);
}

static uint64_t time_in(uint64_t units_per_second) {
  uint64_t frequency = cpu_read(cntfrq_el0);
  uint64_t ticks = counter();

  if (!frequency) return 0;
  return ticks / frequency * units_per_second + ticks % frequency * units_per_second / frequency;
}

uint64_t timer_us(void) {
  return time_in(1000000);
}

uint64_t timer_ns(void) {
  return time_in(1000000000);
}

void timer_start(uint64_t us) {
  period = cpu_read(cntfrq_el0) * us / 1000000;
  if (!period) period = 1;
  deadline = counter() + period;
  cpu_write(cntv_cval_el0, deadline);
  cpu_write(cntv_ctl_el0, CTL_ENABLE);
  cpu_isb();
}

void timer_sleep(uint64_t us) {
  cpu_write(cntv_cval_el0, counter() + cpu_read(cntfrq_el0) * us / 1000000);
  cpu_write(cntv_ctl_el0, CTL_ENABLE);
  cpu_isb();
  cpu_wait();
  timer_stop();
}

void timer_stop(void) {
  cpu_write(cntv_ctl_el0, 0);
  cpu_isb();
}

/* Deadlines stay multiples of the period, however late they are served. */
uint64_t timer_acknowledge(void) {
  uint64_t now = counter();
  uint64_t passed = 0;

  if (now >= deadline) {
    passed = (now - deadline) / period + 1;
    deadline += passed * period;
    cpu_write(cntv_cval_el0, deadline);
    cpu_isb();
  }
  return passed;
}
