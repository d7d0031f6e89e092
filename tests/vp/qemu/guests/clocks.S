// SPDX-License-Identifier: Apache-2.0
// Cores show each other the counter: in turns, each reads it and compares it with the last reading.
// If it has gone backwards, the core notes the difference at 8 times its number. Each core counts
// its turns at SRAM + 0x200 + 8 times its number.
.include "ipu.inc"
begin
  core 1
  ldr x10, =SRAM + 0x100        // the next ticket, the last reading, the ticket whose turn it is
  add x12, x10, #16
  ldr x11, =SRAM + 0x200
  mov x3, #1
  mov x8, #0
next:
  ldadd x3, x2, [x10]
1:
  ldar x4, [x12]
  cmp x4, x2
  b.ne 1b
  ldr x5, [x10, #8]
  mrs x6, cntpct_el0
  str x6, [x10, #8]
  add x4, x4, #1
  stlr x4, [x12]
  sub x7, x6, x5
  tbz x7, #63, 1f
  str x7, [x28, x1, lsl #3]
1:
  add x8, x8, #1
  str x8, [x11, x1, lsl #3]
  // Work whose length differs among cores and turns.
  add x7, x1, x8
  and x7, x7, #0x3f
2:
  subs x7, x7, #1
  b.gt 2b
  b next
