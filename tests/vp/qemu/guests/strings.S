# SPDX-License-Identifier: Apache-2.0
# Executes a list of string instructions in long mode, each between two stores of RCX to the device,
# at 0 and 8. The test put it at 0x2_0000, 64 bytes each: number, RAX, RCX, RSI, RDI, RFLAGS; and page
# tables at 0x1_0000. RCX, RSI, RDI and RFLAGS after each go to 0x3_0000 and on. An interrupt 0x40
# notes RCX, RSI and RDI at 0x100, a page fault at 0x200, with CR2, and makes 0x60_0000 present.
.include "host.inc"
.set script, 0x20000
.set results, 0x30000
.set DEVICE, 0x40000000
.set directory, 0x12000
start:
  cli
  xorw %ax, %ax
  movw %ax, %ds
  lgdtl %cs:gdt_pointer
  movl $0x620, %eax               # PAE, OSFXSR, OSXMMEXCPT
  movl %eax, %cr4
  movl $0x10000, %eax
  movl %eax, %cr3
  movl $0xc0000080, %ecx          # EFER.LME
  rdmsr
  orl $0x100, %eax
  wrmsr
  movl $0x80000011, %eax          # PG, ET, PE
  movl %eax, %cr0
  ljmpl $8, $(long + 0xf0000)
.code64
long:
  movw $16, %ax
  movw %ax, %ds
  movw %ax, %es
  movw %ax, %ss
  movl $0x8000, %esp
  gates 16
  movl $(idt_pointer + 0xf0000), %eax
  lidt (%rax)
  movl $DEVICE, %r15d
  movl $script, %r14d
  movl $results, %r13d
next:
  movq (%r14), %rbx
  movq 8(%r14), %rax
  movq 16(%r14), %rcx
  movq 24(%r14), %rsi
  movq 32(%r14), %rdi
  movl $(table + 0xf0000), %edx
  movl (%rdx, %rbx, 4), %ebx
  movl $0x700, %edx
  addq $64, %r14
  pushq -24(%r14)
  popfq
  jmp *%rbx

.macro operation name, instruction:vararg
\name:
  movq %rcx, (%r15)
  \instruction
  movq %rcx, 8(%r15)
  jmp done
.endm
operation movsb, rep movsb
operation movsq, rep movsq
operation stosb, rep stosb
operation stosq, rep stosq
operation lodsb, rep lodsb
operation cmpsb, repe cmpsb
operation scasb, repne scasb
operation outsb, rep outsb
operation insb, rep insb
operation movsb32, addr32 rep movsb
shadow:                           # the first iteration is in the shadow of STI
  movq %rcx, (%r15)
  sti
  rep stosb
  movq %rcx, 8(%r15)
  cli
done:
  movq %rcx, (%r13)
  movq %rsi, 8(%r13)
  movq %rdi, 16(%r13)
  pushfq
  popq 24(%r13)
  addq $32, %r13
  jmp next
store4:
  movl %eax, (%rdi)
  jmp next
end:
  hlt
  jmp end

fault:
  movq %rcx, 0x200(%r15)
  movq %rsi, 0x208(%r15)
  movq %rdi, 0x210(%r15)
  movq %cr2, %rbx
  movq %rbx, 0x218(%r15)
  orb $1, directory + 3 * 8
  invlpg (%rbx)
  addq $8, %rsp                   # error code
  iretq
interrupt:
  movq %rcx, 0x100(%r15)
  movq %rsi, 0x108(%r15)
  movq %rdi, 0x110(%r15)
  pushq %rbx
  movl $0xfee000b0, %ebx          # the end of the interrupt
  movl $0, (%rbx)
  popq %rbx
  iretq

.balign 8
gdt:
  .quad 0
  .quad 0x00af9b000000ffff
  .quad 0x00cf93000000ffff
gdt_pointer:
  .word 23
  .long gdt + 0xf0000
idt_pointer:
  .word 65 * 16 - 1
  .quad 0x9000
.macro entry name
  .long \name + 0xf0000
.endm
table:
  entry end
  entry movsb
  entry movsq
  entry stosb
  entry stosq
  entry lodsb
  entry cmpsb
  entry scasb
  entry outsb
  entry insb
  entry movsb32
  entry shadow
  entry store4
