// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Data Link Feature capability of a port with 16 GT/s or more (PCIe 5.0, 7.7.4).
class DataLinkFeature {
 public:
  static constexpr std::uint16_t id = 0x0025;                    ///< version 1
  static constexpr unsigned capabilities = 4;                    ///< local features
  static constexpr unsigned status = 8;                          ///< remote features
  static constexpr std::uint32_t scaled_flow_control = 1u << 0;  ///< in both registers
  static constexpr std::uint32_t exchange_enable = 1u << 31;     ///< in capabilities
  static constexpr std::uint32_t remote_valid = 1u << 31;        ///< in status

  explicit DataLinkFeature(ConfigSpace& space)
      : space_(space), offset_(space.add_extended_capability(id, 1, 12)) {
    space.define({offset_ + capabilities, 4, scaled_flow_control | exchange_enable});
    space.define({offset_ + status, 4});
    space.keep(Reset::function, offset_ + status, 4, ~0u);  // a property of the link
  }
  DataLinkFeature(const DataLinkFeature&) = delete;

  unsigned offset() const { return offset_; }
  /// Sets whether the link partner has announced its features since the link came up (3.3).
  void exchanged(bool announced) {
    space_.set(offset_ + status, 4, announced ? scaled_flow_control | remote_valid : 0);
  }

 private:
  ConfigSpace& space_;
  unsigned offset_;
};

}  // namespace pcie
