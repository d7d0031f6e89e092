// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
// The few words of the kernel that the driver's portable parts use, for a process.
#pragma once

#include_next <linux/types.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

#define __iomem
