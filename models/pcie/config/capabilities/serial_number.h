// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Device Serial Number, an EUI-64 (PCIe 5.0, 7.9.3).
///
///     +0 id 0x0003, version 1   +4 low half   +8 high half
inline unsigned add_serial_number(ConfigSpace& space, std::uint64_t number) {
  const unsigned offset = space.add_extended_capability(0x0003, 1, 12);
  space.define({offset + 4, 4, static_cast<std::uint32_t>(number)});
  space.define({offset + 8, 4, static_cast<std::uint32_t>(number >> 32)});
  return offset;
}

}  // namespace pcie
