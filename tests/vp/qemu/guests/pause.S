# SPDX-License-Identifier: Apache-2.0
# Counts at d000:0000, with a PAUSE after each write.
.include "host.inc"
start:
  xorb %al, %al                 # instruction 2
  device
1:
  incb %al
  movb %al, 0
  pause
  jmp 1b
