/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware's offers at the swap ports, as all services make them. */
#ifndef FIRMWARE_SERVICES_SWAP_OFFER_H
#define FIRMWARE_SERVICES_SWAP_OFFER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWAP_PAYLOAD_WORDS 6
#define SWAP_SLICES 8

/* Returns the header of the next offer at a port with this status. */
uint64_t swap_offer_header(uint64_t status);

/* Makes the slices of an offer. crc64_init() was called before. */
void swap_offer_make(uint64_t header, const uint64_t* payload, uint64_t* slices);

/* Writes these slices for port n of the block. The command to publish them has to follow. */
void swap_offer_write(uintptr_t block, unsigned n, const uint64_t* slices);

#ifdef __cplusplus
}
#endif

#endif
