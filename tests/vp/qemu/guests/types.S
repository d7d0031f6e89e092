# SPDX-License-Identifier: Apache-2.0
# Executes a list of operations that the test put at 0x2_0000, in protected mode; each has 16 bytes:
# number, address, value. The test set CR4, CR3 and CR0 at 0x500, and page tables. What is read goes
# to 0x3_0000 and on. Interrupts 0x40 and page faults return after a hundred turns, the latter
# behind the operation.
.include "host.inc"
.set script, 0x20000
.set results, 0x30000
start:
  cli
  xorw %ax, %ax
  movw %ax, %ds
  lgdtl %cs:gdt_pointer
  movl $0x11, %eax                # PE, ET; caches as CR0 at 0x508 says
  movl %eax, %cr0
  ljmpl $8, $(protected + 0xf0000)
.code32
protected:
  movw $16, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  movl $0x8000, %esp
  gates 8
  lidtl idt_pointer + 0xf0000
  movl 0x500, %eax
  orl $0x600, %eax                # OSFXSR, OSXMMEXCPT
  movl %eax, %cr4
  movl 0x504, %eax
  movl %eax, %cr3
  movl 0x508, %eax
  movl %eax, %cr0
  movl $script, %esi
  movl $results, %edi
next:
  movl 4(%esi), %ebx
  movl (%esi), %eax
  addl $16, %esi
  jmp *(table + 0xf0000)(, %eax, 4)

end:
  hlt
  jmp end
store4:
  movl -8(%esi), %eax
  movl %eax, (%ebx)
  jmp next
store8:
  movq -8(%esi), %xmm0
  movq %xmm0, (%ebx)
  jmp next
load4:
  movl (%ebx), %eax
  movl %eax, (%edi)
  movl $0, 4(%edi)
  addl $8, %edi
  jmp next
load8:
  movq (%ebx), %xmm0
  movq %xmm0, (%edi)
  addl $8, %edi
  jmp next
movntdqa:
  movntdqa (%ebx), %xmm0
  movdqu %xmm0, (%edi)
  addl $16, %edi
  jmp next
sfence:
  sfence
  jmp next
mfence:
  mfence
  jmp next
lfence:
  lfence
  jmp next
publish:                          # two stores, the second to `value`, and a fence behind them
  movl -8(%esi), %ecx
  movl %eax, (%ebx)
  movl %eax, (%ecx)
  sfence
  jmp next
locked:
  lock addl $1, 0x600
  jmp next
exchange:
  xchgl %eax, 0x600
  jmp next
cpuid:
  xorl %eax, %eax
  cpuid
  jmp next
wrmsr:
  movl %ebx, %ecx
  movl -8(%esi), %eax
  movl -4(%esi), %edx
  wrmsr
  jmp next
clflush:
  clflush (%ebx)
  jmp next
clflushopt:
  clflushopt (%ebx)
  jmp next
prefetch:
  prefetcht0 (%ebx)
  jmp next
prefetchw:
  prefetchw (%ebx)
  jmp next
out:
  movl %ebx, %edx
  outl %eax, %dx
  jmp next
in:
  movl %ebx, %edx
  inl %dx, %eax
  jmp next
software_interrupt:
  int $0x40
  jmp next
iret:
  pushfl
  pushl $8
  pushl $(next + 0xf0000)
  iretl
write_cr0:
  movl %cr0, %eax
  andl $0x9fffffff, %eax
  orl -8(%esi), %eax
  movl %eax, %cr0
  jmp next
write_cr3:
  movl %cr3, %eax
  movl %eax, %cr3
  jmp next
invlpg:
  invlpg 0x1000
  jmp next
wbinvd:
  wbinvd
  jmp next
lgdt:
  lgdtl gdt_pointer + 0xf0000
  jmp next
delay:                            # value x 2 instructions
  movl -8(%esi), %ecx
1:
  decl %ecx
  jnz 1b
  jmp next
enable:
  sti
  jmp next
plain:                            # calls, arithmetic, a read-modify-write: orders nothing
  pushl %eax
  popl %eax
  call 1f
1:
  addl $4, %esp
  incl 0x600
  pause
  nop
  jmp next
read_cr0:
  movl %cr0, %eax                 # reading it orders nothing
  jmp next

fault:
  addl $4, %esp                   # error code
  movl $(next + 0xf0000), (%esp)
interrupt:
  pushl %ecx
  movl $100, %ecx
1:
  loop 1b
  popl %ecx
  iretl

.balign 8
gdt:
  .quad 0
  .quad 0x00cf9b000000ffff
  .quad 0x00cf93000000ffff
gdt_pointer:
  .word 23
  .long gdt + 0xf0000
idt_pointer:
  .word 65 * 8 - 1
  .long 0x9000
.macro entry name
  .long \name + 0xf0000
.endm
table:
  entry end
  entry store4
  entry store8
  entry load4
  entry load8
  entry movntdqa
  entry sfence
  entry mfence
  entry lfence
  entry locked
  entry exchange
  entry cpuid
  entry wrmsr
  entry clflush
  entry clflushopt
  entry prefetch
  entry prefetchw
  entry out
  entry in
  entry software_interrupt
  entry iret
  entry write_cr0
  entry write_cr3
  entry invlpg
  entry wbinvd
  entry lgdt
  entry delay
  entry enable
  entry plain
  entry read_cr0
  entry publish
