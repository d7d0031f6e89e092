// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace pcie {

/// Who pays for DLLPs, which share the wire with TLPs.
enum class DllpAccount : std::uint8_t {
  /// Each ACK and UpdateFC takes its 8 bytes of wire when traffic of the other direction causes it.
  traffic,
  /// One ACK and one UpdateFC take 16 bytes of each ACK latency limit, which is counted in symbol
  /// times whatever the lanes are. This is the account of Neugebauer et al., SIGCOMM 2018, with
  /// which published figures agree. It charges x16 fifteen times of what is due.
  published,
};

/// The time that a byte of a packet takes on a link, as an exact fraction.
///
/// The rate is the raw rate less the encoding and the SKP ordered sets. Generations 1 and 2 encode
/// a byte in 10 bits, and 4 of 1538 symbols are an SKP ordered set (PCIe 5.0, 4.2.7.3). Generations
/// 3 to 5 encode 128 bits in 130, and one of 375 blocks is an SKP ordered set (4.2.7.4).
///
/// Generation 6 sends flits of 256 bytes without an encoding; 236 of these bytes carry TLPs (PCIe
/// 6.0, 4.2.3.4). Each flit has room for acknowledgements and credits. An SKP ordered set of 40
/// symbols follows every 748 flits of a x16 link (4.2.8). A link in flit mode stays in it at lower
/// speeds, and then uses the encodings of those speeds.
struct LineRate {
  std::uint64_t picoseconds;  ///< time that `bytes` take
  std::uint64_t bytes;        ///< the fraction is reduced to its lowest terms
  unsigned flit = 0;          ///< TLP bytes in a flit, which arrives as a whole; 0 without flits

  /// `generation` is 1 to 6 and `lanes` is 1, 2, 4, 8 or 16; throws ConfigurationError for any
  /// other value. Generation 6 is in flit mode.
  static LineRate of(unsigned generation, unsigned lanes);
  /// The rate in flit mode.
  static LineRate in_flits(unsigned generation, unsigned lanes);
  /// The rate for TLPs in DllpAccount::published, not in flit mode. `generation` is 1 to 5, and
  /// `max_payload` is a power of two from 128 to 4096 bytes.
  static LineRate published(unsigned generation, unsigned lanes, unsigned max_payload);

  double gigabits_per_second() const { return 8000.0 * bytes / picoseconds; }
};

/// One direction of a link's lanes. Each packet follows the one before without a gap, and no
/// fraction of a picosecond is lost.
class Wire {
 public:
  explicit Wire(LineRate rate) : rate_(rate) {}

  struct Occupied {
    vp::Picoseconds from;  ///< time at which the first byte leaves, rounded up
    vp::Picoseconds to;    ///< time at which the last byte has left, rounded up
  };
  /// Puts `bytes` on the wire at `ready` or as soon as the wire is free.
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

  /// The time from which the wire is free, rounded up.
  vp::Picoseconds free() const { return free_ + (fraction_ != 0); }
  /// The number of the flit that is on the wire at that time. Flits follow each other without a gap
  /// from time 0 on, whether they carry TLPs or not.
  std::uint64_t flit_at(vp::Picoseconds when) const {
    return static_cast<std::uint64_t>(Wide(when) * rate_.bytes / flit_time());
  }
  /// The time at which the last byte of that flit has left, rounded up.
  vp::Picoseconds end_of_flit(std::uint64_t number) const { return end_of_flits(Wide{number} + 1); }

 private:
  __extension__ using Wide = unsigned __int128;

  // In units of 1/rate_.bytes of a picosecond.
  Wide flit_time() const { return Wide{rate_.flit} * rate_.picoseconds; }
  vp::Picoseconds end_of_flits(Wide count) const {
    return static_cast<vp::Picoseconds>((count * flit_time() + rate_.bytes - 1) / rate_.bytes);
  }
  vp::Picoseconds end_of_flit() const {
    const Wide end = Wide(free_) * rate_.bytes + fraction_;
    return end_of_flits((end + flit_time() - 1) / flit_time());
  }

  LineRate rate_;
  vp::Picoseconds free_ = 0;    // time from which the wire is free, in whole picoseconds
  std::uint64_t fraction_ = 0;  // the rest of that time, in units of 1/rate_.bytes picoseconds
};

}  // namespace pcie
