// SPDX-License-Identifier: Apache-2.0
// Core 0 reads the device without end; core n stores 0, 1, 2, ... at 0x100 + 8 n, at its
// instructions 6, 9, 12, ...
.include "ipu.inc"
begin
  core 1
  cbz x1, 2f
  add x28, x28, x1, lsl #3
1:
  str x0, [x28, #0x100]
  add x0, x0, #1
  b 1b
2:
  ldr x2, [x28, #8]
  b 2b
