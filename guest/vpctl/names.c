// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stddef.h>
#include <string.h>

bool parse_exit_code(const char *text, unsigned int *code) {
  size_t digits = strspn(text, "0123456789");

  if (!digits || digits > 3 || text[digits]) return false;
  *code = 0;
  for (; *text; text++) *code = *code * 10 + (unsigned int)(*text - '0');
  return *code <= 255;
}

bool is_mark_name(const char *name) {
  size_t length = strlen(name);

  if (!length || length > 200) return false;
  for (; *name; name++)
    if ((unsigned char)*name <= ' ' || *name == 0x7f) return false;
  return true;
}

bool is_file_name(const char *name) {
  size_t length = strlen(name);
  const char *part = name;

  if (!length || length > 4095 || *name == '/') return false;
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c < ' ' || *c == 0x7f) return false;
  for (;;) {
    size_t size = strcspn(part, "/");
    if (size == 2 && strncmp(part, "..", 2) == 0) return false;
    if (!part[size]) return true;
    part += size + 1;
  }
}
