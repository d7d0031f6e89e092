// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// Accesses to pages of a device that are mapped into the process. Memory that the device writes is
// read behind them: the compiler keeps the order, as x86 does for loads.
#pragma once

#include <linux/types.h>

static inline u64 readq_relaxed(const volatile void *address) {
  return *(const volatile u64 *)address;
}

static inline void writeq_relaxed(u64 value, volatile void *address) {
  *(volatile u64 *)address = value;
}

static inline u64 readq(const volatile void *address) {
  u64 value = readq_relaxed(address);
  __asm__ volatile("" ::: "memory");
  return value;
}

static inline void writeq(u64 value, volatile void *address) {
  __asm__ volatile("" ::: "memory");
  writeq_relaxed(value, address);
}

static inline u64 le64_to_cpu(__le64 value) { return value; }
