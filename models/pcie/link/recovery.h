// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "models/pcie/link/half_link.h"
#include "models/pcie/link/link_config.h"
#include "models/pcie/link/port.h"
#include "vp/time/domain.h"

namespace pcie {

/// Recovery of a link (PCIe 5.0, 4.2.6.4), during which the link stays up.
///
/// A TLP that left before its sender knew of Recovery arrives if it gets there before the receiver
/// knows. All other TLPs are sent again, in the mode that the link has after Recovery.
class Recovery {
 public:
  /// `upstream` is the port at the upper end. The halves may be constructed later.
  Recovery(const LinkConfig& config, Port& upstream, std::array<HalfLink, 2>& halves);

  /// The end of the last Recovery; in the future during Recovery.
  vp::Picoseconds end() const { return end_; }

  /// Sends the link to Recovery. `first` is the port that knows of it first. The mode that follows
  /// must be chosen before.
  void enter(const Port& first);
  /// Does so because of an incident of that direction, whose packets have their times for the
  /// replay already.
  void enter_for_incident(HalfLink& half, const Port& first);
  /// Ends Recovery, since the link goes down.
  void cancel();
  /// Makes both directions follow the mode that was chosen while the link is down for both ports.
  void follow_mode();

 private:
  void begin(const Port& first);

  const LinkConfig& config_;
  std::array<HalfLink, 2>& halves_;
  Port& upstream_;
  vp::Picoseconds end_ = 0;
  vp::Event reaches_upstream_;  // the moment at which the port upstream enters Recovery
};

}  // namespace pcie
