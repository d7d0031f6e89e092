/* SPDX-License-Identifier: Apache-2.0 */
/* The console: a PL011, which is written to by polling. */
#ifndef FIRMWARE_CONSOLE_CONSOLE_H
#define FIRMWARE_CONSOLE_CONSOLE_H

#include <stdarg.h>
#include <stddef.h>

/* Sets up the PL011. May be called again at any time. */
void console_init(void);
/* Writes text. A line feed becomes a carriage return and a line feed. */
void console_write(const char* text, size_t length);
void console_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
void console_vprintf(const char* format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
