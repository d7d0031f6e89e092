// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace pcie {

/// The time a byte of a TLP takes on a link, as an exact fraction.
///
/// Generation 1 to 5: from the raw rate go the encoding (8b/10b, 128b/130b), an ACK and an UpdateFC
/// of 8 bytes each per ACK latency limit (PCIe 5.0, 3.6.3.1 and 2.6.1.2), and SKP ordered sets (4
/// in 1538 symbols, 4.2.7): the rate usable for TLPs of Neugebauer et al., SIGCOMM 2018.
///
/// Generation 6: flits of 256 bytes, of which 236 are for TLPs (PCIe 6.0, 4.2.3.4), without an
/// encoding; acknowledgements and credits have their place in each flit. SKP ordered sets of 40
/// symbols come after 748 flits of a x16 link (4.2.8). A link in flit mode keeps it at lower
/// speeds, with their encodings.
struct LineRate {
  std::uint64_t picoseconds;  ///< for so many
  std::uint64_t bytes;        ///< bytes; reduced to lowest terms
  unsigned flit = 0;          ///< bytes for TLPs in a flit, which arrives as a whole; 0: none

  /// `generation` 1 to 6; `lanes` 1, 2, 4, 8 or 16; `max_payload` 128 to 4096, a power of two.
  /// Throws ConfigurationError.
  static LineRate of(unsigned generation, unsigned lanes, unsigned max_payload) {
    return of(generation, lanes, max_payload, generation == 6);
  }
  /// `flits`: in flit mode, as generation 6 always is.
  static LineRate of(unsigned generation, unsigned lanes, unsigned max_payload, bool flits);

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
    occupied.to = rate_.flit == 0 ? free_ + (fraction_ != 0) : end_of_flit();
    return occupied;
  }

 private:
  // Flits follow each other without a gap from time 0 on, whether they are full or not.
  vp::Picoseconds end_of_flit() const {
    __extension__ using Wide = unsigned __int128;
    const Wide flit = Wide{rate_.flit} * rate_.picoseconds;  // in 1/rate_.bytes of a picosecond
    const Wide end = (Wide(free_) * rate_.bytes + fraction_ + flit - 1) / flit * flit;
    return static_cast<vp::Picoseconds>((end + rate_.bytes - 1) / rate_.bytes);
  }

  LineRate rate_;
  vp::Picoseconds free_ = 0;    // whole picoseconds
  std::uint64_t fraction_ = 0;  // and so many 1/rate_.bytes of one
};

}  // namespace pcie
