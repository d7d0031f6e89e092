// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
#pragma once

static inline void preempt_disable(void) {}
static inline void preempt_enable(void) {}
