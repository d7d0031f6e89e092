// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace pcie {

/// The time a byte of a TLP takes on a link, as an exact fraction.
///
/// From the raw rate go the encoding (8b/10b, 128b/130b), an ACK and an UpdateFC of 8 bytes each
/// per ACK latency limit (PCIe 5.0, 3.6.3.1 and 2.6.1.2), and SKP ordered sets (4 in 1538 symbols,
/// 4.2.7): the rate usable for TLPs of Neugebauer et al., SIGCOMM 2018.
struct LineRate {
  std::uint64_t picoseconds;  ///< for so many
  std::uint64_t bytes;        ///< bytes; reduced to lowest terms

  /// `generation` 1 to 5; `lanes` 1, 2, 4, 8 or 16; `max_payload` 128 to 4096, a power of two.
  /// Throws ConfigurationError.
  static LineRate of(unsigned generation, unsigned lanes, unsigned max_payload);

  double gigabits_per_second() const { return 8000.0 * bytes / picoseconds; }
};

/// One direction of a link's lanes: what is sent follows what was sent before without a gap, and
/// without losing the fractions of a picosecond.
class Wire {
 public:
  explicit Wire(LineRate rate) : rate_(rate) {}

  struct Occupied {
    vp::Picoseconds from;  ///< first byte leaves, rounded up
    vp::Picoseconds to;    ///< last byte has left, rounded up
  };
  Occupied occupy(vp::Picoseconds ready, unsigned bytes) {
    if (ready > free_) {
      free_ = ready;
      fraction_ = 0;
    }
    Occupied occupied{free_ + (fraction_ != 0), 0};
    fraction_ += bytes * rate_.picoseconds;
    free_ += fraction_ / rate_.bytes;
    fraction_ %= rate_.bytes;
    occupied.to = free_ + (fraction_ != 0);
    return occupied;
  }

 private:
  LineRate rate_;
  vp::Picoseconds free_ = 0;    // whole picoseconds
  std::uint64_t fraction_ = 0;  // and so many 1/rate_.bytes of one
};

}  // namespace pcie
