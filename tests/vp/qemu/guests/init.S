# SPDX-License-Identifier: Apache-2.0
# Counts at d000:0000 how often it starts, and sends itself INIT.
.include "host.inc"
.set ICR, 0xfee00300
start:
  xorw %ax, %ax                 # instruction 2
  movw %ax, %ds
  incb 0x600
  movb 0x600, %bl
  device
  movb %bl, 0                   # instruction 8
  flat_data
  movl $ICR, %edi
  movl $0, 0x10(%edi)
  movl $0x4500, (%edi)          # instruction 17: to processor 0, INIT, assert
  jmp .
