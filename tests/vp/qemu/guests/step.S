// SPDX-License-Identifier: Apache-2.0
// Asks for a software step while debug exceptions are masked, and stores 1 to the device. Then it unmasks them
// and stores 2. The handler stores the exception's class, and the distance in bytes of its return address from
// the instruction behind the unmasking. It asks for no further step.
.include "ipu.inc"
begin
  vectors stepped, .
  msr oslar_el1, xzr
  mov x1, #1 << 8               // MDCR_EL2.TDE: debug exceptions are EL2's
  msr mdcr_el2, x1
  mov x2, #1 << 13 | 1          // MDSCR_EL1: KDE, SS
1:
  msr daifset, #8
  msr mdscr_el1, x2
  isb
  mov x0, #1
  str x0, [x28]
  mov x0, #2
  msr daifclr, #8
2:
  str x0, [x28]
  b 1b

stepped:
  msr mdscr_el1, xzr
  isb
  mrs x20, esr_el2
  lsr x20, x20, #26
  str x20, [x28]
  mrs x20, elr_el2
  adr x21, 2b
  sub x20, x20, x21
  str x20, [x28]
  eret
