/* SPDX-License-Identifier: Apache-2.0 */
#include "services/crc64.h"

#define POLYNOMIAL 0xc96c5795d7870f42ull /* reflected */

/* tables[n][b] is what byte b contributes when n more bytes follow. The tables are made at the
 * start, which keeps the image small. */
static uint64_t tables[8][256];

void crc64_init(void) {
  for (unsigned byte = 0; byte < 256; byte++) {
    uint64_t crc = byte;

    for (unsigned bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
    tables[0][byte] = crc;
  }
  for (unsigned n = 1; n < 8; n++) {
    for (unsigned byte = 0; byte < 256; byte++) {
      uint64_t crc = tables[n - 1][byte];

      tables[n][byte] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  }
}

uint64_t crc64_words(const uint64_t* words, size_t count) {
  uint64_t crc = ~0ull;

  for (size_t i = 0; i < count; i++) {
    uint64_t word = crc ^ words[i];

    crc = tables[7][word & 0xff] ^ tables[6][word >> 8 & 0xff] ^ tables[5][word >> 16 & 0xff] ^
          tables[4][word >> 24 & 0xff] ^ tables[3][word >> 32 & 0xff] ^
          tables[2][word >> 40 & 0xff] ^ tables[1][word >> 48 & 0xff] ^ tables[0][word >> 56];
  }
  return ~crc;
}
