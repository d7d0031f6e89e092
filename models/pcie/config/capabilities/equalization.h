// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pcie {

/// Transmitter presets in lane equalization control registers (PCIe 5.0, 4.2.3.2 and 8.3.3.3).
enum Preset : unsigned {
  neither_preshoot_nor_deemphasis = 4,  ///< P4, which downstream ports request
  none_received = 0xf,                  ///< in an upstream port before equalization
};

}  // namespace pcie
