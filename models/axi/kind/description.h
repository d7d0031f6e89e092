// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/axi/block.h"
#include "models/device/description.h"

namespace axi {

/// What a platform file says about a device with a block of this type. The defaults are those of
/// the type. The function oae_vp_add_rtl_kind() makes a struct of this for each kind.
struct Description : device::Description {
  explicit Description(const BlockType& block);

  bool has_waveform() const override { return true; }
  std::string summary() const override;

  const BlockType* type;
  std::int64_t clock;  ///< Hz
  vp::config::PciId id;
  vp::config::PciId subsystem;
};

/// The keys of a struct derived from Description.
template <class D>
std::vector<vp::config::Key<D>> keys() {
  using namespace vp::config;
  return {
      {"clock", &Description::clock, frequency(1'000, 10'000'000'000), "Clock of the block"},
      {"id", &Description::id, pci_id(), "PCI vendor and device id"},
      {"subsystem", &Description::subsystem, pci_id(), "PCI subsystem vendor and device id"},
  };
}

}  // namespace axi
