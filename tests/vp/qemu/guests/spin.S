// SPDX-License-Identifier: Apache-2.0
// Core 0 counts in memory, for the first time with its instruction 3 * turns + 14, and then with each
// (3 * turns + 4)-th. Core 1 looks at that word all the time, and writes each new value to the
// device. Parameter 0: turns; 1: how often core 1 yields, once before each of its first looks; 2: 1
// lets core 1 sleep until core 0, which reads the device at 8 first, interrupts it.
.include "ipu.inc"
begin
  ldr x10, =SRAM + 0x100
  parameter 11, 0
  parameter 13, 2
  core 1
  cbnz x1, 5f
  cbnz x13, wake
count:
  mov x0, #0
next:
  mov x2, x11
1:
  sub x2, x2, #1
  cmp x2, #0
  b.ne 1b
  add x0, x0, #1
  str x0, [x10]
  b next
wake:
  enable_interrupts
  mov x4, #20000
4:
  sub x4, x4, #1
  cbnz x4, 4b
  ldr x4, [x28, #8]
  mov x4, #1 << 1               // ICC_SGI1R_EL1: target list of core 1, SGI 0
  msr icc_sgi1r_el1, x4
  b count
5:
  cbz x13, look
  enable_interrupts
  wfi
  mrs x4, icc_iar1_el1
  msr icc_eoir1_el1, x4
look:
  parameter 12, 1
  mov x3, #0
2:
  cbz x12, 3f
  sub x12, x12, #1
  yield
3:
  ldr x2, [x10]
  cmp x2, x3
  b.eq 2b
  mov x3, x2
  str x3, [x28]
  b 2b
