// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/config_space.h"

namespace pcie {

/// Device 3 capability of an endpoint's function that requests deferrable memory writes (PCIe 6.0,
/// 7.7.9). A virtual function uses the control register of its physical function.
class Device3 {
 public:
  static constexpr std::uint16_t id = 0x002f;  ///< version 1
  static constexpr unsigned device_capabilities_3 = 0x04;
  static constexpr unsigned device_control_3 = 0x08;
  static constexpr unsigned device_status_3 = 0x0c;
  /// DMWr Requester Enable, in Device Control 3.
  static constexpr std::uint32_t deferrable_write_requester = 1u << 0;

  explicit Device3(ConfigSpace& space, const Device3* physical = nullptr)
      : space_(space),
        governor_(physical != nullptr ? physical : this),
        offset_(space.add_extended_capability(id, 1, 0x10)) {
    space.define({offset_ + device_capabilities_3, 4});
    space.define(
        {offset_ + device_control_3, 4, 0, physical == nullptr ? deferrable_write_requester : 0});
    space.define({offset_ + device_status_3, 4});
  }
  Device3(const Device3&) = delete;

  unsigned offset() const { return offset_; }
  bool requests_deferrable_writes() const {
    return governor_->space_.any(governor_->offset_ + device_control_3, deferrable_write_requester);
  }

 private:
  ConfigSpace& space_;
  const Device3* governor_;  // the capability whose control register applies
  unsigned offset_;
};

}  // namespace pcie
