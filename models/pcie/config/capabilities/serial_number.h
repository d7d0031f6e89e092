// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Device Serial Number, an EUI-64 (PCIe 5.0, 7.9.3).
struct SerialNumber {
  static constexpr std::uint16_t id = 0x0003;  ///< version 1
  static constexpr unsigned lower = 4;
  static constexpr unsigned upper = 8;
};

/// Adds the capability and returns its offset.
inline unsigned add_serial_number(ConfigSpace& space, std::uint64_t number) {
  const unsigned offset = space.add_extended_capability(SerialNumber::id, 1, 12);
  space.define({offset + SerialNumber::lower, 4, static_cast<std::uint32_t>(number)});
  space.define({offset + SerialNumber::upper, 4, static_cast<std::uint32_t>(number >> 32)});
  return offset;
}

}  // namespace pcie
