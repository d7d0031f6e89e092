// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config/config_space.h"
#include "vp/time/time.h"

namespace pcie {

/// What the slot of a root port can do; none of it without `hot_plug`.
struct SlotConfig {
  bool hot_plug = false;    ///< tells software of changes
  bool surprise = false;    ///< a card may go without notice: that is no error
  bool button = false;      ///< attention button
  bool indicators = false;  ///< attention and power
  bool power = false;       ///< power controller, which sees power faults
  bool latch = false;       ///< holds the card, with a sensor (MRL)
  bool interlock = false;   ///< electromechanical, by which software holds the card
  /// From a write of Slot Control until its command is completed, of which software is told; with 0
  /// it is at once, and nobody is told.
  vp::Picoseconds command_time = 0;
};

/// Slot registers of the PCI Express capability (PCIe 5.0, 7.5.3.9 to 7.5.3.11) and what they
/// control. When a command is completed is for the port to say.
///
///     +0 capabilities: button 0, power controller 1, MRL sensor 2, indicators 4:3, surprise 5,
///                      hot-plug 6, interlock 17, no command completed 18, number 31:19
///     +4 control: enables of events 4:0, hot-plug interrupt 5, attention indicator 7:6, power
///                 indicator 9:8, power off 10, interlock to be toggled 11, enable of link changes
///                 12
///     +6 status: button pressed 0, power fault 1, latch moved 2, presence changed 3, command
///                completed 4, latch open 5, card present 6, interlock engaged 7, link changed 8
///
/// Of an indicator 1 is on, 2 blinks, 3 is off.
///
/// A power fault, or a latch that is opened, turns the power off that the power controller gives;
/// software gets it back by turning it off and on, with the latch closed (6.7.1.8).
class Slot {
 public:
  /// Registers from `offset` on. Throws ConfigurationError if a value is impossible.
  Slot(ConfigSpace& space, unsigned offset, const SlotConfig& config, unsigned number);
  Slot(const Slot&) = delete;

  const SlotConfig& config() const { return config_; }
  bool occupied() const { return occupied_; }
  bool powered() const { return wanted_ && !tripped_ && !(latch_open_ && config_.power); }
  /// A card cannot be moved: the interlock, or the closed latch, holds it.
  bool locked() const { return locked_; }
  bool latched() const { return config_.latch && !latch_open_; }

  void set_occupied(bool occupied);
  /// There is a card from power-up on, which is no event.
  void seat();
  /// False if there is no button.
  bool press_button();
  /// False if there is no latch, or it is so already.
  bool move_latch(bool open);
  /// False if there is no power controller, or no power.
  bool fail_power();
  /// Data Link Layer Link Active has changed.
  void link_changed();
  /// After a reset of the registers, which moves no card, latch or lock.
  void reset();
  /// What the last writes of Slot Control have asked for takes effect.
  void complete_command();

  /// An event has come that Slot Control enables interrupts for (6.7.3.4).
  bool interrupting() const;
  /// Calls `control` when software has written Slot Control, a command, and `status` when Slot
  /// Status.
  void on_write(const std::function<void()>& control, const std::function<void()>& status);

 private:
  static constexpr unsigned control_at = 4;
  static constexpr unsigned status_at = 6;

  void happened(std::uint32_t event);
  void show();
  void take_toggle();

  ConfigSpace& space_;
  const unsigned offset_;
  const SlotConfig config_;
  bool occupied_ = false;
  bool latch_open_ = false;
  bool locked_ = false;
  bool wanted_ = true;    // power, by the last command
  bool tripped_ = false;  // the power controller has turned it off
  bool toggles_ = false;  // the interlock, with the command under way
};

}  // namespace pcie
