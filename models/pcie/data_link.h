// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/line_rate.h"

namespace pcie {

/// How often bits are wrong, and what repairing it takes.
struct DataLinkConfig {
  unsigned generation = 5;
  double bit_error_rate = 0;         ///< of each lane, after equalisation; 0 to 1e-4
  std::uint64_t seed = 1;            ///< of the errors
  vp::Picoseconds round_trip = 0;    ///< of a DLLP after a TLP: both latencies and its 8 bytes
  vp::Picoseconds replay_timer = 0;  ///< limit without an acknowledgement
  vp::Picoseconds retraining = 0;    ///< Recovery and back to L0
};

/// One direction's transmitter of the data link layer (PCIe 5.0, 3.6.2; in flits 6.0, 4.2.3.4.2):
/// every packet is on the wire until it has arrived once without an error, and those behind it wait
/// for it, so that all arrive once and in order.
///
/// A packet with a wrong LCRC is refused with a NAK, which comes back after a round trip; replay of
/// that packet and of all sent since begins there. What was sent in between has been in vain, so it
/// needs no account but that the wire is occupied anew. A NAK that is wrong itself is made up for
/// by the replay timer. The fourth replay without progress retrains the link (REPLAY_NUM, 3.6.2.1).
/// A flit corrects one wrong symbol, so it is refused only if there are more.
class DataLink {
 public:
  DataLink(LineRate rate, const DataLinkConfig& config);

  /// As Wire::occupy(), of the transmission that arrives.
  Wire::Occupied transmit(vp::Picoseconds ready, unsigned bytes) {
    const Wire::Occupied occupied = wire_.occupy(ready, bytes);
    return config_.bit_error_rate == 0 ? occupied : repair(occupied, bytes);
  }

  /// The link went down: what was on the wire is lost.
  void reset() { wire_ = Wire(rate_); }

  struct Counts {
    std::uint64_t bad = 0;  ///< packets that arrived with an error
    std::uint64_t replays = 0;
    std::uint64_t timeouts = 0;  ///< of them by the replay timer
    std::uint64_t retrainings = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  Wire::Occupied repair(Wire::Occupied occupied, unsigned bytes);
  /// Whether so many bytes, at once on the wire, are lost.
  bool lost(unsigned bytes);

  const DataLinkConfig config_;
  const LineRate rate_;
  Wire wire_;
  std::uint64_t random_;
  Counts counts_;
};

}  // namespace pcie
