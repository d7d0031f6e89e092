// SPDX-License-Identifier: Apache-2.0
// Unaligned accesses of the device, which it maps as normal memory.
.include "ipu.inc"
begin
  ldr x1, =SRAM + 0x1000        // level 1: 1 GiB blocks, access flag, shareable, index 0
  ldr x2, =0x00000701
  str x2, [x1]
  ldr x2, =0x80000701
  str x2, [x1, #16]
  mov x2, #0x44                 // MAIR_EL2: index 0 is normal, non-cacheable
  msr mair_el2, x2
  ldr x2, =0x80820019           // TCR_EL2: 39 bits of address, 4 KiB granule, 40 bits physical
  msr tcr_el2, x2
  msr ttbr0_el2, x1
  isb
  mrs x2, sctlr_el2
  orr x2, x2, #1
  msr sctlr_el2, x2
  isb
  ldr x1, =0x8877665544332211
  add x3, x28, #0x100
  stur x1, [x3, #1]
  stur w1, [x3, #0x43]
  sturh w1, [x3, #0x81]
  ldur x4, [x28, #0x81]
  str x4, [x28, #0x800]
  add x5, x28, #0x1000
  stur x1, [x5, #-4]            // across a page
  ldur x4, [x5, #-4]
  str x4, [x28, #0x800]
  b .
