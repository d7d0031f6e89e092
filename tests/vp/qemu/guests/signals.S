// SPDX-License-Identifier: Apache-2.0
// Core 0 interrupts the others, which never sleep, as soon as all have taken the last interrupt.
// Each notes, at 8 times its number, how long after its sending the counter says that it took it.
// Parameter 0: number of cores.
.include "ipu.inc"
begin
  parameter 9, 0
  core 1
  ldr x10, =SRAM + 0x100        // when it was sent, and behind it how many were taken in all
  mov x11, #1
  enable_interrupts
  vectors fault, interrupt
  cbz x1, send
  msr daifclr, #2
work:
  add x2, x2, #1
  b work

interrupt:
  mrs x4, icc_iar1_el1
  mrs x5, cntpct_el0
  ldr x6, [x10]
  sub x7, x5, x6
  str x7, [x28, x1, lsl #3]
  msr icc_eoir1_el1, x4
  add x12, x10, #8
  ldadd x11, x8, [x12]
  eret

send:
  sub x13, x9, #1               // how many take each
  mov x12, #1
  lsl x12, x12, x9
  sub x12, x12, #2              // ICC_SGI1R_EL1: target list of all but core 0
  mov x14, #0
  // The others begin in the meantime.
  mov x4, #5000
1:
  sub x4, x4, #1
  cbnz x4, 1b
again:
  mrs x5, cntpct_el0
  str x5, [x10]
  msr icc_sgi1r_el1, x12
  add x14, x14, x13
2:
  ldr x6, [x10, #8]
  cmp x6, x14
  b.lo 2b
  // Work whose length differs from time to time.
  and x7, x5, #0x3ff
3:
  subs x7, x7, #1
  b.gt 3b
  b again

fault:
  str x1, [x28, #0x400]
  b .
