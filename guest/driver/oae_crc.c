// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0
/*
 * CRC-64/XZ: reflected, polynomial 0x42f0e1eba9ea3693 (ECMA-182), initial value and final XOR all
 * ones. The kernel's crc64 library has this polynomial only in its unreflected form. A slice is
 * taken in one step, by eight tables.
 */
#include "oae_crc.h"
#include "oae_registers.h"

#define OAE_CRC_REFLECTED_POLYNOMIAL 0xc96c5795d7870f42ULL

static __u64 oae_crc_table[8][256];

void oae_crc_init(void)
{
	unsigned int byte, i;

	for (byte = 0; byte < 256; byte++) {
		__u64 crc = byte;

		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? OAE_CRC_REFLECTED_POLYNOMIAL : 0);
		oae_crc_table[0][byte] = crc;
	}
	/* Table i is for a byte that i more bytes follow. */
	for (i = 1; i < 8; i++) {
		for (byte = 0; byte < 256; byte++) {
			__u64 crc = oae_crc_table[i - 1][byte];

			oae_crc_table[i][byte] = crc >> 8 ^ oae_crc_table[0][crc & 0xff];
		}
	}
}

__u64 oae_crc(const __u64 *slot)
{
	__u64 crc = ~0ULL;
	unsigned int slice;

	for (slice = 0; slice < OAE_SLOT_CRC / 8; slice++) {
		crc ^= slot[slice];
		crc = oae_crc_table[7][crc & 0xff] ^ oae_crc_table[6][crc >> 8 & 0xff] ^
		      oae_crc_table[5][crc >> 16 & 0xff] ^ oae_crc_table[4][crc >> 24 & 0xff] ^
		      oae_crc_table[3][crc >> 32 & 0xff] ^ oae_crc_table[2][crc >> 40 & 0xff] ^
		      oae_crc_table[1][crc >> 48 & 0xff] ^ oae_crc_table[0][crc >> 56];
	}
	return ~crc;
}
