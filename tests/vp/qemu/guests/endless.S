// SPDX-License-Identifier: Apache-2.0
// Exceptions. Parameter 0 chooses: 1 an SVC, 2 an undefined instruction, 3 a refused read, each
// between two stores to the device at 0, with handlers that return to the instruction after it;
// 4 an undefined instruction with vectors where there is no memory; 5 one with vectors that the
// device refuses.
.include "ipu.inc"
begin
  vectors fault, .
  parameter 10, 0
  ldr x11, =0x20000000000       // outside of what the test maps
  mov x12, #4
  cmp x10, #4
  b.eq nowhere
  b.gt refused
1:
  cmp x10, #2
  b.eq 2f
  b.gt 3f
  str x0, [x28]
  svc #0
  str x0, [x28]
  add x0, x0, #1
  b 1b
2:
  str x0, [x28]
  udf #0
  str x0, [x28]
  add x0, x0, #1
  b 1b
3:
  str x0, [x28]
  ldr x1, [x11]
  str x0, [x28]
  add x0, x0, #1
  b 1b
nowhere:
  mov x12, x11
  b 1f
refused:
  add x12, x28, #0x800
1:
  msr vbar_el2, x12
  isb
  str x0, [x28]
  udf #0

fault:
  mrs x20, esr_el2
  lsr x20, x20, #26
  mrs x21, elr_el2
  cmp x20, #0x15                // an SVC returns behind itself already
  b.eq 1f
  add x21, x21, #4
  msr elr_el2, x21
  eret
1:
  eret
