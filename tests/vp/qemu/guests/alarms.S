// SPDX-License-Identifier: Apache-2.0
// In each round accesses the device, at 8 times the core's number, turns a loop, arms its timer and waits
// until that interrupts it: core 0 counts meanwhile, another one sleeps. The access tells the count of the
// round before. Parameter 0: turns of core 0 in the first round, and one more in each that follows.
.include "ipu.inc"
begin
  vectors ., interrupt
  enable_interrupts
  core 3
  parameter 10, 0
  mov x11, #1000                // ticks of the timer
  cbz x3, 1f
  mov x10, #100
  ldr x11, =300000
1:
  mov x0, #0
  mov x1, #-1
  msr cntp_cval_el0, x1
  mov x1, #1
  msr cntp_ctl_el0, x1
next:
  msr daifclr, #2
  mov x1, x10
  str x0, [x28, x3, lsl #3]
  mov x0, #0                    // instruction 1 after the access
1:
  sub x1, x1, #1
  cbnz x1, 1b
  mrs x1, cntpct_el0
  add x1, x1, x11
  msr cntp_cval_el0, x1         // instruction 4 and 2 for each turn
  cbnz x3, 3f
2:
  add x0, x0, #1
  b 2b
3:
  wfi
  b 3b
interrupt:
  mrs x4, icc_iar1_el1
  mov x1, #-1
  msr cntp_cval_el0, x1
  msr icc_eoir1_el1, x4
  adr x1, next
  msr elr_el2, x1
  add x10, x10, #1
  eret
