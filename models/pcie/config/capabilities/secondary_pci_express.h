// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/capabilities/equalization.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// Secondary PCI Express, of a port of 8 GT/s and more (PCIe 5.0, 7.7.3).
///
///     +00 id 0x0019, version 1
///     +04 link control 3: perform equalization 0, its interrupt 1  (downstream port)
///     +08 lane error status, a bit a lane
///     +0c lane equalization control, 16 bits a lane: transmitter preset 3:0 and receiver hint 6:4
///         of the downstream port  (downstream port), 11:8 and 14:12 of the upstream port
///
/// An upstream port shows what its partner has sent.
class SecondaryPciExpress {
 public:
  SecondaryPciExpress(ConfigSpace& space, PortType type, unsigned lanes)
      : space_(space),
        offset_(space.add_extended_capability(0x0019, 1, presets + 2 * lanes)),
        lanes_(lanes),
        downstream_(is_above_link(type)) {
    const std::uint32_t every_lane = (1u << lanes) - 1;
    space.define({offset_ + 0x04, 4, 0, downstream_ ? 3u : 0});
    space.define({offset_ + 0x08, 4, 0, 0, every_lane, every_lane});
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned at = offset_ + presets + 2 * lane;
      space.define({at, 2, downstream_ ? sent | sent >> 8 : unknown});
      space.keep(Reset::function, at, 2, 0xffff);  // the link's
    }
  }
  SecondaryPciExpress(const SecondaryPciExpress&) = delete;

  unsigned offset() const { return offset_; }
  /// Software has not seen yet that this lane had an error.
  void lane_error(unsigned lane) {
    space_.set(offset_ + 0x08, 4, space_.get(offset_ + 0x08, 4) | 1u << lane);
  }
  /// The link is up at the speed of `generation`.
  void trained(unsigned generation) {
    if (downstream_) return;
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      space_.set(offset_ + presets + 2 * lane, 2, generation >= 3 ? sent : unknown);
    }
  }

 private:
  static constexpr unsigned presets = 0x0c;
  static constexpr std::uint32_t sent = neither_preshoot_nor_deemphasis << 8;
  static constexpr std::uint32_t unknown = 0x7u << 12 | none_received << 8;

  ConfigSpace& space_;
  unsigned offset_;
  unsigned lanes_;
  bool downstream_;
};

}  // namespace pcie
