// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/pcie/link/line_rate.h"
#include "models/pcie/protocol/error.h"

namespace pcie {

/// How often bits are wrong, and what repairing it takes.
struct DataLinkConfig {
  unsigned generation = 5;           ///< of the rate
  double bit_error_rate = 0;         ///< of each lane, after equalisation; 0 to 1e-4
  std::uint64_t seed = 1;            ///< of the errors
  vp::Picoseconds arrival = 0;       ///< from the last byte on the wire until the receiver has it
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
/// by the replay timer; an ACK by that of the next packet, or by the timer if none comes in time.
/// The fourth replay without progress retrains the link (REPLAY_NUM, 3.6.2.1).
///
/// With 8b/10b a wrong bit is a wrong symbol too. With 128b/130b it may lie in the framing token,
/// and the receiver sends the link to Recovery (4.2.2.3.3). A flit corrects one wrong symbol, so it
/// is refused only if there are more.
class DataLink {
 public:
  DataLink(LineRate rate, const DataLinkConfig& config);

  /// Whether no bit is ever wrong.
  bool perfect() const { return config_.bit_error_rate == 0; }
  /// As Wire::occupy(), of the transmission that arrives.
  Wire::Occupied transmit(vp::Picoseconds ready, unsigned bytes) {
    if (perfect()) return wire_.occupy(ready, bytes);
    return transmit_with_errors(ready, bytes);
  }

  /// What an end sees of errors. They are known when a packet is sent, and seen later.
  enum class End : std::uint8_t { transmitter, receiver };
  struct Incident {
    vp::Picoseconds when;
    Error error;
    bool retrains = false;  ///< it sends the link to Recovery
  };
  /// Those of an end that nobody has taken, by their times.
  const std::vector<Incident>& incidents(End end) const { return incidents_[index(end)]; }
  /// Takes the first one, which has been seen, and counts it.
  Incident take(End end);

  /// The link goes through Recovery, or down and up, and on from `when` at another rate perhaps.
  /// What was on the wire is lost; what the ends would have seen later than so does not happen.
  void retrain(LineRate rate, const DataLinkConfig& config, vp::Picoseconds when,
               vp::Picoseconds transmitter_saw, vp::Picoseconds receiver_saw);

  /// As seen, but for replays, which are known when a packet is sent.
  struct Counts {
    std::uint64_t bad_tlps = 0;         ///< packets with a wrong LCRC
    std::uint64_t receiver_errors = 0;  ///< and with wrong symbols, framing or flits
    std::uint64_t bad_dllps = 0;        ///< acknowledgements that arrived with an error
    std::uint64_t replays = 0;
    std::uint64_t timeouts = 0;     ///< of the replay timer
    std::uint64_t rollovers = 0;    ///< fourth replays in vain
    std::uint64_t retrainings = 0;  ///< because of those, and of framing
  };
  const Counts& counts() const { return counts_; }

 private:
  // A packet whose ACK is lost, while the replay timer may still find that out.
  struct Unacknowledged {
    vp::Picoseconds expires = vp::never;
    unsigned bytes = 0;
  };
  static constexpr unsigned no_error = ~0u;

  static unsigned index(End end) { return static_cast<unsigned>(end); }
  Wire::Occupied transmit_with_errors(vp::Picoseconds ready, unsigned bytes);
  // Of so many bytes, at once on the wire, the first bit for which they are refused.
  unsigned first_error(unsigned bytes);
  void refuse(vp::Picoseconds sent, bool framing);
  void see(End end, const Incident& incident);
  bool flits() const { return rate_.flit != 0; }
  void expire(vp::Picoseconds limit);
  void acknowledge(vp::Picoseconds sent, unsigned bytes);

  DataLinkConfig config_;
  LineRate rate_;
  Wire wire_;
  std::uint64_t random_;
  Unacknowledged unacknowledged_;
  std::array<std::vector<Incident>, 2> incidents_;
  Counts counts_;
};

}  // namespace pcie
