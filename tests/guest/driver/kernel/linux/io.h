// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// MMIO goes to the test.
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

u64 readq(const volatile void *address);
void writeq(u64 value, volatile void *address);
static inline u64 readq_relaxed(const volatile void *address) { return readq(address); }
static inline void writeq_relaxed(u64 value, volatile void *address) { writeq(value, address); }

static inline u64 le64_to_cpu(__le64 value) { return value; }

#ifdef __cplusplus
}
#endif
