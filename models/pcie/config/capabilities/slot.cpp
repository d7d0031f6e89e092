// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/slot.h"

#include <fmt/format.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

// Events have the same place in Slot Status and, but for the last, their enables in Slot Control.
constexpr std::uint32_t button_pressed = 1u << 0;
constexpr std::uint32_t power_fault = 1u << 1;
constexpr std::uint32_t latch_moved = 1u << 2;
constexpr std::uint32_t presence_changed = 1u << 3;
constexpr std::uint32_t command_completed = 1u << 4;
constexpr std::uint32_t link_active_changed = 1u << 8;
constexpr std::uint32_t link_active_changed_enable = 1u << 12;

constexpr std::uint32_t latch_is_open = 1u << 5;  // Slot Status
constexpr std::uint32_t present = 1u << 6;
constexpr std::uint32_t interlock_engaged = 1u << 7;

constexpr std::uint32_t hot_plug_interrupt_enable = 1u << 5;  // Slot Control
constexpr std::uint32_t indicators_off = 3u << 6 | 3u << 8;
constexpr std::uint32_t indicator_controls = 3u << 6 | 3u << 8;
constexpr std::uint32_t power_off = 1u << 10;
constexpr std::uint32_t toggle_interlock = 1u << 11;

std::uint32_t capabilities(const SlotConfig& config, unsigned number) {
  const bool untold = config.hot_plug && config.command_time == 0;
  return (config.button ? 1u << 0 : 0) | (config.power ? 1u << 1 : 0) |
         (config.latch ? 1u << 2 : 0) | (config.indicators ? 3u << 3 : 0) |
         (config.surprise ? 1u << 5 : 0) | (config.hot_plug ? 1u << 6 : 0) |
         (config.interlock ? 1u << 17 : 0) | (untold ? 1u << 18 : 0) | number << 19;
}

// But for the link's these are their enables, too.
std::uint32_t events(const SlotConfig& config) {
  if (!config.hot_plug) return 0;
  return presence_changed | link_active_changed | (config.button ? button_pressed : 0) |
         (config.power ? power_fault : 0) | (config.latch ? latch_moved : 0) |
         (config.command_time != 0 ? command_completed : 0);
}

}  // namespace

Slot::Slot(ConfigSpace& space, unsigned offset, const SlotConfig& config, unsigned number)
    : space_(space), offset_(offset), config_(config) {
  const bool more = config.surprise || config.button || config.indicators || config.power ||
                    config.latch || config.interlock || config.command_time != 0;
  if (!config.hot_plug && more) {
    throw ConfigurationError("only a hot-plug slot has anything to control or to tell of");
  }
  if (config.command_time < 0) throw ConfigurationError("a command takes a negative time");
  if (number > 0x1fff) throw ConfigurationError(fmt::format("slot {}: 0 to 8191", number));
  const std::uint32_t writable =
      (events(config) & ~link_active_changed) |
      (config.hot_plug ? hot_plug_interrupt_enable | link_active_changed_enable : 0) |
      (config.indicators ? indicator_controls : 0) | (config.power ? power_off : 0) |
      (config.interlock ? toggle_interlock : 0);
  space.define({offset, 4, capabilities(config, number)});
  space.define({offset + control_at, 2, config.indicators ? indicators_off : 0, writable});
  space.define({offset + status_at, 2, 0, 0, events(config)});
  space.on_write(offset + control_at, 2, [this](std::uint32_t) { take_toggle(); });
}

void Slot::set_occupied(bool occupied) {
  if (occupied == occupied_) return;
  occupied_ = occupied;
  show();
  happened(presence_changed);
}

void Slot::seat() {
  occupied_ = true;
  show();
}

bool Slot::press_button() {
  if (config_.button) happened(button_pressed);
  return config_.button;
}

bool Slot::move_latch(bool open) {
  if (!config_.latch || open == latch_open_) return false;
  tripped_ = tripped_ || (open && config_.power && wanted_);
  latch_open_ = open;
  show();
  happened(latch_moved);
  return true;
}

bool Slot::fail_power() {
  if (!config_.power || !powered()) return false;
  tripped_ = true;
  happened(power_fault);
  return true;
}

void Slot::link_changed() {
  happened(link_active_changed);
}

void Slot::reset() {
  wanted_ = true;
  tripped_ = latch_open_ && config_.power;
  toggles_ = false;
  show();
}

void Slot::complete_command() {
  const bool wanted = !space_.test(offset_ + control_at, 10);
  if (!wanted) tripped_ = false;
  if (wanted && !wanted_ && latch_open_ && config_.power) tripped_ = true;
  wanted_ = wanted;
  locked_ = locked_ != toggles_;
  toggles_ = false;
  show();
  happened(command_completed);
}

bool Slot::interrupting() const {
  const std::uint32_t enables = space_.get(offset_ + control_at, 2);
  if (!(enables & hot_plug_interrupt_enable)) return false;
  const std::uint32_t found = space_.get(offset_ + status_at, 2) & events(config_);
  const bool link = found & link_active_changed && enables & link_active_changed_enable;
  return link || found & enables & ~link_active_changed;
}

void Slot::on_write(const std::function<void()>& control, const std::function<void()>& status) {
  space_.on_write(offset_ + control_at, 2, [control](std::uint32_t) { control(); });
  space_.on_write(offset_ + status_at, 2, [status](std::uint32_t) { status(); });
}

// Each write of 1 toggles, and always reads 0.
void Slot::take_toggle() {
  const std::uint32_t value = space_.get(offset_ + control_at, 2);
  if (value & toggle_interlock) toggles_ = !toggles_;
  space_.set(offset_ + control_at, 2, value & ~toggle_interlock);
}

void Slot::happened(std::uint32_t event) {
  const std::uint32_t before = space_.get(offset_ + status_at, 2);
  space_.set(offset_ + status_at, 2, before | (event & events(config_)));
}

void Slot::show() {
  constexpr std::uint32_t shown = latch_is_open | present | interlock_engaged;
  const std::uint32_t others = space_.get(offset_ + status_at, 2) & ~shown;
  space_.set(offset_ + status_at, 2,
             others | (latch_open_ ? latch_is_open : 0) | (occupied_ ? present : 0) |
                 (locked_ ? interlock_engaged : 0));
}

}  // namespace pcie
