// SPDX-License-Identifier: Apache-2.0
// Calls a routine at SRAM + 0x2000 without end. In rounds whose number has none of parameter 0's
// bits set it first writes one of two routines there, in turns; the other rounds execute what is
// there. Both access the device in their middle, and an address that is memory and device by turns.
// Other cores do nothing, but stay awake.
.include "ipu.inc"
begin
  core 9
  cbnz x9, .                    // three instructions
  ldr x10, =SRAM + 0x2000
  ldr x12, =SRAM + 0x100
  eor x13, x12, x28
  parameter 14, 0               // two instructions
  mov x0, #0
  mov x1, #0
  adr x16, one
  adr x17, other                // instruction 13
next:
  tst x0, x14
  b.ne 1f
  ldp x2, x3, [x16]
  ldp x4, x5, [x16, #16]
  ldr x6, [x16, #32]
  stp x2, x3, [x10]
  stp x4, x5, [x10, #16]
  str x6, [x10, #32]
  mov x2, x16
  mov x16, x17
  mov x17, x2
  dsb ish
  ic iallu
  isb                           // 12 more
1:
  blr x10
  add x0, x0, #1
  b next

  .balign 8
one:
  nop
  ldr x2, [x28, #8]             // 2
  add x1, x1, #1
  str x1, [x28, #16]            // 4
  ldr x4, [x12]                 // 5: in every other round
  eor x12, x12, x13
  str x2, [x28, #24]            // 7
  nop
  nop
  ret                           // 10

  .balign 8
other:
  ldr x2, [x28, #32]            // 1
  add x1, x1, #1
  nop
  ldr x4, [x12]                 // 4
  eor x12, x12, x13
  ldp x2, x3, [x28, #40]        // 6
  str x1, [x28, #16]            // 7
  ret                           // 8
  nop
  nop
