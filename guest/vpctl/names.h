/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_VPCTL_NAMES_H
#define GUEST_VPCTL_NAMES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 to 255, up to 3 decimal digits. */
bool is_exit_code(const char *text);

/* A mark is one word: 1 to 200 bytes, neither spaces nor control characters. */
bool is_mark_name(const char *name);

/*
 * What the platform takes a file by: relative, up to 4095 bytes, no control character, no part of
 * it hidden or "..", and the last one not empty.
 */
bool is_file_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
