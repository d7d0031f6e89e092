/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled scheduler.bpf.c; SCHEDULER_OBJECT is its path. */
	.section .rodata
	.balign 8
	.global scheduler_object
scheduler_object:
	.incbin SCHEDULER_OBJECT
	.global scheduler_object_end
scheduler_object_end:
	.section .note.GNU-stack, "", @progbits
