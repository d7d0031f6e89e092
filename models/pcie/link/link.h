// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/pcie/link/data_link.h"
#include "models/pcie/link/port.h"
#include "models/pcie/protocol/error.h"
#include "models/pcie/protocol/flow_control.h"
#include "vp/ring.h"
#include "vp/statistics/statistics.h"
#include "vp/time/domain.h"
#include "vp/trace/trace.h"

namespace pcie {

/// A direction of the hierarchy; down leads away from the root complex.
enum class Direction : std::uint8_t { down, up };

struct LinkConfig {
  unsigned generation = 5;           ///< highest generation of the channel, 1 to 6
  unsigned lanes = 16;               ///< wired lanes
  vp::Picoseconds latency_down = 0;  ///< latency of PHY and wire
  vp::Picoseconds latency_up = 0;    ///< latency of PHY and wire
  unsigned max_payload = 256;        ///< payload that the DLLP overhead assumes, see LineRate
  /// Time from the end of a hot reset until the link is up. The link takes at least the latencies
  /// of both directions.
  vp::Picoseconds training = 0;
  double bit_error_rate = 0;                 ///< rate in each lane, 0 to 1e-4
  std::uint64_t seed = 1;                    ///< seed of the error sequence
  vp::Picoseconds retraining = 20 * vp::us;  ///< duration of Recovery, also if the speed changes
  /// The idle time after which a direction enters L0s, and after which the link enters L1.
  vp::Picoseconds l0s_after = 1 * vp::us;
  vp::Picoseconds l1_after = 10 * vp::us;
};

/// An error that is injected, so that a test or a user can watch how software handles it.
struct Fault {
  Error error = Error::receiver_error;
  /// The type of the TLP that the error affects when it arrives. Without a type, the port reports
  /// the error of a packet that does not exist.
  std::optional<TlpType> type;
  /// Affects the n-th TLP of that type that arrives from now on, counted from 1.
  unsigned number = 1;
};

/// Whether the port that `direction` leads to can detect that fault.
bool is_possible(Direction direction, const Fault& fault);

/// A link between two ports. It is also the lookahead between their domains.
///
/// The TLPs of a direction are serialised one after the other and arrive in order. All TLPs in
/// flight share one appointment in the receiving domain, for the first to arrive; an idle link has
/// no appointment. The cost of bit errors is known when a TLP is sent (see DataLink), and the ends
/// report the errors when they observe them. In a burst of writes to memory that no one can read
/// before the last write has arrived, all writes end together with the first. That saves their
/// appointments and changes no other result.
///
/// A TLP waits while its receiver has no credits for it. The ordering table decides which later
/// TLPs may pass it. The same rule holds in the receive buffer of a port that is not ready.
/// Credits return to the sender in an UpdateFC, which takes as long as a packet.
///
///     departure                    arrival            received
///        |<- wire bytes at rate ->|                      |
///     ---+------------------------+---- latency ----+----+--->
///   sender's port latency before                     receiver's port latency
///
/// In Recovery (4.2.6.4), the link stays up. A TLP that left before its sender knew of Recovery
/// arrives if it gets there before the receiver knows. All other TLPs are sent again, at the speed
/// and width that the link has after Recovery. The speed is the lowest of the channel's, both
/// ports' and the upstream port's target speed. The width uses only the lanes from either end of
/// the link up to the first failed lane.
///
/// Where both ports support ASPM and software enables it, an idle direction enters L0s, and the
/// link enters L1 when both directions are idle. The next packet waits until the link has left that
/// state. The link derives its state from the time of its last use, so sleep needs no appointment.
///
/// The upstream port can take the link down. The link is down at once for that port, and one
/// latency later for the port downstream. Packets that have not arrived before the receiver's end
/// goes down are lost.
class Link : public sc_core::sc_module {
 public:
  /// Throws ConfigurationError if a value is impossible or a port already has a link.
  Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
       Port& downstream, vp::Trace& trace, vp::Statistics& statistics);

  /// The least time from send() to receive(), at the highest speed and width.
  vp::Picoseconds min_latency(Direction direction) const;

  /// The current mode, or during Recovery the mode that follows it.
  unsigned generation() const { return generation_; }
  unsigned lanes() const { return lanes_; }
  const LineRate& rate() const { return rate_; }

  /// Fails a lane of the receiver that `direction` leads to. One latency from now, if the link was
  /// using the lane, the receiver reports a Receiver Error and the link retrains without the lane.
  /// Returns false if the lane does not exist or no lane would be left.
  bool fail_lane(Direction direction, unsigned lane);

  /// Makes the port that `direction` leads to detect an error. A fault without a TLP type takes
  /// effect one latency from now.
  ///
  ///     completion_timeout     the TLP is lost, so the requester's completion timeout expires
  ///     unexpected_completion  the completion arrives twice
  ///     poisoned_tlp           the TLP arrives poisoned
  ///     unsupported_request    the port refuses the request with this error; so it does for
  ///                            completer_abort and acs_violation
  ///     malformed_tlp, receiver_overflow    the port drops the TLP
  ///     ecrc                   the digest is wrong: the port drops the TLP if the TLP has a digest
  ///                            and the port checks digests; otherwise it accepts the TLP
  ///     all others             the port reports the error and accepts the TLP
  ///
  /// Returns false if a TLP of that type cannot have such an error.
  bool inject(Direction direction, const Fault& fault);

