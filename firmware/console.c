/* SPDX-License-Identifier: Apache-2.0 */
#include "console.h"

#include "format.h"
#include "mmio.h"
#include "oae_memory_map.h"

/* Arm DDI 0183, section 3.2. */
#define UART_DR (OAE_IPU_CONSOLE_BASE + 0x000)
#define UART_FR (OAE_IPU_CONSOLE_BASE + 0x018)
#define UART_IBRD (OAE_IPU_CONSOLE_BASE + 0x024)
#define UART_FBRD (OAE_IPU_CONSOLE_BASE + 0x028)
#define UART_LCR_H (OAE_IPU_CONSOLE_BASE + 0x02c)
#define UART_CR (OAE_IPU_CONSOLE_BASE + 0x030)
#define UART_IMSC (OAE_IPU_CONSOLE_BASE + 0x038)

#define FR_TXFF (1u << 5)
#define LCR_H_FEN (1u << 4)
#define LCR_H_WLEN_8 (3u << 5)
#define CR_UARTEN (1u << 0)
#define CR_TXE (1u << 8)
#define CR_RXE (1u << 9)

/* 115200 baud of a UARTCLK of 24 MHz: 13 + 1/64. */
#define INTEGER_DIVISOR 13
#define FRACTIONAL_DIVISOR 1

void console_init(void) {
  mmio_write32(UART_IMSC, 0);
  mmio_write32(UART_IBRD, INTEGER_DIVISOR);
  mmio_write32(UART_FBRD, FRACTIONAL_DIVISOR);
  mmio_write32(UART_LCR_H, LCR_H_FEN | LCR_H_WLEN_8);
  mmio_write32(UART_CR, CR_UARTEN | CR_TXE | CR_RXE);
}

static void put(char c) {
  while (mmio_read32(UART_FR) & FR_TXFF)
    ;
  mmio_write32(UART_DR, (unsigned char)c);
}

void console_write(const char* text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\n') put('\r');
    put(text[i]);
  }
}

void console_vprintf(const char* format, va_list arguments) {
  char text[256];
  size_t length = format_text_v(text, sizeof(text), format, arguments);

  console_write(text, length < sizeof(text) ? length : sizeof(text) - 1);
}

void console_printf(const char* format, ...) {
  va_list arguments;

  va_start(arguments, format);
  console_vprintf(format, arguments);
  va_end(arguments);
}
