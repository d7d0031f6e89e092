# SPDX-License-Identifier: Apache-2.0
# Writes 0, 1, 2, ... to port 0x700 at instructions 3, 6, 9, ...
.include "host.inc"
start:
  movw $0x700, %dx
1:
  outl %eax, %dx
  incl %eax
  jmp 1b
