// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "models/pcie/config/config_space.h"

namespace pcie {

/// PCI Power Management, version 3, states D0 and D3hot (PCIe 5.0, 7.5.2).
///
///     +0 id 0x01   +2 PMC: version 3, no D1, no D2, no PME
///     +4 PMCSR: power state 1:0 (0 D0, 3 D3hot), no soft reset 3
///
/// Unless `keeps_registers`, the return from D3hot to D0 resets the function (5.3.1.4).
class PowerManagement {
 public:
  explicit PowerManagement(ConfigSpace& space, bool keeps_registers = true)
      : space_(space), offset_(space.add_capability(0x01, 8)) {
    space.define({offset_ + 2, 2, version});
    space.define({offset_ + 4, 2, keeps_registers ? no_soft_reset : 0, state_mask});
    // 7.5.2.2: writing a state that is not supported changes nothing.
    space.on_write(offset_ + 4, 2, [this](std::uint32_t before) {
      if (state() == 1 || state() == 2) space_.set(offset_ + 4, 2, before);
      const bool woken = (before & state_mask) == 3 && state() == 0;
      reset_due_ |= woken && !(before & no_soft_reset);
    });
  }
  PowerManagement(const PowerManagement&) = delete;

  unsigned offset() const { return offset_; }
  bool d0() const { return state() == 0; }
  /// Whether the function is to be reset, since it has come back from D3hot; once.
  bool take_reset() { return std::exchange(reset_due_, false); }

 private:
  static constexpr std::uint32_t version = 3;
  static constexpr std::uint32_t no_soft_reset = 1u << 3;  // D3hot to D0 keeps all registers
  static constexpr std::uint32_t state_mask = 3;

  std::uint32_t state() const { return space_.get(offset_ + 4, 2) & state_mask; }

  ConfigSpace& space_;
  unsigned offset_;
  bool reset_due_ = false;
};

}  // namespace pcie
