// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace pcie {

/// The bit errors of one direction of a link. It draws which packets, flits and idle symbols they
/// hit, and how the other end notices.
///
/// All bits are wrong with the same probability, each for itself. The draws skip from one error to
/// the next, so that what is free of errors costs none. They depend on the seed and on what was
/// sent, and on nothing else.
///
/// - With 8b/10b, a byte has 10 bits, and each wrong one leads to a symbol that does not exist or
///   has the wrong disparity, at the latest in the END symbol of the packet (PCIe 5.0, 4.2.1.3).
///   That is a Receiver Error, and the data link layer reports no error of its own (3.6.3.1).
/// - With 128b/130b, a wrong bit in a sync header, in an idle symbol, in an SDP token, or in the 20
///   bits of an STP token that hold its type, the length, and the CRC and the parity of the length,
///   is a framing error, which sends the link to Recovery (4.2.2.3.3). All other bits of packets,
///   also the 12 bits of the sequence number, are covered by the LCRC or the CRC of the DLLP.
/// - Flits have three interleaved groups of 86, 85 and 85 bytes, in each of which the error
///   correction repairs one byte (PCIe 6.0, 4.2.3.4.2.4). The CRC finds every flit that has more
///   wrong bytes in a group. The rate is the First Bit Error Rate: the bits of a burst that follow
///   the first one are not drawn, since bytes that follow each other in a lane belong to different
///   groups.
class BitErrors {
 public:
  struct Mode {
    double rate = 0;          ///< of each bit
    unsigned generation = 5;  ///< generation of the rate, 1 to 6
    unsigned lanes = 16;
    bool flits = false;
  };
  enum class Fate : std::uint8_t {
    good,
    wrong,    ///< the LCRC of the packet, the CRC of the DLLP, or the flit is wrong
    symbol,   ///< a symbol does not exist, or has the wrong disparity
    framing,  ///< a framing error
  };

  BitErrors(const Mode& mode, std::uint64_t seed);
  /// Goes on in another mode.
  void change(const Mode& mode);

  /// The fates of the next TLP and of the next DLLP, outside of flits.
  Fate tlp(unsigned bytes);
  Fate dllp();

  /// How many flits arrive without a fatal error before the next one that has one.
  std::uint64_t flits_without_fatal_error();
  /// Whether that flit is wrong or has a framing error.
  Fate fatal_error();
  /// How many flits arrive without any wrong byte before the next one that is corrected.
  std::uint64_t flits_without_correction();

  /// The time for which the lanes are idle until the next error, outside of flits.
  vp::Picoseconds idle_time();

 private:
  static constexpr std::uint64_t without_end = std::uint64_t{1} << 62;

  // Bits of one kind that follow each other, and the number of good ones before the next wrong one.
  struct Bits {
    std::uint64_t random = 0;
    std::uint64_t good = 0;
  };

  std::uint64_t skip(std::uint64_t& random, double probability) const;
  template <typename Classify>
  Fate draw(Bits& stream, unsigned bits, Classify classify);
  unsigned sync_header_bits(unsigned& rest, unsigned bytes) const;

  Mode mode_;
  Bits tlps_;
  Bits dllps_;
  std::uint64_t fatal_random_, fate_random_, correction_random_, idle_random_;
  unsigned tlp_rest_ = 0, dllp_rest_ = 0;  // bytes for which no sync header bit was sent yet
  double framing_ = 0;                     // probability that a flit has a framing error
  double uncorrected_ = 0;                 // probability that a flit cannot be corrected
  double corrected_ = 0;                   // probability that a flit without those is corrected
};

}  // namespace pcie
