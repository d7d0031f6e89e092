// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/capabilities/equalization.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// Physical Layer 16.0 GT/s, 32.0 GT/s (PCIe 5.0, 7.7.5 and 7.7.6) or 64.0 GT/s (PCIe 6.0, 7.7.7),
/// of a port of that speed and more.
///
///     generation                       4            5            6
///     id, all version 1                0x0026       0x002a       0x0031
///     capabilities, control            +04, +08     the same     the same
///     status                           +0c          the same     the same
///     parity mismatch, a bit a lane    +10 to +18
///     modified training sets                        +10 to +1c
///     lane equalization control        +20          +20          +10
///
///     status: equalization complete 0, phases 1 to 3 successful 3:1, request 4 (RW1C)
///     lane equalization control, 8 bits a lane: transmitter preset of the downstream port 3:0
///         (downstream port), of the upstream port 7:4, which that shows as its partner sent it
///
/// At 32 GT/s the usual modified training sets (usage mode 0) are all that there is.
class PhysicalLayer {
 public:
  /// `generation` 4 to 6.
  PhysicalLayer(ConfigSpace& space, PortType type, unsigned generation, unsigned lanes)
      : space_(space),
        generation_(generation),
        lanes_(lanes),
        downstream_(is_above_link(type)),
        offset_(space.add_extended_capability(id(generation), 1, presets(generation) + lanes)) {
    space.define({offset_ + 0x04, 4, generation == 5 ? usage_mode_0 : 0});
    space.define({offset_ + 0x08, 4});
    space.define({offset_ + status, 4, 0, 0, equalization_request, equalization_request});
    const std::uint32_t every_lane = (1u << lanes) - 1;
    for (unsigned at = 0x10; at < presets(generation); at += 4) {
      const bool parity = generation == 4 && at <= 0x18;
      space.define({offset_ + at, 4, 0, 0, parity ? every_lane : 0, parity ? every_lane : 0});
    }
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned at = offset_ + presets(generation) + lane;
      space.define({at, 1, downstream_ ? sent | sent >> 4 : unknown});
      space.keep(Reset::function, at, 1, 0xff);  // the link's
    }
    space.keep(Reset::function, offset_ + status, 4, equalized);
  }
  PhysicalLayer(const PhysicalLayer&) = delete;

  unsigned offset() const { return offset_; }
  /// The link is up at the speed of `generation`, and equalized up to that of its own.
  void trained(unsigned generation) {
    const bool reached = generation >= generation_;
    const std::uint32_t others = space_.get(offset_ + status, 4) & ~equalized;
    space_.set(offset_ + status, 4, others | (reached ? equalized : 0));
    if (downstream_) return;
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      space_.set(offset_ + presets(generation_) + lane, 1, reached ? sent : unknown);
    }
  }

 private:
  static constexpr unsigned status = 0x0c;
  static constexpr std::uint32_t equalized = 0xf;
  static constexpr std::uint32_t equalization_request = 1u << 4;
  static constexpr std::uint32_t usage_mode_0 = 1u << 8;
  static constexpr std::uint32_t sent = neither_preshoot_nor_deemphasis << 4;
  static constexpr std::uint32_t unknown = none_received << 4;

  static constexpr std::uint16_t id(unsigned generation) {
    return generation == 4 ? 0x0026 : generation == 5 ? 0x002a : 0x0031;
  }
  static constexpr unsigned presets(unsigned generation) { return generation == 6 ? 0x10 : 0x20; }

  ConfigSpace& space_;
  unsigned generation_;
  unsigned lanes_;
  bool downstream_;
  unsigned offset_;
};

}  // namespace pcie
