/* SPDX-License-Identifier: Apache-2.0 */
/* After an ordinary start this firmware does the one wrong thing that FAULT names. */
#include <stdint.h>

#include "base/cpu.h"
#include "base/mmio.h"
#include "base/mmu.h"
#include "base/start.h"
#include "base/system.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/fault.h"
#include "oae_memory_map.h"

#define CONCATENATE(a, b) a##b
#define FUNCTION(name) CONCATENATE(fault_, name)

/* Nothing is mapped at 0. */
static __attribute__((unused, noinline)) void fault_read(void) {
  (void)mmio_read64(0);
}

/* The address is mapped as a device but has no register, so the bus answers with an error. */
static __attribute__((unused, noinline)) void fault_bus(void) {
  (void)mmio_read64(OAE_IPU_SYSTEM_BASE + 0xff8);
}

static __attribute__((unused, noinline)) void fault_write_text(void) {
  *(volatile uint32_t*)(uintptr_t)fault_write_text = 0;
}

static __attribute__((unused, noinline)) void fault_execute_data(void) {
  static uint32_t code[] = {0xd65f03c0}; /* RET */

  __asm__ volatile("blr %0" ::"r"(code) : "x30", "memory");
}

static __attribute__((unused, noinline)) uint64_t recurse(volatile uint64_t* above) {
  volatile uint64_t here[32];

  here[0] = *above + 1;
  return here[0] ? recurse(here) + here[0] : 0;
}

static __attribute__((unused, noinline)) void fault_stack_overflow(void) {
  volatile uint64_t depth = 0;

  recurse(&depth);
}

/* Each register holds a different value. The frame pointer is invalid. */
static __attribute__((unused, noinline)) void fault_undefined(void) {
  __asm__ volatile(
      ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,"
      "25,26,27,28,29,30\n\t"
      "movz x\\n, #(0x1100 + \\n)\n\t"
      "movk x\\n, #(0xa500 + \\n), lsl #48\n\t"
      ".endr\n\t"
      "udf #0");
}

static __attribute__((unused, noinline)) void fault_panic(void) {
  panic("a panic, as asked for: %d", 42);
}

/* The fault is on a core that has not been set up. Its report has to appear nevertheless. */
static __attribute__((unused, noinline)) void fault_secondary(void) {}

void core_main(unsigned core) {
  if (core != 0) {
    if (FUNCTION(FAULT) == fault_secondary && core == 1) __asm__ volatile("brk #1");
    cpu_park();
  }
  if (FUNCTION(FAULT) == fault_secondary) cpu_park();
  console_init();
  mmu_init();
  log_info("about to fault");
  FUNCTION(FAULT)();
  log_error("no fault");
  system_shutdown();
}
