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

/// Down is away from the root complex.
enum class Direction : std::uint8_t { down, up };

struct LinkConfig {
  unsigned generation = 5;           ///< of the channel; the ports may know less
  unsigned lanes = 16;               ///< wired
  vp::Picoseconds latency_down = 0;  ///< PHY and wire
  vp::Picoseconds latency_up = 0;
  unsigned max_payload = 256;  ///< for the share that DLLPs take, see LineRate
  /// From the end of a hot reset until the link is up; never less than both directions' latencies.
  vp::Picoseconds training = 0;
  double bit_error_rate = 0;                 ///< of each lane, 0 to 1e-4
  std::uint64_t seed = 1;                    ///< of the errors
  vp::Picoseconds retraining = 20 * vp::us;  ///< Recovery, with or without a change of speed
  /// How long nothing is sent before a direction goes into L0s, and the link into L1.
  vp::Picoseconds l0s_after = 1 * vp::us;
  vp::Picoseconds l1_after = 10 * vp::us;
};

/// An error that is made to happen, for tests and for whoever wants to see software cope with it.
struct Fault {
  Error error = Error::receiver_error;
  /// What it strikes when it arrives; none: nothing, the port believes to have seen a packet.
  std::optional<TlpType> type;
  unsigned number = 1;  ///< the how manieth of that type from now on
};

/// Whether a port at the end that `direction` leads to can have that.
bool is_possible(Direction direction, const Fault& fault);

