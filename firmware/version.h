/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the firmware. The build defines the numbers. */
#ifndef FIRMWARE_VERSION_H
#define FIRMWARE_VERSION_H

#define FIRMWARE_VERSION_NUMBER                                                      \
  ((uint64_t)FIRMWARE_VERSION_MAJOR << 32 | (uint64_t)FIRMWARE_VERSION_MINOR << 16 | \
   FIRMWARE_VERSION_PATCH)

#endif
