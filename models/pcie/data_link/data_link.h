// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "models/pcie/data_link/bit_errors.h"
#include "models/pcie/data_link/line_rate.h"
#include "models/pcie/data_link/retry_buffer.h"
#include "models/pcie/protocol/error.h"

namespace pcie {

/// How often bits are wrong, and how long each repair takes.
struct DataLinkConfig {
  unsigned generation = 5;      ///< generation of the rate, 1 to 6
  unsigned lanes = 16;          ///< width
  double bit_error_rate = 0;    ///< rate in each lane after equalisation, 0 to 1e-4
  std::uint64_t seed = 1;       ///< seed of the error sequence
  bool idle_errors = false;     ///< whether errors of an idle wire are drawn, see next_idle_error()
  vp::Picoseconds arrival = 0;  ///< time from the last byte on the wire to the receiving port
  /// Time from a bit error of an idle wire until the receiving port notices.
  vp::Picoseconds idle_arrival = 0;
  vp::Picoseconds round_trip = 0;  ///< time from the last byte of a TLP until its NAK is back
  vp::Picoseconds ack_latency =
      0;  ///< time that an ACK waits for more TLPs, see ack_latency_limit()
  vp::Picoseconds replay_timer = 0;                ///< limit without an acknowledgement
  std::uint64_t retry_buffer = ~std::uint64_t{0};  ///< size of the retry buffer in bytes
  vp::Picoseconds retraining = 0;  ///< time that Recovery takes until the link is in L0 again
};

/// The data link layer's transmitter of one direction (PCIe 5.0, 3.6.2; for flits 6.0, 4.2.3.4.2).
///
/// A packet enters the wire when the retry buffer has room for it, and occupies that room until its
/// ACK is back.
///
/// A packet stays on the wire until it has arrived once without an error. The packets behind it
/// wait, so that every packet arrives exactly once and in order. BitErrors decides what is wrong.
///
/// The receiver refuses a wrong packet and sends a NAK at once, which takes a round trip. The
/// transmitter then replays that packet and all packets that it has sent since. The packets sent in
/// between are lost, so the model only occupies the wire anew. If the NAK itself arrives wrong, the
/// replay timer starts the replay. After a framing error, the replay begins when Recovery ends.
///
/// An ACK is for all packets that have arrived in the time that it waits. If it arrives wrong, the
/// next ACK replaces it, or else the replay timer expires. The fourth replay without progress, at
/// 64 GT/s the eighth, retrains the link (REPLAY_NUM, 3.6.2.1).
///
/// Packets share flits, and what happens to a flit happens to all of them. A flit that cannot be
/// corrected is refused like a packet. A refusal is repeated in every flit, so that it is not lost.
/// A wrong flit without packets is not sent again.
class DataLink {
 public:
  DataLink(LineRate rate, const DataLinkConfig& config);

  /// Whether the bit error rate is zero.
  bool perfect() const { return config_.bit_error_rate == 0; }
  /// The width since the last training or Recovery.
  unsigned lanes() const { return config_.lanes; }
  /// Occupies the wire like Wire::occupy() and returns the transmission that arrives. It begins
  /// when the retry buffer has room for the packet, and after the DLLPs that are due before.
  Wire::Occupied transmit(vp::Picoseconds ready, unsigned bytes) {
    ready = wait_for_room(ready, bytes);
    if (!dllps_.empty()) send_dllps(ready);
    if (!perfect()) {
      return flits() ? transmit_in_flits(ready, bytes) : transmit_packet(ready, bytes);
    }
    const Wire::Occupied occupied = wire_.occupy(ready, bytes);
    const vp::Picoseconds back = occupied.to + config_.round_trip;
    if (back > acknowledged_) acknowledged_ = back + config_.ack_latency;
    retry_buffer_.keep(bytes, acknowledged_);
    return occupied;
  }

  /// A DLLP takes its place on the wire at `when`, or after the packet that is on it then. In flits
  /// it has a place of its own. No packet that is yet to be sent is ready before `now`.
  void schedule_dllp(vp::Picoseconds when, vp::Picoseconds now);
  /// The DLLP that was to leave at `when` does not leave.
  void cancel_dllp(vp::Picoseconds when);
  /// Puts the DLLPs on the wire that leave before a packet which is ready then.
  void send_dllps(vp::Picoseconds ready) {
    while (!dllps_.empty() && dllps_.front() <= std::max(ready, wire_.free())) send_first_dllp();
  }
  /// Sets the limit for the packets that follow.
  void set_replay_timer(vp::Picoseconds limit) { config_.replay_timer = limit; }

