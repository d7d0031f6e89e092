/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
/*
 * The check of the registers `confirm` and `reverse`, whose writes have no other protection. It includes
 * no header, so that the kernel, programs and tests can all use it.
 */
#ifndef OAE_CHECK_H
#define OAE_CHECK_H

#define OAE_CHECK_SHIFT 16

/* Continues a CRC-16 with the polynomial 0x1021 by a byte. */
static inline unsigned int oae_check_byte(unsigned int crc, unsigned long long byte)
{
	unsigned int x = (crc >> 8 ^ (unsigned int)byte) & 0xff;

	x ^= x >> 4;
	return (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xffff;
}

/*
 * Returns the word that is written to the register at this offset of a port's page: @word, whose bits 31
 * to 16 are 0, with its check there. The check begins with the offset, so that no register takes a word
 * for the other one.
 */
static inline unsigned long long oae_checked(unsigned int offset, unsigned long long word)
{
	unsigned int crc = oae_check_byte(0xffff, offset & 0xff);

	crc = oae_check_byte(crc, word);
	crc = oae_check_byte(crc, word >> 8);
	crc = oae_check_byte(crc, word >> 32);
	crc = oae_check_byte(crc, word >> 40);
	crc = oae_check_byte(crc, word >> 48);
	crc = oae_check_byte(crc, word >> 56);
	return word | (unsigned long long)crc << OAE_CHECK_SHIFT;
}

#endif
