/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_STREAM_H
#define OAE_STREAM_H

#include <linux/io.h>
#include <linux/preempt.h>
#include <linux/types.h>
#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#endif

/*
 * A line of 64 bytes in a page that is mapped write-combining. Stores to it fill one buffer of the
 * CPU, and a streaming load reads it if the CPU has such loads (Intel SDM, volume 1, 12.10.3). Stores
 * and loads may reach the device in pieces. Call mb() between the two, and before each further read.
 */
#define OAE_STREAM_WORDS 8

/* The registers that streaming loads change. The kernel is compiled without vector registers. */
#ifdef __SSE__
#define OAE_STREAM_CLOBBERS "xmm0", "xmm1", "xmm2", "xmm3", "memory"
#else
#define OAE_STREAM_CLOBBERS "memory"
#endif

static inline bool oae_stream_loads(void)
{
#ifdef CONFIG_X86
	return cpu_feature_enabled(X86_FEATURE_XMM4_1);
#else
	return false;
#endif
}

/*
 * Until oae_stream_end() the caller stays on one CPU. Returns whether it has vector registers for
 * streaming loads. An interrupt has none if it came while the kernel was using them.
 */
static inline bool oae_stream_begin(void)
{
#ifdef CONFIG_X86
	if (oae_stream_loads() && irq_fpu_usable()) {
		kernel_fpu_begin();
		return true;
	}
#endif
	preempt_disable();
	return false;
}

static inline void oae_stream_end(bool vectors)
{
#ifdef CONFIG_X86
	if (vectors) {
		kernel_fpu_end();
		return;
	}
#endif
	preempt_enable();
}

static inline void oae_stream_write(void __iomem *line, const u64 *words)
{
	unsigned int i;

#pragma GCC unroll 8
	for (i = 0; i < OAE_STREAM_WORDS; i++)
		writeq_relaxed(words[i], line + 8 * i);
}

static inline void oae_stream_read(const void __iomem *line, u64 *words, bool vectors)
{
	unsigned int i;

#ifdef CONFIG_X86
	if (vectors) {
		asm volatile("movntdqa 0x00(%0), %%xmm0\n\t"
			     "movntdqa 0x10(%0), %%xmm1\n\t"
			     "movntdqa 0x20(%0), %%xmm2\n\t"
			     "movntdqa 0x30(%0), %%xmm3\n\t"
			     "movups %%xmm0, 0x00(%1)\n\t"
			     "movups %%xmm1, 0x10(%1)\n\t"
			     "movups %%xmm2, 0x20(%1)\n\t"
			     "movups %%xmm3, 0x30(%1)"
			     :
			     : "r"(line), "r"(words)
			     : OAE_STREAM_CLOBBERS);
		return;
	}
#endif
#pragma GCC unroll 8
	for (i = 0; i < OAE_STREAM_WORDS; i++)
		words[i] = readq_relaxed(line + 8 * i);
}

#endif
