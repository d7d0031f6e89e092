// SPDX-License-Identifier: Apache-2.0
// A loop that watches a word of memory, reads the device now and then, and is interrupted by its
// timer and by SPIs. It notes where in the loop each interrupt came.
.include "ipu.inc"
begin
  vectors unexpected, interrupt
  enable_interrupts
  mov x19, #SRAM
  mov x2, #0
  mov x0, #0
  mrs x9, cntpct_el0
  add x9, x9, #1000
  msr cntp_cval_el0, x9
  mov x10, #1
  msr cntp_ctl_el0, x10
  msr daifclr, #2
loop:
  add x0, x0, #1
  ldr x1, [x19, #0x100]
  cmp x1, x2
  b.eq 1f
  mov x2, x1
  str x0, [x28]
  str x1, [x28, #8]
1:
  tst x0, #0xff
  b.ne loop
  ldr x3, [x28, #16]
  b loop

interrupt:
  mrs x4, icc_iar1_el1
  str x0, [x28, #24]            // where in the loop
  mrs x5, elr_el2
  str x5, [x28, #32]
  str x4, [x28, #40]            // which; the device takes its line back
  cmp x4, #30
  b.ne 1f
  mov x6, #3777
  add x9, x9, x6
  msr cntp_cval_el0, x9
1:
  msr icc_eoir1_el1, x4
  eret

unexpected:
  b .
