// SPDX-License-Identifier: Apache-2.0
// Computes, in turns of three instructions. Parameter 0: turns between accesses of the device, at 0
// and with the number of the access, 0 for none; 1: 1 sleeps after each access until SPI 4, whose
// arrival it notes at 8.
.include "ipu.inc"
begin
  enable_interrupts
  parameter 10, 0
  parameter 11, 1
  mov x0, #0
next:
  mov x1, x10
1:
  sub x1, x1, #1
  cmp x1, #0
  b.ne 1b
  str x0, [x28]
  add x0, x0, #1
  cbz x11, next
  wfi
  mrs x4, icc_iar1_el1
  str x4, [x28, #8]
  msr icc_eoir1_el1, x4
  b next
