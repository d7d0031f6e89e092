/* SPDX-License-Identifier: Apache-2.0 */
#include "console/console.h"

#include "base/mmio.h"
#include "console/format.h"
#include "models/ipu/pl011_registers.h"
#include "oae_memory_map.h"

#define UART(offset) (OAE_IPU_CONSOLE_BASE + (offset))

/* 115200 baud of a UARTCLK of 24 MHz: 13 + 1/64. */
#define INTEGER_DIVISOR 13
#define FRACTIONAL_DIVISOR 1

void console_init(void) {
  mmio_write32(UART(PL011_IMSC), 0);
  mmio_write32(UART(PL011_IBRD), INTEGER_DIVISOR);
  mmio_write32(UART(PL011_FBRD), FRACTIONAL_DIVISOR);
  mmio_write32(UART(PL011_LCR_H), PL011_LCR_H_FEN | PL011_LCR_H_WLEN_8);
  mmio_write32(UART(PL011_CR), PL011_CR_UARTEN | PL011_CR_TXE | PL011_CR_RXE);
}

static void put(char c) {
  while (mmio_read32(UART(PL011_FR)) & PL011_FR_TXFF)
    ;
  mmio_write32(UART(PL011_DR), (unsigned char)c);
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
