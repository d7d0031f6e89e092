// SPDX-License-Identifier: Apache-2.0
// Counts in x0; every 1024 turns it reads the device at 8.
.include "ipu.inc"
begin
  mov x0, #0
1:
  add x0, x0, #1
  tst x0, #0x3ff
  b.ne 1b
  ldr x1, [x28, #8]
  b 1b
