/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_CLOCK_H
#define OAE_CLOCK_H

#include <linux/ktime.h>
#ifdef CONFIG_X86_TSC
#include <linux/jump_label.h>
#include <linux/math64.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

/*
 * The clock that times swaps for debugfs. It is the TSC where the kernel trusts that, because a few
 * instructions read it, and otherwise the clock of the kernel that may be read in any context.
 */
#ifdef CONFIG_X86_TSC
DECLARE_STATIC_KEY_FALSE(oae_clock_is_tsc);
#endif

/* Returns ticks. Loads and stores before it in program order come before it. */
static inline u64 oae_clock(void)
{
#ifdef CONFIG_X86_TSC
	if (static_branch_likely(&oae_clock_is_tsc))
		return rdtsc_ordered();
#endif
	return ktime_get_mono_fast_ns();
}

static inline u64 oae_clock_to_ns(u64 ticks)
{
#ifdef CONFIG_X86_TSC
	if (static_branch_likely(&oae_clock_is_tsc))
		return mul_u64_u64_div_u64(ticks, NSEC_PER_MSEC, tsc_khz);
#endif
	return ticks;
}

#endif
