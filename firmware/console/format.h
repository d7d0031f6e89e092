/* SPDX-License-Identifier: Apache-2.0 */
/* A small part of printf. */
#ifndef FIRMWARE_CONSOLE_FORMAT_H
#define FIRMWARE_CONSOLE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Writes text of up to `size` characters, including the final zero. As snprintf does, it returns
 * the length of the whole text without the zero. Conversions: %d %i %u %x %c %s %p %%, with l, ll
 * or z, a width and the flags 0 and -. Anything else is written unchanged.
 */
size_t format_text_v(char* text, size_t size, const char* format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
size_t format_text(char* text, size_t size, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
