// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Data Link Feature, of a port of 16 GT/s and more (PCIe 5.0, 7.7.4).
///
///     +0 id 0x0025, version 1
///     +4 capabilities: local scaled flow control 0, exchange enabled 31
///     +8 status: remote scaled flow control 0, valid 31
class DataLinkFeature {
 public:
  explicit DataLinkFeature(ConfigSpace& space)
      : space_(space), offset_(space.add_extended_capability(0x0025, 1, 12)) {
    space.define({offset_ + 4, 4, scaled_flow_control | 1u << 31});
    space.define({offset_ + 8, 4});
    space.keep(Reset::function, offset_ + 8, 4, ~0u);  // the link's
  }
  DataLinkFeature(const DataLinkFeature&) = delete;

  unsigned offset() const { return offset_; }
  /// Whether the partner has told its features while the link came up, as all of 16 GT/s do.
  void exchanged(bool told) {
    space_.set(offset_ + 8, 4, told ? scaled_flow_control | 1u << 31 : 0);
  }

 private:
  static constexpr std::uint32_t scaled_flow_control = 1u << 0;

  ConfigSpace& space_;
  unsigned offset_;
};

}  // namespace pcie
