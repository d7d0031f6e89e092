// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#pragma once

#define READ_ONCE(x) (*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile typeof(x) *)&(x) = (value))
#define unlikely(x) __builtin_expect(!!(x), 0)
