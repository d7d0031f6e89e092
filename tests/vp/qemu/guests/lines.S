// SPDX-License-Identifier: Apache-2.0
// Sleeps until it is interrupted, and notes the interrupt's number.
.include "ipu.inc"
begin
  enable_interrupts
1:
  wfi
  mrs x4, icc_iar1_el1
  str x4, [x28]
  msr icc_eoir1_el1, x4
  b 1b
