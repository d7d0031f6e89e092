// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// The vector registers are the process's own.
#pragma once

static inline void kernel_fpu_begin(void) {}
static inline void kernel_fpu_end(void) {}
