/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-64/XZ: polynomial 0x42f0e1eba9ea3693, reflected; the initial value and the final XOR are all
 * ones. Its check value, over "123456789", is 0x995dc9bbdf1939fa. */
#ifndef FIRMWARE_SERVICES_CRC64_H
#define FIRMWARE_SERVICES_CRC64_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the tables. Call this before the first CRC. */
void crc64_init(void);

/* Returns the CRC over little-endian words. */
uint64_t crc64_words(const uint64_t* words, size_t count);

#ifdef __cplusplus
}
#endif

#endif