  struct Count {
    std::uint64_t tlps = 0;
    std::uint64_t bytes = 0;  ///< bytes of payload
  };
  const DataLink::Counts& errors(Direction direction) const {
    return halves_[index(direction)].data_link.counts();
  }
  const Count& count(Direction direction, TlpType type) const {
    return halves_[index(direction)].counts[static_cast<unsigned>(type)];
  }

 private:
  friend class Port;

  struct InFlight {
    vp::Picoseconds received = 0;
    TlpPtr tlp;
  };
  struct ReturningCredits {
    vp::Picoseconds when = 0;
    CreditClass of{};
    Credits credits;
  };
  struct ScheduledError {
    vp::Picoseconds when = 0;
    Error error = Error::receiver_error;
    std::optional<unsigned> failed_lane{};
  };
  /// One direction of the link: sender, wire, credits and receive buffer.
  struct HalfLink {
    HalfLink(Link& link, Direction direction, Port& from, Port& to, const LinkConfig& config);
    const char* name;
    Port& from;
    Port& to;
    vp::Picoseconds latency;
    bool crosses;  // whether the ports are in different domains
    DataLink data_link;
    vp::Ring<InFlight> in_flight;
    vp::Event arrival;
    const CreditAccount advertised;
    CreditAccount credits;        // the credits that the sender has
    std::vector<TlpPtr> waiting;  // TLPs without credits, in the order of send()
    std::array<unsigned, credit_classes> waiting_of{};
    vp::Ring<ReturningCredits> returning;  // credits on the way back to the sender
    vp::Event update;                      // their return, scheduled while a TLP waits for credits
    std::vector<TlpPtr> received;  // the receive buffer, used while the receiver is not ready
    std::vector<Fault> faults;     // faults whose TLP has not arrived yet
    vp::Ring<ScheduledError> errors;
    vp::Event error;
    vp::Event sender_incident;  // the next of DataLink::incidents that the sender observes
    vp::Event receiver_incident;
    vp::Event come_up;  // the end of training, at `from`
    vp::Event recover;  // the end of Recovery, at `from`
    std::array<Count, tlp_types> counts{};
    std::uint64_t wire_bytes = 0;
    vp::Picoseconds used = 0;   // the end of the last transmission
    vp::Picoseconds awake = 0;  // the time at which the direction is in L0 after its last sleep
  };

  static unsigned index(Direction direction) { return static_cast<unsigned>(direction); }
  static unsigned index(CreditClass of) { return static_cast<unsigned>(of); }
  static Direction opposite(Direction direction) {
    return direction == Direction::down ? Direction::up : Direction::down;
  }
  Direction direction_of(const HalfLink& half) const {
    return &half == &halves_[0] ? Direction::down : Direction::up;
  }
  HalfLink& half_from(const Port& port) { return halves_[&port == &halves_[0].from ? 0 : 1]; }
  void send(const Port& from, TlpPtr tlp);
  void transmit(HalfLink& half, TlpPtr tlp);
  vp::Picoseconds put_on_wire(HalfLink& half, const Tlp& tlp, vp::Picoseconds ready);
  void schedule_incidents(HalfLink& half);
  void report_incidents(HalfLink& half, DataLink::End end);
  void updated(HalfLink& half);
  void collect_credits(HalfLink& half);
  bool transmit_next(HalfLink& half);
  void await_credits(HalfLink& half);
  bool blocked(const Port& from, CreditClass of);
  void drop_waiting(HalfLink& half);
  void arrive(HalfLink& half);
  void deliver_early(HalfLink& half);
  void deliver(HalfLink& half, TlpPtr tlp);
  void return_credits(HalfLink& half, const Tlp& tlp);
  bool drain(const Port& to);
  void hold(Reset kind);
  void go_down();
  void release(Reset kind);
  vp::Picoseconds wake(HalfLink& half, vp::Picoseconds when);
  void keep_awake(vp::Picoseconds until);
  void restart(HalfLink& half);
  bool retrain();
  void recover(const Port& first);
  void recover(HalfLink& half, const Port& first);
  void enter_recovery(const Port& first);
  DataLinkConfig data_link_config(Direction direction, const Port& to) const;
  void choose_mode(unsigned generation);
  unsigned usable_lanes() const;
  bool apply_fault(HalfLink& half, TlpPtr& tlp);
  void schedule_error(HalfLink& half, const ScheduledError& scheduled);
  void apply_lane_failure(HalfLink& half, unsigned lane);
  void report_errors(HalfLink& half);

  vp::Trace& trace_;
  const LinkConfig config_;
  const unsigned most_generation_;  // highest generation of the channel and both ports
  const unsigned most_lanes_;
  const bool flits_;
  const bool sleeps_;  // whether both ports support ASPM
  const LineRate best_rate_;
  unsigned generation_;
  unsigned lanes_;
  LineRate rate_;
  std::uint32_t failed_lanes_ = 0;  // one bit for each lane
  vp::Picoseconds recovered_ = 0;   // the end of the last Recovery
  std::array<HalfLink, 2> halves_;
  vp::Event recovery_;       // the moment at which the port upstream enters Recovery
  Reset kind_ = Reset::hot;  // the reset that `down_` delivers
  vp::Event down_;           // the moment at which the link goes down for the port downstream
};

}  // namespace pcie
