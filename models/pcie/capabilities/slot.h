// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config_space.h"

namespace pcie {

/// What the slot of a root port can do; none of it without `hot_plug`.
struct SlotConfig {
  bool hot_plug = false;    ///< tells software of changes
  bool surprise = false;    ///< a card may go without notice: that is no error
  bool button = false;      ///< attention button
  bool indicators = false;  ///< attention and power
  bool power = false;       ///< power controller
};

/// Slot registers of the PCI Express capability (PCIe 5.0, 7.5.3.9 to 7.5.3.11). Commands take
/// effect at once, so none is told to be completed; no latch, no interlock.
///
///     +0 capabilities: button 0, power controller 1, indicators 4:3, surprise 5, hot-plug 6,
///                      no command completed 18, number 31:19
///     +4 control: enables of events 0 and 3, hot-plug interrupt 5, attention indicator 7:6,
///                 power indicator 9:8, power off 10, enable of link changes 12
///     +6 status: button pressed 0, presence changed 3, card present 6, link changed 8
///
/// Of an indicator 1 is on, 2 blinks, 3 is off.
class Slot {
 public:
  /// Registers from `offset` on. Throws ConfigurationError if a value is impossible.
  Slot(ConfigSpace& space, unsigned offset, const SlotConfig& config, unsigned number);
  Slot(const Slot&) = delete;

  const SlotConfig& config() const { return config_; }
  bool occupied() const { return occupied_; }
  bool powered() const { return !space_.test(offset_ + control, 10); }

  void set_occupied(bool occupied);
  /// There is a card from power-up on, which is no event.
  void seat();
  /// False if there is no button.
  bool press_button();
  /// Data Link Layer Link Active has changed.
  void link_changed();
  /// After a reset of the registers, which moves no card.
  void reset();

  /// An event has come that Slot Control enables interrupts for (6.7.3.4).
  bool interrupting() const;
  /// Calls `action` when software has written Slot Control or Slot Status.
  void on_write(const std::function<void()>& action);

 private:
  static constexpr unsigned control = 4;
  static constexpr unsigned status = 6;

  void happened(std::uint32_t event);

  ConfigSpace& space_;
  const unsigned offset_;
  const SlotConfig config_;
  bool occupied_ = false;
};

}  // namespace pcie
