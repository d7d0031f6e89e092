// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/link/link.h"
#include "platforms/description/platform.h"

namespace platform {

/// The name of the fault that is not an error of a packet or a DLLP.
inline constexpr const char* lane_failure = "lane_failure";

/// The fault in the form that the model of the link takes. The schema has checked its names.
inline pcie::Fault to_fault(const PcieFault& named) {
  pcie::Fault fault{*pcie::error_of(named.error), {}, named.number};
  if (!named.tlp.empty()) fault.type = pcie::tlp_type_of(named.tlp);
  return fault;
}

inline pcie::Direction to_direction(const PcieFault& named) {
  return named.direction == "down" ? pcie::Direction::down : pcie::Direction::up;
}

/// Injects the fault into the link. Returns false if the link cannot have it.
inline bool inject(pcie::Link& link, const PcieFault& named) {
  if (named.error == lane_failure) return link.fail_lane(to_direction(named), named.lane);
  return link.inject(to_direction(named), to_fault(named));
}

}  // namespace platform
