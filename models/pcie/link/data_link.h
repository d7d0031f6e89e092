// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/pcie/link/line_rate.h"
#include "models/pcie/protocol/error.h"

namespace pcie {

/// How often bits are wrong, and how long each repair takes.
struct DataLinkConfig {
  unsigned generation = 5;         ///< generation of the rate, 1 to 6
  double bit_error_rate = 0;       ///< rate in each lane after equalisation, 0 to 1e-4
  std::uint64_t seed = 1;          ///< seed of the error sequence
  vp::Picoseconds arrival = 0;     ///< time from the last byte on the wire to the receiving port
  vp::Picoseconds round_trip = 0;  ///< time until the DLLP for a TLP is back: latencies and 8 bytes
  vp::Picoseconds replay_timer = 0;  ///< limit without an acknowledgement
  vp::Picoseconds retraining = 0;    ///< time that Recovery takes until the link is in L0 again
};

/// The data link layer's transmitter of one direction (PCIe 5.0, 3.6.2; for flits 6.0, 4.2.3.4.2).
///
/// A packet stays on the wire until it has arrived once without an error. The packets behind it
/// wait, so that every packet arrives exactly once and in order.
///
/// The receiver refuses a packet with a wrong LCRC and sends a NAK, which takes a round trip. The
/// transmitter then replays that packet and all packets that it has sent since. The packets sent in
/// between are lost, so the model only occupies the wire anew. If the NAK itself arrives wrong, the
/// replay timer starts the replay. If an ACK arrives wrong, the ACK of the next packet replaces it,
/// or else the replay timer expires. The fourth replay without progress retrains the link
/// (REPLAY_NUM, 3.6.2.1).
///
/// With 8b/10b, a wrong bit also makes a wrong symbol. With 128b/130b, the wrong bit may lie in the
/// framing token, and then the receiver sends the link to Recovery (4.2.2.3.3). The error
/// correction of a flit repairs one wrong symbol, so the receiver refuses a flit with more of them.
class DataLink {
 public:
  DataLink(LineRate rate, const DataLinkConfig& config);

  /// Whether the bit error rate is zero.
  bool perfect() const { return config_.bit_error_rate == 0; }
  /// Occupies the wire like Wire::occupy() and returns the transmission that arrives.
  Wire::Occupied transmit(vp::Picoseconds ready, unsigned bytes) {
    if (perfect()) return wire_.occupy(ready, bytes);
    return transmit_with_errors(ready, bytes);
  }

  /// An error as one end of the link observes it. The model knows of it when the packet is sent;
  /// the end observes it at `when`.
  enum class End : std::uint8_t { transmitter, receiver };
  struct Incident {
    vp::Picoseconds when;
    Error error;
    bool retrains = false;  ///< whether it sends the link to Recovery
  };
  /// The incidents that the end has not observed yet, in the order of their times.
  const std::vector<Incident>& incidents(End end) const { return incidents_[index(end)]; }
  /// Removes the first incident of an end, counts it and returns it. There must be one.
  Incident observe(End end);

  /// Continues at `when` after Recovery or after the link was down, perhaps at another rate. What
  /// was on the wire is lost. Incidents later than `transmitter_saw` or `receiver_saw` of their end
  /// do not occur.
  void retrain(LineRate rate, const DataLinkConfig& config, vp::Picoseconds when,
               vp::Picoseconds transmitter_saw, vp::Picoseconds receiver_saw);

  /// All counts grow when the end observes the incident, except `replays`, which grows when the
  /// packet is sent.
  struct Counts {
    std::uint64_t bad_tlps = 0;         ///< packets with a wrong LCRC
    std::uint64_t receiver_errors = 0;  ///< packets with wrong symbols, wrong framing or a bad flit
    std::uint64_t bad_dllps = 0;        ///< acknowledgements that arrived with an error
    std::uint64_t replays = 0;
    std::uint64_t timeouts = 0;     ///< expiries of the replay timer
    std::uint64_t rollovers = 0;    ///< fourth replays without progress
    std::uint64_t retrainings = 0;  ///< Recoveries after rollovers and framing errors
  };
  const Counts& counts() const { return counts_; }

 private:
  // A packet whose ACK was lost. The replay timer may still expire for it.
  struct Unacknowledged {
    vp::Picoseconds expires = vp::never;
    unsigned bytes = 0;
  };
  static constexpr unsigned no_error = ~0u;

  static unsigned index(End end) { return static_cast<unsigned>(end); }
  Wire::Occupied transmit_with_errors(vp::Picoseconds ready, unsigned bytes);
  // Draws the first bit among `bytes` for which the receiver refuses the packet, or no_error.
  unsigned first_error(unsigned bytes);
  void refuse(vp::Picoseconds sent, bool framing);
  void record(End end, const Incident& incident);
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
