// SPDX-License-Identifier: Apache-2.0
// Stores and loads of all sizes; what was loaded is stored again at 0x10.
.include "ipu.inc"

.macro result n
  str x\n, [x28, #0x10]
.endm

begin
  msr cptr_el2, xzr             // SIMD is not trapped
  isb
  ldr x1, =0x8877665544332211
  ldr x2, =0xffeeddccbbaa9988
  fmov d0, x1
  mov v0.d[1], x2
  add x29, x28, #0x100
  strb w1, [x29, #0x01]
  strh w1, [x29, #0x02]
  str w1, [x29, #0x04]
  str x1, [x29, #0x08]
  stp w1, w2, [x29, #0x10]
  stp x1, x2, [x29, #0x18]
  str q0, [x29, #0x30]
  stp q0, q0, [x29, #0x40]

  add x29, x28, #0x200
  ldrb w4, [x29, #0x01]
  result 4
  ldrh w4, [x29, #0x02]
  result 4
  ldr w4, [x29, #0x04]
  result 4
  ldrsb x4, [x29, #0x0f]
  result 4
  ldr x4, [x29, #0x08]
  result 4
  ldp x4, x5, [x29, #0x18]
  result 4
  result 5
  ldr q1, [x29, #0x30]
  mov x4, v1.d[0]
  mov x5, v1.d[1]
  result 4
  result 5
  b .
