# SPDX-License-Identifier: Apache-2.0
# Sends back what the serial port receives, slowly.
.include "host.inc"
.set UART, 0x3f8
start:
  movw $UART + 2, %dx           # FIFO on
  movb $0x07, %al
  outb %al, %dx
1:
  movw $UART + 5, %dx           # data ready
  inb %dx, %al
  testb $0x01, %al
  jz 1b
  movw $UART, %dx
  inb %dx, %al
  movb %al, %bl
  movw $UART + 5, %dx           # transmitter empty
2:
  inb %dx, %al
  testb $0x20, %al
  jz 2b
  movw $UART, %dx
  movb %bl, %al
  outb %al, %dx
  movw $200, %cx
3:
  loop 3b
  jmp 1b
