# SPDX-License-Identifier: Apache-2.0
# Reads the time stamp counter by RDTSC, 6 instructions later by RDMSR, and 22 instructions later by
# RDTSC. Stores the two differences at d000:0000 and d000:0004.
.include "host.inc"
start:
  device
1:
  rdtsc
  movl %eax, %ebx
  movl $0x10, %ecx
  nop
  nop
  nop
  rdmsr
  movl %eax, %esi
  .rept 20
  nop
  .endr
  rdtsc
  subl %esi, %eax
  subl %ebx, %esi
  movl %esi, 0
  movl %eax, 4
  jmp 1b
