/* SPDX-License-Identifier: Apache-2.0 */
/* A fault is reported on the console. It ends the run, unless its core may fail. */
#ifndef FIRMWARE_FAULT_FAULT_H
#define FIRMWARE_FAULT_FAULT_H

#define FAULT_SYNCHRONOUS 0
#define FAULT_IRQ 1
#define FAULT_FIQ 2
#define FAULT_SERROR 3

#define FAULT_FRAME_SP 248
#define FAULT_FRAME_ELR 256
#define FAULT_FRAME_SIZE 288

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* The registers of a core at the moment of its fault. */
struct fault_frame {
  uint64_t x[31];
  uint64_t sp;
  uint64_t elr; /* address of the instruction */
  uint64_t spsr;
  uint64_t esr; /* syndrome */
  uint64_t far; /* address, for aborts */
};
_Static_assert(offsetof(struct fault_frame, sp) == FAULT_FRAME_SP, "vectors.S");
_Static_assert(offsetof(struct fault_frame, elr) == FAULT_FRAME_ELR, "vectors.S");
_Static_assert(sizeof(struct fault_frame) == FAULT_FRAME_SIZE, "vectors.S");

/* Faults of this core end no run from now on: it then waits until it begins anew (irq.h). One core
 * can have this. */
void fault_survive(void);

/* Reports the fault, and halts the machine or waits. vectors.S calls it, on any core. */
_Noreturn void fault_report(const struct fault_frame* frame, unsigned kind);

/* Reports a fault that the firmware itself has detected, and halts the machine or
 * waits. */
_Noreturn void panic(const char* format, ...) __attribute__((format(printf, 1, 2)));
#endif

#endif
