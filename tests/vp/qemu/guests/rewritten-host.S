# SPDX-License-Identifier: Apache-2.0
# The same as rewritten.S, at 0000:2000. The parameter at 0000:0500 has 16 bits. cf00:0000 is memory
# and cf00:1000 the device. The routines also overwrite an instruction of their own, in the same block.
.include "host.inc"
.set DEVICE, 0x1000
.set patched, 0x2000
start:
  xorw %ax, %ax
  movw %ax, %es
  movw %ax, %ss
  movw $0x8000, %sp
  movw $0xcf00, %ax
  movw %ax, %ds
  movw %es:0x500, %bp
  xorw %bx, %bx                 # memory or device
  xorw %dx, %dx                 # round
  xorl %ecx, %ecx               # counts
  pushw $one
  pushw $other                  # instruction 13
next:
  testw %bp, %dx
  jne 1f
  popw %ax
  popw %si
  pushw %ax
  pushw %si
  cld
  movw $patched, %di
  .rept 10
  movsl %cs:(%si), %es:(%di)
  .endr                         # 16 more
1:
  callw *%cs:target
  incw %dx
  jmp next
target:
  .word entry

  # It is called by a far way, since it is in another segment.
entry:
  lcallw $0, $patched
  ret

  .balign 4
one:
  nop
  movw DEVICE + 8, %ax          # 2
  incw %cx
  movw %cx, DEVICE + 16         # 4
  movw (%bx), %ax               # 5: in every other round
  xorw $DEVICE, %bx
  movb %cl, %es:patched + (1f - one) + 1
1:
  movb $0x77, %al               # 8: says what was just written
  movb %al, DEVICE + 24         # 9
  lretw                         # 10
  .balign 4
  .space 40 - (. - one)

other:
  movw DEVICE + 32, %ax         # 1
  incw %cx
  nop
  movw (%bx), %ax               # 4
  xorw $DEVICE, %bx
  movb %cl, %es:patched + (1f - other) + 1
1:
  movb $0x77, %al
  movb %al, DEVICE + 24         # 8
  movw %cx, DEVICE + 16         # 9
  lretw                         # 10
  .space 40 - (. - other)
