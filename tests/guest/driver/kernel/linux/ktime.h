// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// The test's clock.
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

u64 ktime_get_ns(void);
static inline u64 ktime_get_mono_fast_ns(void) { return ktime_get_ns(); }

#ifdef __cplusplus
}
#endif
