// SPDX-License-Identifier: Apache-2.0
// Exchanges numbers with a peer. Parameter 0: 1 begins, 0 answers; parameter 1: 1 sleeps until
// the interrupt of an arrival, 0 polls. Device: 0 send, 8 receive (0: nothing), 16 note, 24 takes
// the interrupt back.
.include "ipu.inc"
begin
  enable_interrupts
  parameter 10, 0
  parameter 11, 1
  mov x1, #1
  cbz x10, receive
send:
  str x1, [x28]
receive:
  cbz x11, poll
  wfi
  mrs x4, icc_iar1_el1
  ldr x2, [x28, #8]
  str x4, [x28, #24]
  msr icc_eoir1_el1, x4
  cbnz x2, received
  b receive
poll:
  ldr x2, [x28, #8]
  cbz x2, poll
received:
  mrs x3, cntpct_el0
  str x3, [x28, #16]
  // Work that differs each time.
  mov x5, #37
  mul x5, x2, x5
  and x5, x5, #0x1ff
1:
  sub x5, x5, #1
  cmp x5, #0
  b.gt 1b
  add x1, x2, #1
  b send
