/* SPDX-License-Identifier: Apache-2.0 */
/* What an AArch64 core can do and C cannot express (Arm DDI 0487). */
#ifndef FIRMWARE_BASE_CPU_H
#define FIRMWARE_BASE_CPU_H

#include <stdint.h>

#define cpu_read(reg)                                           \
  ({                                                            \
    uint64_t value_;                                            \
    __asm__ volatile("mrs %0, " #reg : "=r"(value_)::"memory"); \
    value_;                                                     \
  })
#define cpu_write(reg, value) \
  __asm__ volatile("msr " #reg ", %0" ::"r"((uint64_t)(value)) : "memory")

static inline void cpu_isb(void) {
  __asm__ volatile("isb" ::: "memory");
}

static inline void cpu_dsb(void) {
  __asm__ volatile("dsb sy" ::: "memory");
}

/* Makes memory visible to observers that do not share the cache. */
static inline void cpu_clean(const volatile void* address, uint64_t size) {
  for (uint64_t line = (uint64_t)address & ~63ull; line < (uint64_t)address + size; line += 64)
    __asm__ volatile("dc civac, %0" ::"r"(line) : "memory");
  cpu_dsb();
}

/* Call this between two reads of something that another core changes. */
static inline void cpu_pause(void) {
  __asm__ volatile("yield" ::: "memory");
}

/* Masks IRQs; they stay masked until cpu_unmask_irqs(). */
static inline void cpu_mask_irqs(void) {
  __asm__ volatile("msr daifset, #2" ::: "memory");
}

static inline void cpu_unmask_irqs(void) {
  __asm__ volatile("msr daifclr, #2\n\tisb" ::: "memory");
}

/* Sleeps until an interrupt is pending, masked or not. */
static inline void cpu_wait(void) {
  __asm__ volatile("dsb sy\n\twfi" ::: "memory");
}

static inline unsigned cpu_core(void) {
  return cpu_read(mpidr_el1) & 0xff;
}

/* Calls a function that does not return, with a stack pointer of its own. */
_Noreturn static inline void cpu_call_on_empty_stack(void (*function)(void), uint64_t stack) {
  __asm__ volatile("mov sp, %0\n\tmov x29, xzr\n\tmov x30, xzr\n\tbr %1" ::"r"(stack), "r"(function)
                   : "memory");
  __builtin_unreachable();
}

/* Sleeps forever, with everything masked. */
_Noreturn static inline void cpu_park(void) {
  __asm__ volatile("msr daifset, #15" ::: "memory");
  for (;;) cpu_wait();
}

#endif
