# SPDX-License-Identifier: Apache-2.0
# Notes that it starts, at d000:0000, and does what the parameter says: 1 a triple fault, 2 ACPI
# reset, 3 ACPI power-off, 0 nothing.
.include "host.inc"
.set GED, 0xfea00200            # sleep control, sleep status, reset
start:
  parameter
  movb %al, %bl
  device
  movb %bl, 0
  flat_data
  cmpb $2, %bl
  je reset
  ja power_off
  testb %bl, %bl
  jz sleep
fault:
  lidtl %cs:nothing
  int $3
reset:
  movl $GED + 2, %edi
  movb $0x42, (%edi)
power_off:
  movl $GED, %edi
  movb $0x34, (%edi)
sleep:
  hlt
  jmp sleep

nothing:
  .word 0
  .long 0
