/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exception vectors. An IRQ is handled on the interrupted stack. Everything else is a fault, which
 * does not return: its registers are saved on the core's fault stack, so that a stack overflow is
 * reported like any other fault. SAVE_FAULT writes the struct fault_frame of fault.h.
 */
#include "fault/fault.h"

	/* TPIDR_EL1 is the end of the fault stack. TPIDR_EL0 holds x0 meanwhile. */
	.macro FAULT kind
	.balign 128
	msr	tpidr_el0, x0
	mrs	x0, tpidr_el1
	sub	x0, x0, #FAULT_FRAME_SIZE
	stp	x1, x2, [x0, #8]
	mov	x1, sp
	str	x1, [x0, #FAULT_FRAME_SP]
	mov	sp, x0
	mrs	x0, tpidr_el0
	str	x0, [sp]
	mov	x1, #\kind
	b	save_fault
	.endm

	.macro IRQ
	.balign 128
	b	irq
	.endm

	.section .text.vectors, "ax"
	.balign 2048
	.global vectors
vectors:
	.irp group, sp0
	FAULT FAULT_SYNCHRONOUS
	FAULT FAULT_IRQ
	FAULT FAULT_FIQ
	FAULT FAULT_SERROR
	.endr
	/* Current level with its own SP, in which the firmware runs. */
	FAULT FAULT_SYNCHRONOUS
	IRQ
	FAULT FAULT_FIQ
	FAULT FAULT_SERROR
	.irp group, el0_aarch64, el0_aarch32
	FAULT FAULT_SYNCHRONOUS
	FAULT FAULT_IRQ
	FAULT FAULT_FIQ
	FAULT FAULT_SERROR
	.endr

save_fault:
	stp	x3, x4, [sp, #24]
	stp	x5, x6, [sp, #40]
	stp	x7, x8, [sp, #56]
	stp	x9, x10, [sp, #72]
	stp	x11, x12, [sp, #88]
	stp	x13, x14, [sp, #104]
	stp	x15, x16, [sp, #120]
	stp	x17, x18, [sp, #136]
	stp	x19, x20, [sp, #152]
	stp	x21, x22, [sp, #168]
	stp	x23, x24, [sp, #184]
	stp	x25, x26, [sp, #200]
	stp	x27, x28, [sp, #216]
	stp	x29, x30, [sp, #232]
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	mrs	x4, esr_el1
	mrs	x5, far_el1
	stp	x2, x3, [sp, #FAULT_FRAME_ELR]
	stp	x4, x5, [sp, #(FAULT_FRAME_ELR + 16)]
	mov	x0, sp
	mov	x29, xzr
	bl	fault_report

	/* Saves the registers that a C function may change, and the return address. */
irq:
	sub	sp, sp, #192
	stp	x29, x30, [sp, #176]
	add	x29, sp, #176
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	mrs	x0, elr_el1
	mrs	x1, spsr_el1
	stp	x18, x0, [sp, #144]
	str	x1, [sp, #160]
	bl	irq_handle
	ldr	x1, [sp, #160]
	ldp	x18, x0, [sp, #144]
	msr	spsr_el1, x1
	msr	elr_el1, x0
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp]
	ldp	x29, x30, [sp, #176]
	add	sp, sp, #192
	eret
