/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on the console, as "[    0.000123] text", with the time since the counter started. */
#ifndef FIRMWARE_CONSOLE_LOG_H
#define FIRMWARE_CONSOLE_LOG_H

#include <stdarg.h>

#include "config.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

void log_message(enum log_level level, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
void log_message_v(enum log_level level, const char* format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#define log_at(level, ...)                                                \
  do {                                                                    \
    if ((level) <= FIRMWARE_LOG_LEVEL) log_message((level), __VA_ARGS__); \
  } while (0)
#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_at(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif
