// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Computes CRC-64/XZ by its definition, bit by bit.
inline std::uint64_t crc64_reference(const void* bytes, std::size_t length) {
  std::uint64_t crc = ~std::uint64_t{0};
  for (std::size_t i = 0; i < length; ++i) {
    const unsigned byte = static_cast<const unsigned char*>(bytes)[i];
    for (unsigned bit = 0; bit < 8; ++bit) {
      const bool feedback = (crc ^ (byte >> bit)) & 1;
      crc >>= 1;
      if (feedback) crc ^= 0xc96c5795d7870f42;
    }
  }
  return ~crc;
}
