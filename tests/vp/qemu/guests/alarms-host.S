# SPDX-License-Identifier: Apache-2.0
# In each round accesses the device at d000:0000, at 8 times the processor's number, turns a loop, arms
# its timer and waits until that interrupts it: processor 0 counts meanwhile, another one sleeps. The
# access tells the count of the round before. The parameter at 0000:0500 has 16 bits: turns of
# processor 0 in the first round, and one more in each that follows.
.include "host.inc"
.set APIC, 0xfee00000
.set DEVICE, 0xd0000
start:                          # at f000:0000
  cli
  xorw %ax, %ax
  movw %ax, %ds
  movw %ax, %ss
  movw $interrupt, 0x100        # vector 0x40
  movw %cs, 0x102
  flat_data
  andb $0xfe, %al
  movl %eax, %cr0
  movl $APIC, %edi
  movl $0x1ff, 0xf0(%edi)       # on
  movl $0x40, 0x320(%edi)       # the timer: once, vector 0x40
  movl $0xb, 0x3e0(%edi)        # counts nanoseconds
  movl 0x20(%edi), %ebp
  shrl $24, %ebp                # the processor's number
  xorl %esi, %esi
  testl %ebp, %ebp
  jnz 1f
  movl $0xc46f0, 0x300(%edi)    # all others begin at 0xf0000
  movzwl 0x500, %ebx
  movl $1000, %ecx              # nanoseconds of the timer
  jmp next
1:
  movl $100, %ebx
  movl $300000, %ecx
next:
  movw $0x8000, %sp             # the stacks are 256 bytes
  movw %bp, %ax
  shlw $8, %ax
  subw %ax, %sp
  sti
  movl %esi, DEVICE(, %ebp, 8)
  movl %ebx, %edx               # instruction 1 after the access
1:
  decl %edx
  jnz 1b
  xorl %esi, %esi
  testl %ebp, %ebp
  movl %ecx, 0x380(%edi)        # instruction 4 and 2 for each turn
  jnz 3f
2:
  incl %esi
  jmp 2b
3:
  pause
  hlt
  jmp 3b
interrupt:
  movl $0, 0xb0(%edi)
  incl %ebx
  jmp next
