/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GUEST_VPCTL_NAMES_H
#define GUEST_VPCTL_NAMES_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0 to 255, up to 3 decimal digits. */
bool is_exit_code(const char *text);

/* Of a mark or a file: 1 to 128 of A-Z a-z 0-9 . _ + - with neither . nor - first. */
bool is_name(const char *text);

/* What stands behind the last slash. */
const char *name_of_path(const char *path);

#ifdef __cplusplus
}
#endif

#endif
