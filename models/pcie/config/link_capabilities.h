// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "models/pcie/config/capabilities/data_link_feature.h"
#include "models/pcie/config/capabilities/lane_margining.h"
#include "models/pcie/config/capabilities/physical_layer.h"
#include "models/pcie/config/capabilities/secondary_pci_express.h"

namespace pcie {

/// The extended capabilities that a port has for its link, which depend on its highest generation.
/// A root port, a port of a switch, and function 0 of an endpoint have them.
///
///     3   secondary PCI Express
///     4   data link feature, physical layer 16.0 GT/s, lane margining
///     5   physical layer 32.0 GT/s
///     6   physical layer 64.0 GT/s
class LinkCapabilities {
 public:
  LinkCapabilities(ConfigSpace& space, PortType type, unsigned generation, unsigned lanes,
                   const Eye& eye = {}) {
    if (generation >= 3) secondary_.emplace(space, type, lanes);
    if (generation >= 4) {
      data_link_feature_.emplace(space);
      speeds_[0].emplace(space, type, 4, lanes);
      margining_.emplace(space, type, lanes, eye);
    }
    if (generation >= 5) speeds_[1].emplace(space, type, 5, lanes);
    if (generation >= 6) speeds_[2].emplace(space, type, 6, lanes);
  }
  LinkCapabilities(const LinkCapabilities&) = delete;

  /// The link is up at the speed of `generation`, 1 to 6. `partner` is the highest generation of
  /// the port at its other end. A port with 16 GT/s announces its features at every speed (3.3).
  void trained(unsigned generation, unsigned partner) {
    if (data_link_feature_) data_link_feature_->exchanged(partner >= 4);
    equalized(generation);
  }
  /// The link is back from Recovery. Speeds for which it was equalized remain equalized.
  void retrained(unsigned generation) {
    if (generation > equalized_) return equalized(generation);
    if (margining_) margining_->trained(generation);
  }
  /// The link is down (3.2.1).
  void link_down() {
    if (data_link_feature_) data_link_feature_->exchanged(false);
  }
  /// The receiver of that lane has failed.
  void lane_failed(unsigned lane) {
    if (secondary_) secondary_->lane_error(lane);
  }

 private:
  void equalized(unsigned generation) {
    if (secondary_) secondary_->trained(generation);
    for (auto& speed : speeds_) {
      if (speed) speed->trained(generation);
    }
    if (margining_) margining_->trained(generation);
    equalized_ = generation;
  }

  std::optional<SecondaryPciExpress> secondary_;
  std::optional<DataLinkFeature> data_link_feature_;
  std::optional<PhysicalLayer> speeds_[3];
  std::optional<LaneMargining> margining_;
  unsigned equalized_ = 0;  // the highest generation since the link came up
};

}  // namespace pcie
