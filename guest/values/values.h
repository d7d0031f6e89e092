/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a program's command line. Each function reads a whole text, and returns false if it has
 * another form or exceeds the limit. */
#ifndef GUEST_VALUES_H
#define GUEST_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

bool value_number(const char* text, uint64_t max, uint64_t* number);

/* A rate as 20000, 20k or 1.5M. */
bool value_rate(const char* text, uint64_t max, uint64_t* rate);

/* A time as 30us, 1.5ms or 0us, of up to 1000 s. */
bool value_time(const char* text, uint64_t* ns);

/* A share as 0.5%, in parts of 2^32. 100% is one part less. */
bool value_share(const char* text, uint64_t* parts);

/* A list as 0,2-3 of CPUs below `cpus`, of which there are at most 64. */
bool value_cpus(const char* text, unsigned cpus, uint64_t* set);

#ifdef __cplusplus
}
#endif

#endif
