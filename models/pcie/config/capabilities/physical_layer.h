// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config/capabilities/equalization.h"
#include "models/pcie/config/capabilities/pci_express.h"
#include "models/pcie/config/config_space.h"

namespace pcie {

/// The capabilities Physical Layer 16.0 GT/s, 32.0 GT/s (PCIe 5.0, 7.7.5 and 7.7.6) and 64.0 GT/s
/// (PCIe 6.0, 7.7.7), for a port with that speed or more. All have version 1.
///
///     generation                       4             5            6
///     parity mismatch, a bit a lane    0x10 to 0x18
///     modified training sets                         0x10 to 0x1c
///     lane equalization control        0x20          0x20         0x10
///
/// Lane equalization control has 8 bits for each lane: the transmitter preset of the downstream
/// port in 3:0 (downstream port only), and that of the upstream port in 7:4. An upstream port shows
/// the preset that its link partner has sent.
///
/// At 32 GT/s only the usual modified training sets (usage mode 0) are supported.
class PhysicalLayer {
 public:
  static constexpr unsigned capabilities = 0x04;
  static constexpr unsigned control = 0x08;
  static constexpr unsigned status = 0x0c;
  /// Status: equalization complete and the success of its phases 1 to 3.
  static constexpr std::uint32_t equalized = 0xf;
  /// Status: link equalization request, which software clears by writing 1.
  static constexpr std::uint32_t equalization_request = 1u << 4;
  /// Capabilities of 32.0 GT/s: modified training set usage mode 0.
  static constexpr std::uint32_t usage_mode_0 = 1u << 8;
  static constexpr std::uint16_t id(unsigned generation) {
    return generation == 4 ? 0x0026 : generation == 5 ? 0x002a : 0x0031;
  }
  /// The offset of lane equalization control.
  static constexpr unsigned presets(unsigned generation) { return generation == 6 ? 0x10 : 0x20; }

  /// `generation` is 4 to 6.
  PhysicalLayer(ConfigSpace& space, PortType type, unsigned generation, unsigned lanes)
      : space_(space),
        generation_(generation),
        lanes_(lanes),
        downstream_(is_above_link(type)),
        offset_(space.add_extended_capability(id(generation), 1, presets(generation) + lanes)) {
    space.define({offset_ + capabilities, 4, generation == 5 ? usage_mode_0 : 0});
    space.define({offset_ + control, 4});
    space.define({offset_ + status, 4, 0, 0, equalization_request, equalization_request});
    const std::uint32_t every_lane = (1u << lanes) - 1;
    for (unsigned at = 0x10; at < presets(generation); at += 4) {
      const bool parity = generation == 4 && at <= 0x18;
      space.define({offset_ + at, 4, 0, 0, parity ? every_lane : 0, parity ? every_lane : 0});
    }
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned at = offset_ + presets(generation) + lane;
      space.define({at, 1, downstream_ ? sent | sent >> 4 : unknown});
      space.keep(Reset::function, at, 1, 0xff);  // a property of the link
    }
    space.keep(Reset::function, offset_ + status, 4, equalized);
  }
  PhysicalLayer(const PhysicalLayer&) = delete;

  unsigned offset() const { return offset_; }
  /// The link is up at the speed of `generation` and equalized up to that speed.
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
  static constexpr std::uint32_t sent = neither_preshoot_nor_deemphasis << 4;
  static constexpr std::uint32_t unknown = none_received << 4;

  ConfigSpace& space_;
  unsigned generation_;
  unsigned lanes_;
  bool downstream_;
  unsigned offset_;
};

}  // namespace pcie
