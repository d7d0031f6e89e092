// SPDX-License-Identifier: Apache-2.0
// Each core writes its note and sleeps. A core that is woken writes it again.
.include "ipu.inc"
begin
  enable_interrupts
  core 1
1:
  str x1, [x28]
  wfi
  mrs x4, icc_iar1_el1
  msr icc_eoir1_el1, x4
  b 1b
