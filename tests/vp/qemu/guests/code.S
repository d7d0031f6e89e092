// SPDX-License-Identifier: Apache-2.0
// Calls the code at SRAM + 0x1000 without end and stores the x0 it gives. Parameter 0: 1 sleeps
// between the calls.
.include "ipu.inc"
begin
  enable_interrupts
  parameter 11, 0
  ldr x10, =SRAM + 0x1000
1:
  cbz x11, 2f
  wfi
  mrs x4, icc_iar1_el1
  str x4, [x28, #8]
  msr icc_eoir1_el1, x4
2:
  blr x10
  str x0, [x28]
  b 1b
