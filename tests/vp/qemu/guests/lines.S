// SPDX-License-Identifier: Apache-2.0
// Sleeps until an interrupt comes and notes its number.
.include "ipu.inc"
begin
  enable_interrupts
1:
  wfi
  mrs x4, icc_iar1_el1
  str x4, [x28]
  msr icc_eoir1_el1, x4
  b 1b
