// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace host {

/// The size of a cache line, in bytes.
inline constexpr unsigned line_size = 64;

using LineData = std::array<std::uint8_t, line_size>;

constexpr std::uint64_t line_of(std::uint64_t address) {
  return address & ~std::uint64_t{line_size - 1};
}
constexpr unsigned offset_in_line(std::uint64_t address) {
  return static_cast<unsigned>(address & (line_size - 1));
}

/// Returns a bit for each of the `bytes` bytes (1 to 64) from `address` on, which lie in one line.
constexpr std::uint64_t byte_mask(std::uint64_t address, unsigned bytes) {
  return ~std::uint64_t{0} >> (line_size - bytes) << offset_in_line(address);
}

}  // namespace host
