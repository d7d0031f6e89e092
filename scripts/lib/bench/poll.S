// SPDX-License-Identifier: Apache-2.0
// Firmware of a benchmark: core 0 polls the word at ADDRESS, for good, if there is one.
  .global _start
_start:
#ifdef ADDRESS
  mrs x0, mpidr_el1
  and x0, x0, #0xff
  cbnz x0, sleep
  ldr x1, =ADDRESS
poll:
  ldr x0, [x1]
  add x2, x2, #1
  eor x3, x3, x2
  cmp x0, x3, lsl #1
  b poll
#endif
sleep:
  wfi
  b sleep
