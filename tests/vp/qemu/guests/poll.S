// SPDX-License-Identifier: Apache-2.0
// Polls the device at 0x10 and, half-word by half-word, at 0x18; writes each new value to 0x20.
.include "ipu.inc"
begin
  mov x2, #0
1:
  ldr x0, [x28, #0x10]
  ldrh w1, [x28, #0x18]
  ldrh w3, [x28, #0x1a]
  add x1, x1, x3, lsl #16
  add x0, x0, x1, lsl #32
  cmp x0, x2
  b.eq 1b
  mov x2, x0
  str x0, [x28, #0x20]
  b 1b
