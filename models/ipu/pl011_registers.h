/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the PrimeCell UART PL011 (Arm DDI 0183G, section 3.2), for the model and the
 * firmware. */
#ifndef PL011_REGISTERS_H
#define PL011_REGISTERS_H

#define PL011_DR 0x000u    /* data, with the error bits of the byte read */
#define PL011_RSR 0x004u   /* receive status */
#define PL011_FR 0x018u    /* flags */
#define PL011_ILPR 0x020u  /* IrDA divisor */
#define PL011_IBRD 0x024u  /* integer baud rate divisor */
#define PL011_FBRD 0x028u  /* fractional baud rate divisor, in 64ths */
#define PL011_LCR_H 0x02cu /* line control */
#define PL011_CR 0x030u    /* control */
#define PL011_IFLS 0x034u  /* FIFO levels at which the UART interrupts */
#define PL011_IMSC 0x038u  /* interrupt mask */
#define PL011_RIS 0x03cu   /* raw interrupts */
#define PL011_MIS 0x040u   /* masked interrupts */
#define PL011_ICR 0x044u   /* interrupt clear */
#define PL011_DMACR 0x048u /* DMA control */
#define PL011_PERIPH_ID0 0xfe0u
#define PL011_SIZE 0x1000u

/* Bits of DR. RSR holds the same bits, 8 places lower. */
#define PL011_DR_OE (1u << 11)
#define PL011_RSR_OE (1u << 3)
#define PL011_RSR_CHARACTER 0x7u /* framing, parity and break errors of the character */

#define PL011_FR_CTS (1u << 0)
#define PL011_FR_DSR (1u << 1)
#define PL011_FR_DCD (1u << 2)
#define PL011_FR_BUSY (1u << 3)
#define PL011_FR_RXFE (1u << 4)
#define PL011_FR_TXFF (1u << 5)
#define PL011_FR_RXFF (1u << 6)
#define PL011_FR_TXFE (1u << 7)
#define PL011_FR_RI (1u << 8)

#define PL011_LCR_H_PEN (1u << 1)
#define PL011_LCR_H_STP2 (1u << 3)
#define PL011_LCR_H_FEN (1u << 4)
#define PL011_LCR_H_WLEN_SHIFT 5
#define PL011_LCR_H_WLEN_8 (3u << PL011_LCR_H_WLEN_SHIFT)
#define PL011_LCR_H_MASK 0xffu

#define PL011_CR_UARTEN (1u << 0)
#define PL011_CR_LBE (1u << 7)
#define PL011_CR_TXE (1u << 8)
#define PL011_CR_RXE (1u << 9)
#define PL011_CR_DTR (1u << 10)
#define PL011_CR_RTS (1u << 11)
#define PL011_CR_OUT1 (1u << 12)
#define PL011_CR_OUT2 (1u << 13)
#define PL011_CR_RTSEN (1u << 14)
#define PL011_CR_CTSEN (1u << 15)
#define PL011_CR_MASK 0xff87u

/* Bits of IMSC, RIS, MIS and ICR. */
#define PL011_INT_RI (1u << 0)
#define PL011_INT_CTS (1u << 1)
#define PL011_INT_DCD (1u << 2)
#define PL011_INT_DSR (1u << 3)
#define PL011_INT_RX (1u << 4)
#define PL011_INT_TX (1u << 5)
#define PL011_INT_RT (1u << 6)
#define PL011_INT_OE (1u << 10)
#define PL011_INT_MASK 0x7ffu

#endif
