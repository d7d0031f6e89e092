/* SPDX-License-Identifier: Apache-2.0 */
/* Access to device registers. Each call is one bus access; those of one device stay in program
 * order.
 */
#ifndef FIRMWARE_BASE_MMIO_H
#define FIRMWARE_BASE_MMIO_H

#include <stdint.h>

#ifdef FIRMWARE_HOSTED
/* In a test on the host, a mock takes the place of the devices. */
uint64_t mmio_read64(uintptr_t address);
void mmio_write64(uintptr_t address, uint64_t value);
#else
static inline uint32_t mmio_read32(uintptr_t address) {
  return *(const volatile uint32_t*)address;
}

static inline void mmio_write32(uintptr_t address, uint32_t value) {
  *(volatile uint32_t*)address = value;
}

static inline uint64_t mmio_read64(uintptr_t address) {
  return *(const volatile uint64_t*)address;
}

static inline void mmio_write64(uintptr_t address, uint64_t value) {
  *(volatile uint64_t*)address = value;
}
#endif

#endif
