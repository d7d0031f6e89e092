// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Alternative Routing-ID Interpretation, ARI, without function groups (PCIe 5.0, 7.8.8).
///
///     +0 id 0x000e, version 1
///     +4 capability: next function 15:8, 0 ends the chain   +6 control
inline unsigned add_alternative_routing(ConfigSpace& space, unsigned next_function) {
  const unsigned offset = space.add_extended_capability(0x000e, 1, 8);
  space.define({offset + 4, 2, next_function << 8});
  space.define({offset + 6, 2});
  return offset;
}

}  // namespace pcie
