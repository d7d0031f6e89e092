// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/capabilities/slot.h"

#include <fmt/format.h>

#include "models/pcie/errors.h"

namespace pcie {
namespace {

// Events have the same place in Slot Status and, but for the last, their enables in Slot Control.
constexpr std::uint32_t button_pressed = 1u << 0;
constexpr std::uint32_t presence_changed = 1u << 3;
constexpr std::uint32_t link_active_changed = 1u << 8;
constexpr std::uint32_t link_active_changed_enable = 1u << 12;

constexpr std::uint32_t present = 1u << 6;  // Slot Status

constexpr std::uint32_t hot_plug_interrupt_enable = 1u << 5;  // Slot Control
constexpr std::uint32_t indicators_off = 3u << 6 | 3u << 8;
constexpr std::uint32_t indicator_controls = 3u << 6 | 3u << 8;
constexpr std::uint32_t power_off = 1u << 10;

std::uint32_t capabilities(const SlotConfig& config, unsigned number) {
  return (config.button ? 1u << 0 : 0) | (config.power ? 1u << 1 : 0) |
         (config.indicators ? 3u << 3 : 0) | (config.surprise ? 1u << 5 : 0) |
         (config.hot_plug ? 1u << 6 | 1u << 18 : 0) | number << 19;
}

std::uint32_t events(const SlotConfig& config) {
  return config.hot_plug
             ? presence_changed | link_active_changed | (config.button ? button_pressed : 0)
             : 0;
}

}  // namespace

Slot::Slot(ConfigSpace& space, unsigned offset, const SlotConfig& config, unsigned number)
    : space_(space), offset_(offset), config_(config) {
  if (!config.hot_plug && (config.surprise || config.button || config.indicators || config.power)) {
    throw ConfigurationError("only a hot-plug slot has surprises, button, indicators or power");
  }
  if (number > 0x1fff) throw ConfigurationError(fmt::format("slot {}: 0 to 8191", number));
  const std::uint32_t writable =
      (config.hot_plug ? presence_changed | hot_plug_interrupt_enable | link_active_changed_enable
                       : 0) |
      (config.button ? button_pressed : 0) | (config.indicators ? indicator_controls : 0) |
      (config.power ? power_off : 0);
  space.define({offset, 4, capabilities(config, number)});
  space.define({offset + control, 2, config.indicators ? indicators_off : 0, writable});
  space.define({offset + status, 2, 0, 0, events(config)});
}

void Slot::set_occupied(bool occupied) {
  if (occupied == occupied_) return;
  occupied_ = occupied;
  reset();
  happened(presence_changed);
}

void Slot::seat() {
  occupied_ = true;
  reset();
}

bool Slot::press_button() {
  if (config_.button) happened(button_pressed);
  return config_.button;
}

void Slot::link_changed() {
  happened(link_active_changed);
}

void Slot::reset() {
  const std::uint32_t others = space_.get(offset_ + status, 2) & ~present;
  space_.set(offset_ + status, 2, others | (occupied_ ? present : 0));
}

bool Slot::interrupting() const {
  const std::uint32_t enables = space_.get(offset_ + control, 2);
  if (!(enables & hot_plug_interrupt_enable)) return false;
  const std::uint32_t found = space_.get(offset_ + status, 2) & events(config_);
  const bool link = found & link_active_changed && enables & link_active_changed_enable;
  return link || found & enables & (button_pressed | presence_changed);
}

void Slot::on_write(const std::function<void()>& action) {
  for (const unsigned at : {control, status}) {
    space_.on_write(offset_ + at, 2, [action](std::uint32_t) { action(); });
  }
}

void Slot::happened(std::uint32_t event) {
  const std::uint32_t before = space_.get(offset_ + status, 2);
  space_.set(offset_ + status, 2, before | (event & events(config_)));
}

}  // namespace pcie
