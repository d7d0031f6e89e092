// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace axi {

/// The values of AWBURST and ARBURST (IHI 0022H, A3.4.1).
enum BurstType : std::uint8_t { fixed = 0, incrementing = 1, wrapping = 2 };

/// A burst as its address says (IHI 0022H, A3.4.1). All that its beats transfer lies within
/// [base(), base() + length()).
struct Burst {
  static constexpr unsigned most_bytes = 4096;  ///< A3.4.1: no burst crosses a multiple of this

  std::uint64_t address = 0;
  std::uint64_t id = 0;
  unsigned beats = 1;  ///< 1 to 256
  unsigned size = 1;   ///< most bytes of a beat, a power of two
  unsigned type = incrementing;

  /// Why the burst cannot be executed with data pins of `bus` bytes, or nullptr. `rule` becomes
  /// whether the block breaks a rule of AXI by it.
  const char* problem(unsigned bus, bool& rule) const;

  // Only for a burst without a problem.

  /// The address of a beat's first byte. Its last byte is the one before the next multiple of
  /// `size`.
  std::uint64_t begin(unsigned beat) const {
    const std::uint64_t aligned = address & ~std::uint64_t{size - 1};
    if (beat == 0) return address;
    if (type != wrapping) return aligned + std::uint64_t{beat} * size;
    const std::uint64_t container = std::uint64_t{beats} * size;
    return base() + (address - base() + std::uint64_t{beat} * size) % container;
  }
  std::uint64_t end(unsigned beat) const { return (begin(beat) & ~std::uint64_t{size - 1}) + size; }
  std::uint64_t base() const {
    if (type != wrapping) return address;
    return address & ~(std::uint64_t{beats} * size - 1);
  }
  unsigned length() const {
    if (type == wrapping) return beats * size;
    return static_cast<unsigned>(beats * size - (address & (size - 1)));
  }
};

}  // namespace axi