  /// An error as one end of the link observes it. The model knows of it when the packet is sent;
  /// the end observes it at `when`.
  enum class End : std::uint8_t { transmitter, receiver };
  /// Whether an incident sends the link to Recovery, and which packets have to be sent again then.
  enum class Retrains : std::uint8_t {
    no,
    opposite,  ///< those of the opposite direction; this one has the times of its replay already
    both,
  };
  struct Incident {
    vp::Picoseconds when;
    Error error;
    Retrains retrains = Retrains::no;
  };
  /// The incidents that the end has not observed yet, in the order of their times.
  const std::vector<Incident>& incidents(End end) const { return incidents_[index(end)]; }
  /// Removes the first incident of an end, counts it and returns it. There must be one.
  Incident observe(End end);

  /// When the next bit error of the idle wire happens if no packet is sent before, or `never`.
  vp::Picoseconds next_idle_error() const;
  /// That error has happened: adds its incident.
  void meet_idle_error();
  /// The lanes were asleep until that time, when no idle symbols were sent.
  void sleep_until(vp::Picoseconds when);

  /// Continues at `when` after Recovery or after the link was down, perhaps at another rate. What
  /// was on the wire is lost. Incidents later than `transmitter_saw` or `receiver_saw` of their end
  /// do not occur.
  void retrain(LineRate rate, const DataLinkConfig& config, vp::Picoseconds when,
               vp::Picoseconds transmitter_saw, vp::Picoseconds receiver_saw);

  /// All counts grow when the end observes the incident, except `replays` and `corrected_flits`,
  /// which grow when the packet is sent.
  struct Counts {
    std::uint64_t bad_tlps = 0;         ///< packets with a wrong LCRC
    std::uint64_t receiver_errors = 0;  ///< wrong symbols, wrong framing and uncorrectable flits
    std::uint64_t bad_dllps = 0;        ///< acknowledgements that arrived with a wrong CRC
    std::uint64_t dllp_receiver_errors = 0;  ///< those with wrong symbols or wrong framing
    std::uint64_t corrected_flits = 0;       ///< flits with packets that were corrected
    std::uint64_t replays = 0;
    std::uint64_t timeouts = 0;     ///< expiries of the replay timer
    std::uint64_t rollovers = 0;    ///< fourth or eighth replays without progress
    std::uint64_t dllps = 0;        ///< ACKs and UpdateFCs that this direction has carried
    std::uint64_t retrainings = 0;  ///< Recoveries after rollovers and framing errors
  };
  const Counts& counts() const { return counts_; }

 private:
  // Packets whose ACK was lost. The replay timer may still expire for them.
  struct Unacknowledged {
    vp::Picoseconds expires = vp::never;
    unsigned bytes = 0;
  };

  static unsigned index(End end) { return static_cast<unsigned>(end); }
  BitErrors::Mode mode() const;
  void begin();
  Wire::Occupied transmit_packet(vp::Picoseconds ready, unsigned bytes);
  Wire::Occupied transmit_in_flits(vp::Picoseconds ready, unsigned bytes);
  vp::Picoseconds refuse(vp::Picoseconds sent, BitErrors::Fate fate);
  vp::Picoseconds replay(vp::Picoseconds when, unsigned& replay_number);
  void pass_idle_time(vp::Picoseconds until);
  void next_fatal_flit(std::uint64_t from);
  void count_corrected_flits(std::uint64_t first, std::uint64_t last);
  void record(End end, const Incident& incident);
  bool flits() const { return rate_.flit != 0; }
  void send_first_dllp();
  vp::Picoseconds wait_for_room(vp::Picoseconds ready, unsigned bytes) {
    const vp::Picoseconds room = retry_buffer_.room(ready, bytes);
    return room != vp::never ? room : wait_for_acknowledgement(ready, bytes);
  }
  vp::Picoseconds wait_for_acknowledgement(vp::Picoseconds ready, unsigned bytes);
  void expire(vp::Picoseconds limit);
  void acknowledge(vp::Picoseconds sent, unsigned bytes);

  DataLinkConfig config_;
  LineRate rate_;
  Wire wire_;
  BitErrors errors_;
  RetryBuffer retry_buffer_;
  std::vector<vp::Picoseconds> dllps_;  // when DLLPs leave that are not on the wire yet, in order
  vp::Picoseconds acknowledged_ = 0;    // when the last ACK that is known of comes back
  bool ack_lost_ = false;               // whether that ACK does not arrive
  Unacknowledged unacknowledged_;
  vp::Picoseconds idle_left_ = 0;  // how long the wire has to be idle until it has an error
  bool framing_lost_ = false;      // after a framing error of the idle wire, until Recovery
  std::uint64_t fatal_flit_ = 0;   // the next flit with a fatal error
  BitErrors::Fate fatal_ = BitErrors::Fate::wrong;
  std::uint64_t corrected_flit_ = 0;  // the next flit that is corrected
  std::array<std::vector<Incident>, 2> incidents_;
  Counts counts_;
};

}  // namespace pcie
