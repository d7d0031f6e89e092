// SPDX-License-Identifier: Apache-2.0
// Notes the version of the performance monitors (ID_AA64DFR0_EL1.PMUVer) at 0, and then reads their
// cycle counter. The handler of exceptions notes the class (ESR_EL2.EC) at 8.
.include "ipu.inc"
begin
  vectors fault, fault
  mrs x1, id_aa64dfr0_el1
  ubfx x1, x1, #8, #4
  str x1, [x28]
  mrs x2, pmccntr_el0
  str x2, [x28, #16]
  b .
fault:
  mrs x3, esr_el2
  lsr x3, x3, #26
  str x3, [x28, #8]
  b .
