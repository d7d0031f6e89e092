// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "models/pcie/config/config_space.h"
#include "vp/time/time.h"

namespace pcie {

/// The features of a port's hot-plug slot. All of them need `capable`.
struct HotPlugSlotConfig {
  bool capable = false;     ///< whether the hot-plug slot reports changes to software
  bool surprise = false;    ///< whether removing the card without notice is no error
  bool button = false;      ///< attention button
  bool indicators = false;  ///< attention and power indicator
  bool power = false;       ///< power controller, which also detects power faults
  bool latch = false;       ///< latch that holds the card, with a sensor (MRL)
  bool interlock = false;   ///< electromechanical interlock, by which software locks the card
  /// Time from a write of Slot Control until software is notified that the command is completed.
  /// With 0, commands take effect at once and software is not notified.
  vp::Picoseconds command_time = 0;

  /// Makes a hot-plug slot with these features, for example {&HotPlugSlotConfig::button}.
  static constexpr HotPlugSlotConfig with(std::initializer_list<bool HotPlugSlotConfig::*> features,
                                          vp::Picoseconds command_time = 0) {
    HotPlugSlotConfig config;
    config.capable = true;
    for (const auto feature : features) config.*feature = true;
    config.command_time = command_time;
    return config;
  }
};

/// The slot registers of the PCI Express capability (PCIe 5.0, 7.5.3.9 to 7.5.3.11) and the
/// hardware that they control. The port decides when a command is completed.
///
/// A power fault, or opening the latch, makes the power controller turn the power off. Software
/// restores the power by turning it off and on while the latch is closed (6.7.1.8).
class HotPlugSlot {
 public:
  // Offsets from the first slot register.
  static constexpr unsigned slot_capabilities = 0;
  static constexpr unsigned slot_control = 4;
  static constexpr unsigned slot_status = 6;

  /// Bits of Slot Capabilities.
  struct CapabilityBit {
    static constexpr std::uint32_t attention_button = 1u << 0;
    static constexpr std::uint32_t power_controller = 1u << 1;
    static constexpr std::uint32_t latch_sensor = 1u << 2;  ///< MRL sensor
    static constexpr std::uint32_t indicators = 3u << 3;    ///< attention 3, power 4
    static constexpr std::uint32_t hot_plug_surprise = 1u << 5;
    static constexpr std::uint32_t hot_plug_capable = 1u << 6;
    static constexpr std::uint32_t interlock = 1u << 17;
    static constexpr std::uint32_t no_command_completed = 1u << 18;
    static constexpr unsigned number_shift = 19;  ///< physical slot number, 31:19
  };
  /// Bits of Slot Control. The enables of events 4:0 are at the places of the events in Slot
  /// Status. An indicator is on with 1, blinks with 2 and is off with 3.
  struct ControlBit {
    static constexpr std::uint32_t hot_plug_interrupt_enable = 1u << 5;
    static constexpr std::uint32_t indicators = 3u << 6 | 3u << 8;  ///< attention 7:6, power 9:8
    static constexpr std::uint32_t indicators_off = 3u << 6 | 3u << 8;
    static constexpr std::uint32_t power_off = 1u << 10;
    static constexpr std::uint32_t toggle_interlock = 1u << 11;
    static constexpr std::uint32_t link_changed_enable = 1u << 12;
  };
  /// Bits of Slot Status: events, which software clears by writing 1, and states.
  struct StatusBit {
    static constexpr std::uint32_t button_pressed = 1u << 0;
    static constexpr std::uint32_t power_fault = 1u << 1;
    static constexpr std::uint32_t latch_changed = 1u << 2;
    static constexpr std::uint32_t presence_changed = 1u << 3;
    static constexpr std::uint32_t command_completed = 1u << 4;
    static constexpr std::uint32_t latch_open = 1u << 5;         ///< a state
    static constexpr std::uint32_t presence_detect = 1u << 6;    ///< a state
    static constexpr std::uint32_t interlock_engaged = 1u << 7;  ///< a state
    static constexpr std::uint32_t link_changed = 1u << 8;
  };

  /// The registers begin at `offset`. `number` is the physical slot number, 0 to 8191. Throws
  /// ConfigurationError if a value is impossible.
  HotPlugSlot(ConfigSpace& space, unsigned offset, const HotPlugSlotConfig& config,
              unsigned number);
  HotPlugSlot(const HotPlugSlot&) = delete;

  const HotPlugSlotConfig& config() const { return config_; }
  bool occupied() const { return occupied_; }
  bool powered() const { return wanted_ && !tripped_ && !(latch_open_ && config_.power); }
  /// Whether the interlock holds the card.
  bool locked() const { return locked_; }
  /// Whether the closed latch holds the card.
  bool latched() const { return config_.latch && !latch_open_; }

  void set_occupied(bool occupied);
  /// Marks the hot-plug slot as occupied since power-up, without an event.
  void seat();
  /// Returns false if there is no button.
  bool press_button();
  /// Returns false if there is no latch or it is already in that position.
  bool move_latch(bool open);
  /// Returns false if there is no power controller or the power is off.
  bool fail_power();
  /// Data Link Layer Link Active has changed.
  void link_changed();
  /// Must be called after a reset of the registers, which moves no card, latch or lock.
  void reset();
  /// Applies what the last writes of Slot Control have requested.
  void complete_command();

  /// Whether an event is set for which Slot Control enables interrupts (6.7.3.4).
  bool interrupting() const;
  /// Calls `control` when software has written Slot Control, which is a command, and `status` when
  /// it has written Slot Status.
  void on_write(const std::function<void()>& control, const std::function<void()>& status);

 private:
  void set_event(std::uint32_t event);
  void update_status();
  void consume_toggle();

  ConfigSpace& space_;
  const unsigned offset_;
  const HotPlugSlotConfig config_;
  bool occupied_ = false;
  bool latch_open_ = false;
  bool locked_ = false;
  bool wanted_ = true;    // whether the last command requests power
  bool tripped_ = false;  // whether the power controller has turned the power off
  bool toggles_ = false;  // whether the pending command toggles the interlock
};

}  // namespace pcie
