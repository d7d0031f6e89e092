// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Alternative Routing-ID Interpretation (ARI) without function groups (PCIe 5.0, 7.8.8).
struct AlternativeRouting {
  static constexpr std::uint16_t id = 0x000e;  ///< version 1
  static constexpr unsigned capability = 4;    ///< next function number in 15:8; 0 ends the chain
  static constexpr unsigned control = 6;
  static constexpr unsigned next_function_shift = 8;
};

/// Adds the capability and returns its offset. `next_function` is 0 for the last function.
inline unsigned add_alternative_routing(ConfigSpace& space, unsigned next_function) {
  const unsigned offset = space.add_extended_capability(AlternativeRouting::id, 1, 8);
  space.define({offset + AlternativeRouting::capability, 2,
                next_function << AlternativeRouting::next_function_shift});
  space.define({offset + AlternativeRouting::control, 2});
  return offset;
}

}  // namespace pcie
