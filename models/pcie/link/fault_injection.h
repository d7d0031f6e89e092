// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "models/pcie/link/link_config.h"
#include "models/pcie/link/link_mode.h"
#include "models/pcie/link/port.h"
#include "models/pcie/protocol/error.h"
#include "vp/ring.h"
#include "vp/time/domain.h"

namespace pcie {

class Recovery;

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

/// The injected errors of one direction of a link. Its receiver detects them.
class FaultInjection {
 public:
  /// Faults of the direction that leads `from` one port `to` another. A failed lane changes `mode`
  /// and sends the link to Recovery, unless the link is down.
  FaultInjection(LinkMode& mode, Recovery& recovery, Port& from, Port& to);

  /// Makes the n-th TLP of a type meet an error. The fault must have a type.
  void await(const Fault& fault) { awaited_.push_back(fault); }
  /// Makes the port detect an error at that time.
  void schedule(vp::Picoseconds when, Error error) { schedule(Scheduled{when, error, {}}); }
  /// Makes the lane fail at that time, which must have been announced to the mode.
  void fail_lane(vp::Picoseconds when, unsigned lane) {
    schedule(Scheduled{when, Error::receiver_error, lane});
  }

  /// Whether any fault awaits its TLP.
  bool awaits_any() const { return !awaited_.empty(); }
  /// Whether any fault awaits its time.
  bool scheduled_any() const { return !scheduled_.empty(); }
  /// Counts a TLP that arrives, and applies the fault that has awaited it. Returns whether the port
  /// does not receive the TLP.
  bool apply(const TlpPtr& tlp);

 private:
  struct Scheduled {
    vp::Picoseconds when = 0;
    Error error = Error::receiver_error;
    std::optional<unsigned> failed_lane{};
  };

  void schedule(const Scheduled& scheduled);
  void take_effect();
  void detect(Error error);
  void lose_lane(unsigned lane);

  LinkMode& mode_;
  Recovery& recovery_;
  Port& from_;
  Port& to_;
  std::vector<Fault> awaited_;     // faults whose TLP has not arrived yet
  vp::Ring<Scheduled> scheduled_;  // in the order of their times
  vp::Event effect_;               // the first of them
};

}  // namespace pcie
