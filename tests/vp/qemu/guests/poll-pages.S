// SPDX-License-Identifier: Apache-2.0
// Polls a word of the device in each of 16 areas of 0x5000 bytes.
.include "ipu.inc"
begin
  mov x3, #0x5000
1:
  mov x1, x28
  mov x2, #16
2:
  ldr x0, [x1]
  add x1, x1, x3
  subs x2, x2, #1
  b.ne 2b
  b 1b
