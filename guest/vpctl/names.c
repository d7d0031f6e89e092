// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stdlib.h>
#include <string.h>

bool is_exit_code(const char *text) {
  size_t digits = strspn(text, "0123456789");

  return digits && digits <= 3 && !text[digits] && atoi(text) <= 255;
}

/* Whether all bytes are above this one and none is DEL. */
static bool all_above(const char *text, unsigned char limit) {
  for (; *text; text++)
    if ((unsigned char)*text <= limit || *text == 0x7f) return false;
  return true;
}

bool is_mark_name(const char *name) {
  size_t length = strlen(name);

  return length && length <= 200 && all_above(name, ' ');
}

bool is_file_name(const char *name) {
  const char *part = name;
  size_t size = 0;
  bool named = false; /* by the last part */

  if (strlen(name) > 4095 || *name == '/' || !all_above(name, ' ' - 1)) return false;
  for (; *part; part += size + (part[size] == '/')) {
    size = strcspn(part, "/");
    named = size && *part != '.';
    if (*part == '.' && size > 1) return false;
  }
  return named && part[-1] != '/';
}
