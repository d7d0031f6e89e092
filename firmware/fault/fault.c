/* SPDX-License-Identifier: Apache-2.0 */
#include "fault/fault.h"

#include <stdarg.h>

#include "base/cpu.h"
#include "base/system.h"
#include "config.h"
#include "console/console.h"
#include "console/log.h"
#include "fault/syndrome.h"

#define BACKTRACE_MAX 16

/* The number of the reporting core plus one, while it reports. Only one core reports at a time. */
static uint32_t reporter;

/* The number of the core that may fail; core 0 may not. */
static unsigned survivor;

void fault_survive(void) {
  survivor = cpu_core();
}

_Noreturn static void end_report(void) {
  if (!survivor || cpu_core() != survivor) system_halt_fault();
  log_warning("core %u waits until the host starts it again", cpu_core());
  __atomic_store_n(&reporter, 0, __ATOMIC_RELEASE);
  for (;;) {
    cpu_unmask_irqs();
    cpu_wait();
  }
}

static void claim_report(void) {
  uint32_t mine = cpu_core() + 1;
  uint32_t first = 0;

  if (__atomic_compare_exchange_n(&reporter, &first, mine, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    console_init();
    return;
  }
  if (first == mine) {
    log_error("another fault occurred while a fault was reported");
    system_halt_fault();
  }
  cpu_park();
}

static void print_registers(const struct fault_frame* frame) {
  console_printf("  pc  %016lx  sp  %016lx  spsr %08lx  esr %08lx  far %016lx\n", frame->elr,
                 frame->sp, frame->spsr, frame->esr, frame->far);
  for (unsigned i = 0; i < 31; i++)
    console_printf("  x%02u %016lx%s", i, frame->x[i], i % 4 == 3 || i == 30 ? "\n" : "");
}

/* A frame record on the stack is a pair: the caller's record and the return address. */
static void print_backtrace(const struct fault_frame* frame) {
  uint64_t high = cpu_read(tpidr_el1) - FIRMWARE_FAULT_STACK_SIZE;
  uint64_t low = high - FIRMWARE_STACK_SIZE;
  uint64_t record = frame->x[29];

  console_printf("  called from");
  for (unsigned i = 0; i < BACKTRACE_MAX; i++) {
    if (record % 16 || record < low || record > high - 16) break;
    const uint64_t* pair = (const uint64_t*)record;

    if (!pair[1]) break;
    console_printf(" %lx", pair[1]);
    if (pair[0] <= record) break;
    record = pair[0];
  }
  console_printf("\n");
}

void fault_report(const struct fault_frame* frame, unsigned kind) {
  claim_report();
  if (kind == FAULT_SYNCHRONOUS && syndrome_is_abort(frame->esr))
    log_error("fault on core %u: %s: %s, %s at %lx", cpu_core(), syndrome_class(frame->esr),
              syndrome_status(frame->esr), syndrome_access(frame->esr), frame->far);
  else
    log_error("fault on core %u: %s", cpu_core(),
              kind == FAULT_SERROR        ? "SError"
              : kind == FAULT_SYNCHRONOUS ? syndrome_class(frame->esr)
                                          : "unexpected interrupt");
  print_registers(frame);
  print_backtrace(frame);
  end_report();
}

void panic(const char* format, ...) {
  va_list arguments;

  claim_report();
  va_start(arguments, format);
  log_message_v(LOG_ERROR, format, arguments);
  va_end(arguments);
  end_report();
}
