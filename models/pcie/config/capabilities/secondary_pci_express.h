// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/capabilities/equalization.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// Secondary PCI Express capability of a port with 8 GT/s or more (PCIe 5.0, 7.7.3).
///
/// Lane equalization control has 16 bits for each lane: the transmitter preset of the downstream
/// port in 3:0 and its receiver hint in 6:4 (downstream port only), and those of the upstream port
/// in 11:8 and 14:12. An upstream port shows the values that its link partner has sent.
class SecondaryPciExpress {
 public:
  static constexpr std::uint16_t id = 0x0019;  ///< version 1
  static constexpr unsigned link_control_3 = 0x04;
  static constexpr unsigned lane_error_status = 0x08;  ///< one bit for each lane
  static constexpr unsigned presets = 0x0c;            ///< lane equalization control
  /// Perform Equalization and its interrupt enable, in Link Control 3 of a downstream port.
  static constexpr std::uint32_t equalization_controls = 3;

  SecondaryPciExpress(ConfigSpace& space, PortType type, unsigned lanes)
      : space_(space),
        offset_(space.add_extended_capability(id, 1, presets + 2 * lanes)),
        lanes_(lanes),
        downstream_(is_above_link(type)) {
    const std::uint32_t every_lane = (1u << lanes) - 1;
    space.define({offset_ + link_control_3, 4, 0, downstream_ ? equalization_controls : 0});
    space.define({offset_ + lane_error_status, 4, 0, 0, every_lane, every_lane});
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned at = offset_ + presets + 2 * lane;
      space.define({at, 2, downstream_ ? sent | sent >> 8 : unknown});
      space.keep(Reset::function, at, 2, 0xffff);  // a property of the link
    }
  }
  SecondaryPciExpress(const SecondaryPciExpress&) = delete;

  unsigned offset() const { return offset_; }
  /// Sets the error bit of a lane, which software clears.
  void lane_error(unsigned lane) {
    space_.change(offset_ + lane_error_status, 4, 1u << lane, 1u << lane);
  }
  /// The link is up at the speed of `generation`.
  void trained(unsigned generation) {
    if (downstream_) return;
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      space_.set(offset_ + presets + 2 * lane, 2, generation >= 3 ? sent : unknown);
    }
  }

 private:
  static constexpr std::uint32_t sent = neither_preshoot_nor_deemphasis << 8;
  static constexpr std::uint32_t unknown = 0x7u << 12 | none_received << 8;

  ConfigSpace& space_;
  unsigned offset_;
  unsigned lanes_;
  bool downstream_;
};

}  // namespace pcie
