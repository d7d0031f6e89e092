// SPDX-License-Identifier: Apache-2.0
// Cores count together in memory, work and sleep in between, and note what they counted, at 8
// times their number.
.include "ipu.inc"
begin
  enable_interrupts
  core 1
  ldr x10, =SRAM + 0x100
  mov x11, #1
next:
  ldadd x11, x2, [x10]
  str x2, [x28, x1, lsl #3]
  // Work whose length depends on the count, and on what was last written from outside.
  ldr x3, [x10, #8]
  add x3, x3, x2, lsl #2
  add x3, x3, x1
  and x3, x3, #0xff
1:
  subs x3, x3, #1
  b.gt 1b
  and x3, x2, #0xf
  cmp x3, #5
  b.ne next
  mov x3, #2500
  msr cntp_tval_el0, x3
  mov x3, #1
  msr cntp_ctl_el0, x3
  wfi
  mrs x4, icc_iar1_el1
  str x4, [x28, #0x100]
  msr cntp_ctl_el0, xzr
  msr icc_eoir1_el1, x4
  b next
