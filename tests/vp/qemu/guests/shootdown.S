// SPDX-License-Identifier: Apache-2.0
// Core 0 broadcasts invalidations of the TLB and notes each, at 0, every 7 instructions; the others
// read the device at 8 times their number. Parameter 0: 1 fills the translator's memory too, with
// code that core 0 writes and runs, whose result is what it notes.
.include "ipu.inc"
begin
  core 1
  cbnz x1, read
  parameter 11, 0
  ldr x10, =0x80100000
  mov x0, #0
  mov x2, #0
  ldr x3, =0x123456789abcdef1
next:
  tlbi alle2is
  dsb ish
  isb
  cbz x11, note
  // 400 times "eor x2, x2, x3, ror #n", then "ret".
  mov x4, x10
  and x5, x0, #63
  ldr w6, =0xcac30042
  orr w6, w6, w5, lsl #10
  mov x7, #400
1:
  str w6, [x4], #4
  subs x7, x7, #1
  b.ne 1b
  ldr w6, =0xd65f03c0
  str w6, [x4], #4
  ic iallu
  isb
  blr x10
  mov x10, x4
  str x2, [x28, #0x400]
note:
  str x0, [x28]
  add x0, x0, #1
  b next
read:
  ldr x2, [x28, x1, lsl #3]
  add x3, x3, #1
  b read
