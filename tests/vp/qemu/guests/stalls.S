// SPDX-License-Identifier: Apache-2.0
// Notes the counter around each read of the device: instructions 2 to 7, 8 to 13, ...
.include "ipu.inc"
begin
1:
  mrs x1, cntpct_el0
  ldr x2, [x28, #8]
  mrs x3, cntpct_el0
  str x1, [x28, #16]
  str x3, [x28, #24]
  b 1b
