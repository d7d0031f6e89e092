// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// The vector registers are the process's own.
#pragma once

#include <stdbool.h>

static inline bool irq_fpu_usable(void) { return true; }
static inline void kernel_fpu_begin(void) {}
static inline void kernel_fpu_end(void) {}
