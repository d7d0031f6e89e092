// SPDX-License-Identifier: Apache-2.0
// Arms the timer once. Parameter 0: by how many ticks; 1: 1 sleeps until then, 0 counts in a loop;
// 2: turns of a loop before it arms. Notes the deadline at 0, the counter after it at 8 and the
// count at 16.
.include "ipu.inc"
begin
  vectors ., interrupt
  enable_interrupts
  parameter 10, 0
  parameter 11, 1
  parameter 12, 2
1:
  sub x12, x12, #1
  cbnz x12, 1b
  mrs x1, cntpct_el0
  add x1, x1, x10
  str x1, [x28]
  mov x2, #1
  msr cntp_cval_el0, x1
  msr cntp_ctl_el0, x2
  cbz x11, 2f
  wfi
  mrs x3, cntpct_el0
  str x3, [x28, #8]
  b .
2:
  msr daifclr, #2
3:
  add x0, x0, #1
  b 3b
interrupt:
  mrs x3, cntpct_el0
  str x3, [x28, #8]
  str x0, [x28, #16]
  b .
