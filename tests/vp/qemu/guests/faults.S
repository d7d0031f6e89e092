// SPDX-License-Identifier: Apache-2.0
// Accesses that are refused. For each exception ESR_EL2 is noted at 0x800, FAR_EL2 at 0x808 and
// the number of the access at 0x810; then the program goes on after it. It ends with a store at
// 0x818.
.include "ipu.inc"

.macro next
  add x0, x0, #1
.endm

begin
  vectors fault, .
  mov x0, #0
  ldr x27, =0x20000000000       // outside of what the test maps
  next
  ldr x1, [x28, #0x100]         // 1 read
  next
  str x1, [x28, #0x100]         // 2 write
  next
  strb w1, [x28, #0x101]        // 3 byte
  next
  ldp x1, x2, [x28, #0xf8]      // 4 the second half
  next
  ldr x1, [x27]                 // 5 no memory
  next
  str x1, [x27]                 // 6
  next
  adr x30, 1f
  add x3, x28, #0x100
  br x3                         // 7 instructions from the device, refused
1:
  next
  adr x30, 1f
  br x27                        // 8 instructions from nowhere
1:
  next
  adr x30, 1f
  br x28                        // 9 instructions from the device
1:
  str x0, [x28, #0x818]
  b .

fault:
  mrs x20, esr_el2
  str x20, [x28, #0x800]
  mrs x21, far_el2
  str x21, [x28, #0x808]
  str x0, [x28, #0x810]
  lsr x20, x20, #26
  cmp x20, #0x21                // instruction abort
  b.eq 1f
  mrs x30, elr_el2
  add x30, x30, #4
1:
  msr elr_el2, x30
  eret
