// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Device 3 capability of an endpoint's function that asks for deferrable memory writes (PCIe 6.0,
/// 7.7.9).
///
///     +00 id 0x002f, version 1
///     +04 device capabilities 3: none; DMWr are routed 0, tags of 14 bits 2:1, L0p 3
///     +08 device control 3: DMWr requester 0   +0c device status 3: segment captured 3
///
/// Of virtual functions that of their physical one holds.
class Device3 {
 public:
  explicit Device3(ConfigSpace& space, const Device3* physical = nullptr)
      : space_(space),
        governor_(physical != nullptr ? physical : this),
        offset_(space.add_extended_capability(0x002f, 1, 0x10)) {
    space.define({offset_ + 0x04, 4});
    space.define({offset_ + 0x08, 4, 0, physical == nullptr ? 1u : 0});
    space.define({offset_ + 0x0c, 4});
  }
  Device3(const Device3&) = delete;

  unsigned offset() const { return offset_; }
  /// DMWr Requester Enable.
  bool requests_deferrable_writes() const {
    return governor_->space_.test(governor_->offset_ + 0x08, 0);
  }

 private:
  ConfigSpace& space_;
  const Device3* governor_;  // whose control holds
  unsigned offset_;
};

}  // namespace pcie
