// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/axi/bridge.h"
#include "models/axi/kind/description.h"
#include "models/device/device.h"

namespace axi {

/// A device whose logic is a verilated block: an endpoint with one function, and the bridge.
///
///     link --- endpoint --- BAR 0, DMA, interrupts --- bridge --- block
class RtlDevice : public device::Device {
 public:
  /// Throws pcie::ConfigurationError if a value is impossible, or if the waveform file cannot be
  /// written.
  RtlDevice(const sc_core::sc_module_name& name, const Description& description,
            const device::Site& site);

  Bridge bridge;
};

}  // namespace axi
