// SPDX-License-Identifier: Apache-2.0
// Stores 0, 1, 2, ... at instructions 2, 5, 8, ...
.include "ipu.inc"
begin
1:
  str x0, [x28]
  add x0, x0, #1
  b 1b
