// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <stdlib.h>
#include <string.h>

bool is_exit_code(const char *text) {
  size_t digits = strspn(text, "0123456789");

  return digits && digits <= 3 && !text[digits] && atoi(text) <= 255;
}

bool is_name(const char *text) {
  size_t length = strspn(text,
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "abcdefghijklmnopqrstuvwxyz"
                         "0123456789._+-");

  return length && length <= 128 && !text[length] && *text != '.' && *text != '-';
}

const char *name_of_path(const char *path) {
  const char *slash = strrchr(path, '/');

  return slash ? slash + 1 : path;
}
