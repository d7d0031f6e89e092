// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/hot_plug_slot.h"

#include <fmt/format.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

using Capability = HotPlugSlot::CapabilityBit;
using Control = HotPlugSlot::ControlBit;
using Event = HotPlugSlot::StatusBit;

std::uint32_t capabilities(const HotPlugSlotConfig& config, unsigned number) {
  const bool immediate = config.capable && config.command_time == 0;
  return (config.button ? Capability::attention_button : 0) |
         (config.power ? Capability::power_controller : 0) |
         (config.latch ? Capability::latch_sensor : 0) |
         (config.indicators ? Capability::indicators : 0) |
         (config.surprise ? Capability::hot_plug_surprise : 0) |
         (config.capable ? Capability::hot_plug_capable : 0) |
         (config.interlock ? Capability::interlock : 0) |
         (immediate ? Capability::no_command_completed : 0) | number << Capability::number_shift;
}

// The events that the hot-plug slot can report. Their enables are at the same places in Slot
// Control, except that of link changes.
std::uint32_t events(const HotPlugSlotConfig& config) {
  if (!config.capable) return 0;
  return Event::presence_changed | Event::link_changed |
         (config.button ? Event::button_pressed : 0) | (config.power ? Event::power_fault : 0) |
         (config.latch ? Event::latch_changed : 0) |
         (config.command_time != 0 ? Event::command_completed : 0);
}

}  // namespace

HotPlugSlot::HotPlugSlot(ConfigSpace& space, unsigned offset, const HotPlugSlotConfig& config,
                         unsigned number)
    : space_(space), offset_(offset), config_(config) {
  const bool more = config.surprise || config.button || config.indicators || config.power ||
                    config.latch || config.interlock || config.command_time != 0;
  if (!config.capable && more) {
    throw ConfigurationError(
        "a slot that is not hot-plug capable has nothing to control or to report");
  }
  if (config.command_time < 0) {
    throw ConfigurationError("the time of a hot-plug command must not be negative");
  }
  if (number > 0x1fff) {
    throw ConfigurationError(fmt::format("slot number {} is not 0 to 8191", number));
  }
  const std::uint32_t writable =
      (events(config) & ~Event::link_changed) |
      (config.capable ? Control::hot_plug_interrupt_enable | Control::link_changed_enable : 0) |
      (config.indicators ? Control::indicators : 0) | (config.power ? Control::power_off : 0) |
      (config.interlock ? Control::toggle_interlock : 0);
  space.define({offset + slot_capabilities, 4, capabilities(config, number)});
  space.define(
      {offset + slot_control, 2, config.indicators ? Control::indicators_off : 0, writable});
  space.define({offset + slot_status, 2, 0, 0, events(config)});
  space.on_write(offset + slot_control, 2, [this](std::uint32_t) { consume_toggle(); });
}

void HotPlugSlot::set_occupied(bool occupied) {
  if (occupied == occupied_) return;
  occupied_ = occupied;
  update_status();
  set_event(Event::presence_changed);
}

void HotPlugSlot::seat() {
  occupied_ = true;
  update_status();
}

bool HotPlugSlot::press_button() {
  if (config_.button) set_event(Event::button_pressed);
  return config_.button;
}

bool HotPlugSlot::move_latch(bool open) {
  if (!config_.latch || open == latch_open_) return false;
  tripped_ = tripped_ || (open && config_.power && wanted_);
  latch_open_ = open;
  update_status();
  set_event(Event::latch_changed);
  return true;
}

bool HotPlugSlot::fail_power() {
  if (!config_.power || !powered()) return false;
  tripped_ = true;
  set_event(Event::power_fault);
  return true;
}

void HotPlugSlot::link_changed() {
  set_event(Event::link_changed);
}

void HotPlugSlot::reset() {
  wanted_ = true;
  tripped_ = latch_open_ && config_.power;
  toggles_ = false;
  update_status();
}

void HotPlugSlot::complete_command() {
  const bool wanted = !space_.any(offset_ + slot_control, Control::power_off);
  if (!wanted) tripped_ = false;
  if (wanted && !wanted_ && latch_open_ && config_.power) tripped_ = true;
  wanted_ = wanted;
  locked_ = locked_ != toggles_;
  toggles_ = false;
  update_status();
  set_event(Event::command_completed);
}

bool HotPlugSlot::interrupting() const {
  const std::uint32_t enables = space_.get(offset_ + slot_control, 2);
  if (!(enables & Control::hot_plug_interrupt_enable)) return false;
  const std::uint32_t found = space_.get(offset_ + slot_status, 2) & events(config_);
  const bool link = found & Event::link_changed && enables & Control::link_changed_enable;
  return link || found & enables & ~Event::link_changed;
}

void HotPlugSlot::on_write(const std::function<void()>& control,
                           const std::function<void()>& status) {
  space_.on_write(offset_ + slot_control, 2, [control](std::uint32_t) { control(); });
  space_.on_write(offset_ + slot_status, 2, [status](std::uint32_t) { status(); });
}

// Each write of 1 toggles the interlock. The bit always reads 0.
void HotPlugSlot::consume_toggle() {
  const std::uint32_t value = space_.get(offset_ + slot_control, 2);
  if (value & Control::toggle_interlock) toggles_ = !toggles_;
  space_.set(offset_ + slot_control, 2, value & ~Control::toggle_interlock);
}

void HotPlugSlot::set_event(std::uint32_t event) {
  const std::uint32_t supported = event & events(config_);
  space_.change(offset_ + slot_status, 2, supported, supported);
}

void HotPlugSlot::update_status() {
  constexpr std::uint32_t states =
      Event::latch_open | Event::presence_detect | Event::interlock_engaged;
  space_.change(offset_ + slot_status, 2, states,
                (latch_open_ ? Event::latch_open : 0) | (occupied_ ? Event::presence_detect : 0) |
                    (locked_ ? Event::interlock_engaged : 0));
}

}  // namespace pcie
