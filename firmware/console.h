/* SPDX-License-Identifier: Apache-2.0 */
/* The console: a PL011, written to by polling. */
#ifndef FIRMWARE_CONSOLE_H
#define FIRMWARE_CONSOLE_H

#include <stdarg.h>
#include <stddef.h>

/* May be called again at any time. */
void console_init(void);
/* A line feed becomes carriage return and line feed. */
void console_write(const char* text, size_t length);
void console_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
void console_vprintf(const char* format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
