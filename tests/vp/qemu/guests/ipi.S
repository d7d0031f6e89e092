// SPDX-License-Identifier: Apache-2.0
// An interrupt goes round the cores: each sleeps until it is interrupted, writes a note and
// interrupts the next.
// Parameter 0: number of cores.
.include "ipu.inc"
begin
  enable_interrupts
  parameter 10, 0
  core 1
  add x2, x1, #1                // the next
  cmp x2, x10
  csel x2, xzr, x2, eq
  mov x3, #1
  lsl x3, x3, x2                // ICC_SGI1R_EL1: target list of cores 0 to 15, SGI 0
  cbnz x1, sleep
  // Core 0 begins when all the others have been asleep for long.
  mov x4, #20000
1:
  sub x4, x4, #1
  cbnz x4, 1b
pass:
  str x1, [x28]
  msr icc_sgi1r_el1, x3
sleep:
  wfi
  mrs x4, icc_iar1_el1
  msr icc_eoir1_el1, x4
  cmp x4, #0
  b.eq pass
  b sleep
