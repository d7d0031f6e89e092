/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0 */
#ifndef OAE_CRC_H
#define OAE_CRC_H

#include <linux/types.h>

/* Makes the tables. Call it once before the first oae_crc(). */
void oae_crc_init(void);

/* Returns the CRC-64/XZ of slices 0 to 6 of a slot in host byte order. */
__u64 oae_crc(const __u64 *slot);

#endif
