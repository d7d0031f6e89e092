/* SPDX-License-Identifier: Apache-2.0 */
/* Describes ESR_EL1 in words (Arm DDI 0487, D17.2.37). */
#ifndef FIRMWARE_FAULT_SYNDROME_H
#define FIRMWARE_FAULT_SYNDROME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the exception class, such as "data abort". */
const char* syndrome_class(uint64_t esr);

/* Returns whether it is an instruction or data abort. The next two functions are for these. */
bool syndrome_is_abort(uint64_t esr);
/* Returns the fault status, such as "translation fault, level 2". */
const char* syndrome_status(uint64_t esr);
/* Returns "fetch", "read" or "write". */
const char* syndrome_access(uint64_t esr);

#ifdef __cplusplus
}
#endif

#endif
