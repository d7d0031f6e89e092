/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All cores enter here at the same time, at EL2 (or EL1), with MMU and caches off. Each core goes to
 * EL1, sets up its stack and the exception vectors, and calls core_main(core). Core 0 clears .bss
 * first.
 */
#include "oae_memory_map.h"
#include "config.h"

#define HCR_EL2_RW (1 << 31)	/* EL1 is AArch64 */
#define CNTHCTL_EL2_OPEN 0x3	/* EL1 may use the physical counter and timer */
#define CPTR_EL2_OPEN 0x33ff	/* RES1; only SVE is trapped */
#define SPSR_EL1H_MASKED 0x3c5	/* to EL1 with its own SP, DAIF masked */
#define SCTLR_EL1_RESET 0x30d00800 /* RES1: MMU, caches off, little-endian */

	.section .text.start, "ax"
	.global _start
	.type _start, %function
_start:
	msr	daifset, #15
	mrs	x19, mpidr_el1
	and	x19, x19, #0xff
	cmp	x19, #OAE_IPU_CORES
	b.hs	park

	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	b.ne	at_el1
	mov	x0, #HCR_EL2_RW
	msr	hcr_el2, x0
	mov	x0, #CNTHCTL_EL2_OPEN
	msr	cnthctl_el2, x0
	msr	cntvoff_el2, xzr
	mov	x0, #CPTR_EL2_OPEN
	msr	cptr_el2, x0
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0
	mov	x0, #0xf		/* ICC_SRE_EL2: SRE, DFB, DIB, Enable */
	msr	S3_4_C12_C9_5, x0
	isb
	msr	S3_4_C12_C11_0, xzr	/* ICH_HCR_EL2: no virtual interrupts */
	mov	x0, #SPSR_EL1H_MASKED
	msr	spsr_el2, x0
	adr	x0, at_el1
	msr	elr_el2, x0
	ldr	x0, =SCTLR_EL1_RESET
	msr	sctlr_el1, x0
	eret

at_el1:
	msr	spsel, #1
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0
	/* The fault stack ends where the core's stacks end. The stack ends where the fault stack begins. */
	adrp	x0, stacks
	add	x0, x0, :lo12:stacks
	mov	x1, #FIRMWARE_CORE_STACKS_SIZE
	madd	x0, x19, x1, x0
	add	x0, x0, x1
	msr	tpidr_el1, x0
	sub	x0, x0, #FIRMWARE_FAULT_STACK_SIZE
	mov	sp, x0
	isb

	cbnz	x19, 2f
	adrp	x0, __bss_start
	add	x0, x0, :lo12:__bss_start
	adrp	x1, __bss_end
	add	x1, x1, :lo12:__bss_end
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b

2:	mov	x0, x19
	mov	x29, xzr		/* the first frame of a backtrace */
	mov	x30, xzr
	bl	core_main
park:
	wfi
	b	park
	.size _start, . - _start

	.section .stacks, "aw", %nobits
	.balign 4096
	.global stacks
stacks:
	.space	OAE_IPU_CORES * FIRMWARE_CORE_STACKS_SIZE
