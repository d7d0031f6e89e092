// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/pcie/data_link/data_link.h"
#include "models/pcie/link/fault_injection.h"
#include "models/pcie/link/half_link.h"
#include "models/pcie/link/link_config.h"
#include "models/pcie/link/link_mode.h"
#include "models/pcie/link/port.h"
#include "models/pcie/link/recovery.h"

namespace pcie {

/// A link between two ports. It is also the lookahead between their domains. HalfLink describes how
/// a TLP travels in one direction.
///
/// In Recovery, the link stays up, and continues in the mode that is chosen then (see Recovery and
/// LinkMode).
///
/// Where both ports support ASPM and software enables it, an idle direction enters L0s, and the
/// link enters L1 when both directions are idle. The next packet waits until the link has left that
/// state. The link derives its state from the time of its last use, so sleep needs no appointment.
///
/// The upstream port can take the link down. The link is down at once for that port, and one
/// latency later for the port downstream. Packets that have not arrived before the receiver's end
/// goes down are lost. After a cold reset the component downstream has power again before the link
/// trains, as soon as its slot gives it power.
class Link : public sc_core::sc_module {
 public:
  /// Throws ConfigurationError if a value is impossible or a port already has a link.
  Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
       Port& downstream, vp::Trace& trace, vp::Statistics& statistics);

  /// The least time from send() to receive(), at the highest speed and width.
  vp::Picoseconds min_latency(Direction direction) const {
    return halves_[index(direction)].min_latency();
  }

  /// The current mode, or during Recovery the mode that follows it.
  unsigned generation() const { return mode_.generation(); }
  unsigned lanes() const { return mode_.lanes(); }
  const LineRate& rate() const { return mode_.rate(); }

  /// Fails a lane of the receiver that `direction` leads to. One latency from now, if the link was
  /// using the lane, the receiver reports a Receiver Error and the link retrains without the lane.
  /// Returns false if the lane does not exist, or if no lane would be left after it and those that
  /// are failing already.
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

  const DataLink::Counts& errors(Direction direction) const {
    return halves_[index(direction)].errors();
  }
  const HalfLink::Count& count(Direction direction, TlpType type) const {
    return halves_[index(direction)].count(type);
  }

 private:
  friend class Port;

  static unsigned index(Direction direction) { return static_cast<unsigned>(direction); }
  Port& upstream() { return halves_[index(Direction::down)].from(); }
  HalfLink& half_from(const Port& port) { return halves_[&port == &halves_[0].from() ? 0 : 1]; }
  HalfLink& half_to(const Port& port) { return halves_[&port == &halves_[0].to() ? 0 : 1]; }
  bool flits() const { return mode_.flits(); }
  void hold(Reset kind);
  void go_down();
  void restore_power();
  void release(Reset kind);
  bool retrain();
  void keep_awake();

  const LinkConfig config_;
  LinkMode mode_;
  const LinkContext context_;
  Recovery recovery_;
  std::array<HalfLink, 2> halves_;  // indexed by Direction
  Reset kind_ = Reset::hot;         // the reset that `down_` delivers
  vp::Event down_;          // the moment at which the link goes down for the port downstream
  bool unpowered_ = false;  // the component downstream has no power
  vp::Event powered_up_;    // the moment at which it has power again
};

}  // namespace pcie
