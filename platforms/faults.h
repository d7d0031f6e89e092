// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/link.h"
#include "platforms/platform.h"

namespace platform {

/// A fault as the model of the link takes it; its names are those that the schema lets through.
inline pcie::Fault to_fault(const PcieFault& named) {
  pcie::Fault fault{*pcie::error_of(named.error), {}, named.number};
  if (!named.tlp.empty()) fault.type = pcie::tlp_type_of(named.tlp);
  return fault;
}

inline pcie::Direction to_direction(const PcieFault& named) {
  return named.direction == "down" ? pcie::Direction::down : pcie::Direction::up;
}

}  // namespace platform
