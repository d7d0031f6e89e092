/* SPDX-License-Identifier: Apache-2.0 */
#include "services/swap_offer.h"

#include "base/mmio.h"
#include "oae_registers.h"
#include "services/crc64.h"

/* Status and slot have epoch and sequence at the same places. */
uint64_t swap_offer_header(uint64_t status) {
  return OAE_PUT(OAE_SLOT_HEADER_VERB, OAE_VERB_SWAP) |
         OAE_PUT(OAE_SLOT_HEADER_EPOCH, OAE_GET(status, OAE_FIRMWARE_STATUS_EPOCH)) |
         OAE_PUT(OAE_SLOT_HEADER_SEQUENCE, OAE_GET(status, OAE_FIRMWARE_STATUS_NEXT_SEQUENCE));
}

void swap_offer_make(uint64_t header, const uint64_t* payload, uint64_t* slices) {
  slices[0] = header;
  for (unsigned i = 0; i < SWAP_PAYLOAD_WORDS; i++) slices[1 + i] = payload[i];
  slices[SWAP_SLICES - 1] = crc64_words(slices, SWAP_SLICES - 1);
}

void swap_offer_write(uintptr_t block, unsigned n, const uint64_t* slices) {
  for (unsigned i = 0; i < SWAP_SLICES; i++)
    mmio_write64(block + OAE_FIRMWARE_OFFER_AT(n) + 8 * i, slices[i]);
}
