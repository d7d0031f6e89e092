// SPDX-License-Identifier: Apache-2.0
// Core 0 stores to the device without end. The other cores sleep for 333 ticks of the counter, count
// to 200, and sleep again.
.include "ipu.inc"
begin
  core 1
  cbnz x1, 3f
1:
  mov x2, #50
2:
  subs x2, x2, #1
  b.ne 2b
  str x2, [x28]
  b 1b
3:
  enable_interrupts
  mov x4, #1
4:
  mrs x3, cntpct_el0
  add x3, x3, #333
  msr cntp_cval_el0, x3
  msr cntp_ctl_el0, x4
  wfi
  mov x6, #200
5:
  subs x6, x6, #1
  b.ne 5b
  msr cntp_ctl_el0, xzr
  b 4b
