# SPDX-License-Identifier: Apache-2.0
# Writes and reads ports of all sizes; what was read is stored at d000:0000.
.include "host.inc"
start:
  device
  movw $0x700, %dx
  movl $0x44332211, %eax
  outb %al, %dx
  incw %dx
  outb %al, %dx
  incw %dx
  outw %ax, %dx
  incw %dx
  incw %dx
  outl %eax, %dx
  xorl %eax, %eax
  inb %dx, %al
  movl %eax, 0
  inw %dx, %ax
  movl %eax, 0
  inl %dx, %eax
  movl %eax, 0
  movw $4, %cx
  xorw %si, %si
  cld
  rep outsb                     # from the device
  hlt
