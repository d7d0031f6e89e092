// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/device/device.h"
#include "models/nvme/controller.h"
#include "models/nvme/kind/description.h"

namespace nvme {

/// An NVMe disk: an endpoint with one function, and its controller.
///
///     link --- endpoint --- BAR 0, DMA, interrupts --- controller --- namespaces
class DiskDevice : public device::Device {
 public:
  /// Throws ConfigurationError if a file cannot be used any more.
  DiskDevice(const sc_core::sc_module_name& name, const Description& description,
             const device::Site& site);

  std::string inject(const std::vector<std::string_view>& words) override {
    return controller.inject(words);
  }
  /// A storage is a namespace, with what its write cache holds.
  std::string export_storage(unsigned number, int file) const override;

  Controller controller;
};

/// The controller that a platform file describes.
ControllerConfig controller_config(const Description& description, std::uint64_t seed);

}  // namespace nvme
