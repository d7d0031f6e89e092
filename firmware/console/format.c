/* SPDX-License-Identifier: Apache-2.0 */
#include "console/format.h"

#include <stdbool.h>
#include <stdint.h>

struct output {
  char* text;
  size_t size;
  size_t length;
};

static void put(struct output* output, char c) {
  if (output->length + 1 < output->size) output->text[output->length] = c;
  output->length++;
}

static void pad(struct output* output, char c, size_t used, size_t width) {
  for (; used < width; used++) put(output, c);
}

struct conversion {
  bool left;
  bool zero;
  size_t width;
  unsigned longs; /* 0: int; 1 or more: long */
  char type;
};

static const char* parse(const char* format, struct conversion* conversion) {
  *conversion = (struct conversion){0};
  for (;; format++) {
    if (*format == '-')
      conversion->left = true;
    else if (*format == '0')
      conversion->zero = true;
    else
      break;
  }
  for (; *format >= '0' && *format <= '9'; format++) {
    if (conversion->width < 1000)
      conversion->width = conversion->width * 10 + (size_t)(*format - '0');
  }
  for (; *format == 'l' || *format == 'z'; format++) conversion->longs++;
  conversion->type = *format;
  return format;
}

static void put_text(struct output* output, const struct conversion* conversion, const char* text,
                     size_t length) {
  if (!conversion->left) pad(output, ' ', length, conversion->width);
  for (size_t i = 0; i < length; i++) put(output, text[i]);
  if (conversion->left) pad(output, ' ', length, conversion->width);
}

static void put_number(struct output* output, const struct conversion* conversion, uint64_t value,
                       unsigned base, const char* prefix) {
  char digits[20];
  size_t count = 0;
  size_t length = 0;

  do {
    digits[count++] = "0123456789abcdef"[value % base];
    value /= base;
  } while (value);
  while (prefix[length]) length++;
  length += count;
  if (!conversion->left && !conversion->zero) pad(output, ' ', length, conversion->width);
  while (*prefix) put(output, *prefix++);
  if (!conversion->left && conversion->zero) pad(output, '0', length, conversion->width);
  while (count) put(output, digits[--count]);
  if (conversion->left) pad(output, ' ', length, conversion->width);
}

size_t format_text_v(char* text, size_t size, const char* format, va_list arguments) {
  struct output output = {text, size, 0};
  va_list rest;

  va_copy(rest, arguments);
  for (; *format; format++) {
    struct conversion conversion;
    const char* start = format;

    if (*format != '%') {
      put(&output, *format);
      continue;
    }
    format = parse(format + 1, &conversion);
    switch (conversion.type) {
      case 'd':
      case 'i': {
        int64_t value = conversion.longs ? va_arg(rest, long) : va_arg(rest, int);
        uint64_t size_of = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

        put_number(&output, &conversion, size_of, 10, value < 0 ? "-" : "");
        break;
      }
      case 'u':
      case 'x': {
        uint64_t value =
            conversion.longs ? va_arg(rest, unsigned long) : va_arg(rest, unsigned int);

        put_number(&output, &conversion, value, conversion.type == 'u' ? 10 : 16, "");
        break;
      }
      case 'p':
        put_number(&output, &conversion, (uintptr_t)va_arg(rest, void*), 16, "0x");
        break;
      case 'c': {
        char c = (char)va_arg(rest, int);

        put_text(&output, &conversion, &c, 1);
        break;
      }
      case 's': {
        const char* string = va_arg(rest, const char*);
        size_t length = 0;

        if (!string) string = "(null)";
        while (string[length]) length++;
        put_text(&output, &conversion, string, length);
        break;
      }
      case '%':
        put(&output, '%');
        break;
      case '\0':
        /* The format ends within a conversion. */
        while (start < format) put(&output, *start++);
        format--;
        break;
      default:
        while (start <= format) put(&output, *start++);
        break;
    }
  }
  va_end(rest);
  if (size) text[output.length < size ? output.length : size - 1] = '\0';
  return output.length;
}

size_t format_text(char* text, size_t size, const char* format, ...) {
  va_list arguments;
  size_t length;

  va_start(arguments, format);
  length = format_text_v(text, size, format, arguments);
  va_end(arguments);
  return length;
}
