// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "models/pcie/config/config_space.h"

namespace pcie {

/// PCI Power Management, version 3, with the states D0 and D3hot (PCIe 5.0, 7.5.2). Unless
/// `keeps_registers` is set, the return from D3hot to D0 resets the function (5.3.1.4).
class PowerManagement {
 public:
  static constexpr std::uint8_t id = 0x01;
  static constexpr unsigned capabilities = 2;  ///< PMC: version 3, no D1, no D2, no PME
  static constexpr unsigned control = 4;       ///< PMCSR
  /// Bits of PMCSR and the values of its power state.
  struct ControlBit {
    static constexpr std::uint32_t power_state = 3;
    static constexpr std::uint32_t d0 = 0;
    static constexpr std::uint32_t d3hot = 3;
    static constexpr std::uint32_t no_soft_reset = 1u << 3;  ///< D3hot to D0 keeps all registers
  };

  explicit PowerManagement(ConfigSpace& space, bool keeps_registers = true)
      : space_(space), offset_(space.add_capability(id, 8)) {
    space.define({offset_ + capabilities, 2, version});
    space.define({offset_ + control, 2, keeps_registers ? ControlBit::no_soft_reset : 0,
                  ControlBit::power_state});
    // 7.5.2.2: writing a state that is not supported has no effect.
    space.on_write(offset_ + control, 2, [this](std::uint32_t before) {
      if (state() != ControlBit::d0 && state() != ControlBit::d3hot) {
        space_.set(offset_ + control, 2, before);
      }
      const bool woken = (before & ControlBit::power_state) == ControlBit::d3hot && d0();
      reset_due_ |= woken && !(before & ControlBit::no_soft_reset);
    });
  }
  PowerManagement(const PowerManagement&) = delete;

  unsigned offset() const { return offset_; }
  bool d0() const { return state() == ControlBit::d0; }
  /// Whether the return from D3hot must reset the function. The call consumes that request.
  bool consume_reset() { return std::exchange(reset_due_, false); }

 private:
  static constexpr std::uint32_t version = 3;

  std::uint32_t state() const { return space_.get(offset_ + control, 2) & ControlBit::power_state; }

  ConfigSpace& space_;
  unsigned offset_;
  bool reset_due_ = false;
};

}  // namespace pcie
