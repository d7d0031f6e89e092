/* SPDX-License-Identifier: Apache-2.0 */
#include "console/log.h"

#include <stdint.h>

#include "base/timer.h"
#include "console/console.h"

static const char* const prefixes[] = {
    [LOG_ERROR] = "error: ",
    [LOG_WARNING] = "warning: ",
    [LOG_INFO] = "",
    [LOG_DEBUG] = "debug: ",
};

void log_message_v(enum log_level level, const char* format, va_list arguments) {
  uint64_t us = timer_us();

  console_printf("[%5lu.%06lu] %s", us / 1000000, us % 1000000, prefixes[level]);
  console_vprintf(format, arguments);
  console_write("\n", 1);
}

void log_message(enum log_level level, const char* format, ...) {
  va_list arguments;

  va_start(arguments, format);
  log_message_v(level, format, arguments);
  va_end(arguments);
}
