/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_VPCTL_NAMES_H
#define GUEST_VPCTL_NAMES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 to 255, decimal digits only. */
bool parse_exit_code(const char *text, unsigned int *code);

/* A mark is one word: 1 to 200 printable characters, no space. */
bool is_mark_name(const char *name);

/* What `put` may send: relative, no part of it "..", no control character, up to 4095 bytes. */
bool is_file_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