/// A link between two ports, and between their domains, whose lookahead it is.
///
/// TLPs of a direction are serialised one after the other and arrive in order. Those in flight are
/// in a ring with one appointment, in the receiving domain, for the first: an idle link has none.
/// What bit errors cost is known when a TLP is sent, see DataLink; the ends report them when they
/// see them. Of a burst of writes to memory that nobody could read before its last has arrived, all
/// end with the first, which saves their appointments and changes nothing else.
///
/// A TLP for which its receiver has no credits waits, and those behind it pass or wait as the
/// ordering table says; so it is in the receive buffer of a port that is not ready. Credits are
/// back at the sender, in an UpdateFC, as late as a packet would be.
///
///     departure                    arrival            received
///        |<- wire bytes at rate ->|                      |
///     ---+------------------------+---- latency ----+----+--->
///   sender's port latency before                     receiver's port latency
///
/// In Recovery (4.2.6.4) the link stays up. What has left its sender before that knows arrives, if
/// the receiver does not know either; all else is sent once more, and with what follows at the
/// speed and width that the link has then: the speed is the least of the channel, both ends and the
/// upstream port's target; of the lanes only those from either end up to the first that has failed
/// are of use.
///
/// Where ports support it and software lets it, a direction that nothing was sent in for a while is
/// in L0s, and the link in L1 if that is so for both: what is sent then waits until it has come
/// out. That is found from when it was used last, so that sleep takes no appointment.
///
/// Its upstream port can take it down: at once for itself, one latency later for the port
/// downstream. What has not arrived before its receiver's end goes down is lost.
class Link : public sc_core::sc_module {
 public:
  /// Throws ConfigurationError if a value is impossible or a port is taken.
  Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
       Port& downstream, vp::Trace& trace, vp::Statistics& statistics);

  /// Nothing sent at time t is received before t + this, at the highest speed and width.
  vp::Picoseconds min_latency(Direction direction) const;

  /// As of now, or in Recovery as it will be.
  unsigned generation() const { return generation_; }
  unsigned lanes() const { return lanes_; }
  const LineRate& rate() const { return rate_; }

  /// From now on the receiver that `direction` leads to does not hear that lane any more: if it was
  /// of use, one latency from now that is a Receiver Error, and the link retrains without it. False
  /// if there is no such lane, or the link would have none left.
  bool fail_lane(Direction direction, unsigned lane);

  /// The port that `direction` leads to detects the error: without a type one latency from now.
  ///
  ///     completion_timeout     the TLP is lost, and who waits for a completion waits in vain
  ///     unexpected_completion  the completion comes twice
  ///     poisoned_tlp           the data is marked as bad
  ///     unsupported_request    the request is refused, and so by completer_abort, acs_violation
  ///     malformed_tlp, receiver_overflow    the TLP is dropped
  ///     ecrc                   the digest is bad: the TLP is dropped if it has one and the port
  ///     checks
  ///                            digests, or else comes as it is
  ///     all others             the TLP comes as it is
  ///
  /// False if no such TLP can have such an error.
  bool inject(Direction direction, const Fault& fault);

  struct Count {
    std::uint64_t tlps = 0;
    std::uint64_t bytes = 0;  ///< payload
  };
  const DataLink::Counts& errors(Direction direction) const {
    return halves_[index(direction)].data_link.counts();
  }
  const Count& count(Direction direction, TlpType type) const {
    return halves_[index(direction)].counts[static_cast<unsigned>(type)];
  }

 private:
  friend class Port;

  struct Flying {
    vp::Picoseconds received = 0;
    TlpPtr tlp;
  };
  struct Returning {
    vp::Picoseconds when = 0;
    CreditClass of{};
    Credits credits;
  };
  struct Coming {
    vp::Picoseconds when = 0;
    Error error = Error::receiver_error;
    std::optional<unsigned> failed_lane{};
  };
  struct HalfLink {
    HalfLink(Link& link, Direction direction, Port& from, Port& to, const LinkConfig& config);
    const char* name;
    Port& from;
    Port& to;
    vp::Picoseconds latency;
    bool crosses;  // from one domain into another
    DataLink data_link;
    vp::Ring<Flying> flying;
    vp::Event arrival;
    const CreditAccount advertised;
    CreditAccount credits;        // the sender's
    std::vector<TlpPtr> waiting;  // for credits, in the order sent
    std::array<unsigned, credit_classes> waiting_of{};
    vp::Ring<Returning> returning;  // credits on their way back
    vp::Event update;               // when they have come, while somebody waits for them
    std::vector<TlpPtr> received;   // the receive buffer, while the receiver is not ready
    std::vector<Fault> faults;      // that wait for their TLP
    vp::Ring<Coming> errors;
    vp::Event error;
    vp::Event sender_sees;  // what bit errors are to the ends, as DataLink::incidents
    vp::Event receiver_sees;
    vp::Event rise;     // of the link, for `from`
    vp::Event recover;  // into L0, for `from`
    std::array<Count, tlp_types> counts{};
    std::uint64_t wire_bytes = 0;
    vp::Picoseconds used = 0;   // nothing was sent after that
    vp::Picoseconds awake = 0;  // in L0 from then on, if it was asleep
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
  void expect_incidents(HalfLink& half);
  void see(HalfLink& half, DataLink::End end);
  void updated(HalfLink& half);
  void take_returned(HalfLink& half);
  bool transmit_next(HalfLink& half);
  void await_credits(HalfLink& half);
  bool blocked(const Port& from, CreditClass of);
  void forget_waiting(HalfLink& half);
  void arrive(HalfLink& half);
  void run_ahead(HalfLink& half);
  void deliver(HalfLink& half, TlpPtr tlp);
  void give_back(HalfLink& half, const Tlp& tlp);
  bool drain(const Port& to);
  void hold(Reset kind);
  void fall();
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
  bool strike(HalfLink& half, TlpPtr& tlp);
  void come(HalfLink& half, const Coming& coming);
  void lose_lane(HalfLink& half, unsigned lane);
  void detect(HalfLink& half);

  vp::Trace& trace_;
  const LinkConfig config_;
  const unsigned most_generation_;  // that both ends and the channel know
  const unsigned most_lanes_;
  const bool flits_;
  const bool sleeps_;  // its ports know how to
  const LineRate best_rate_;
  unsigned generation_;
  unsigned lanes_;
  LineRate rate_;
  std::uint32_t failed_lanes_ = 0;  // a bit each
  vp::Picoseconds recovered_ = 0;   // when the last Recovery ends
  std::array<HalfLink, 2> halves_;
  vp::Event recovery_;       // begins, for the port upstream
  Reset kind_ = Reset::hot;  // of the reset that `fall_` is about
  vp::Event fall_;           // of the link, for the port downstream
};

}  // namespace pcie
