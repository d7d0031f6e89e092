// SPDX-License-Identifier: Apache-2.0
// Core 0 counts in memory, for the first time with its instruction 3 * turns + 11, and then with each
// (3 * turns + 4)-th. Core 1 looks at that word all the time, and writes each new value to the
// device. Parameter 0: turns; 1: how often core 1 yields, once before each of its first looks.
.include "ipu.inc"
begin
  ldr x10, =SRAM + 0x100
  parameter 11, 0
  core 1
  cbnz x1, look
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
