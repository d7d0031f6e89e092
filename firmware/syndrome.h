/* SPDX-License-Identifier: Apache-2.0 */
/* ESR_EL1 in words (Arm DDI 0487, D17.2.37). */
#ifndef FIRMWARE_SYNDROME_H
#define FIRMWARE_SYNDROME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The exception class, as "data abort". */
const char* syndrome_class(uint64_t esr);

/* Whether it is an instruction or data abort, for which the next two have a meaning. */
bool syndrome_is_abort(uint64_t esr);
/* The fault status, as "translation fault, level 2". */
const char* syndrome_status(uint64_t esr);
/* "fetch", "read" or "write". */
const char* syndrome_access(uint64_t esr);

#ifdef __cplusplus
}
#endif

#endif
