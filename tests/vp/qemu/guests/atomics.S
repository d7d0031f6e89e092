// SPDX-License-Identifier: Apache-2.0
// Atomic and exclusive accesses to the device, each of which becomes a read and a write.
.include "ipu.inc"
begin
  vectors ., .
  mov x1, #5
  ldadd x1, x2, [x28]
  str x2, [x28, #0x800]
  swp w1, w2, [x28]
  str x2, [x28, #0x800]
  mov x4, #7
  mov x5, #9
  cas x4, x5, [x28]
  str x4, [x28, #0x800]
  add x10, x28, #0x20
  mov x4, #0
  mov x5, #0
  mov x6, #1
  mov x7, #2
  casp x4, x5, x6, x7, [x10]
  str x4, [x28, #0x800]
1:
  ldxr x2, [x28]
  add x2, x2, #1
  stxr w3, x2, [x28]
  cbnz w3, 1b
  ldxp x2, x3, [x10]
  stxp w4, x2, x3, [x10]
  str x4, [x28, #0x808]
  b .
