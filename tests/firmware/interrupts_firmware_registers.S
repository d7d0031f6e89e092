/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registers_check(const volatile uint32_t *count, uint32_t target) puts a different value into every
 * register that it does not need, and sets flags. Then it waits until *count is `target`. Returns 0 if
 * all registers are unchanged, else the number of the first changed register plus one.
 */
	.macro PATTERN reg, n
	movz	\reg, #(0x1100 + \n)
	movk	\reg, #(0xa500 + \n), lsl #48
	.endm
	.macro CHECK reg, n
	PATTERN	x0, \n
	cmp	\reg, x0
	mov	x0, #(\n + 1)
	b.ne	done
	.endm

	.global registers_check
	.type registers_check, %function
registers_check:
	stp	x29, x30, [sp, #-96]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	.irp	n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	PATTERN	x\n, \n
	.endr
	/* The carry flag has to survive an interrupt as well, since the loop ends by it. */
1:	cmp	x0, #1
	ldr	w2, [x0]
	b.lo	1b
	b.eq	flags
	sub	w2, w2, w1
	cbnz	w2, 1b
	.irp	n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	CHECK	x\n, \n
	.endr
	mov	x0, #0
	b	done
flags:	mov	x0, #99
done:	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #96
	ret
