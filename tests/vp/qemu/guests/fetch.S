// SPDX-License-Identifier: Apache-2.0
// Reads a word of the device at 0x10 a hundred times, and then jumps to it. Stores at 0x20 the
// syndrome of the exception that this is, or 1 if the word was executed.
.include "ipu.inc"
begin
  vectors fault, .
  mov x1, #100
1:
  ldr w0, [x28, #0x10]
  subs x1, x1, #1
  b.ne 1b
  add x3, x28, #0x10
  blr x3
  mov x4, #1
  str x4, [x28, #0x20]
  b .
fault:
  mrs x4, esr_el2
  str x4, [x28, #0x20]
  b .
