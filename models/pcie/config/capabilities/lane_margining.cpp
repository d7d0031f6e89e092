// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/lane_margining.h"

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned no_command = 0x9c38;  // 4.2.13.1: receiver 0, type 7, payload 0x9c
constexpr unsigned usual_limit = 4;      // of errors
constexpr unsigned most_errors = 63;

enum Type : unsigned { reports = 1, sets = 2, steps_timing = 3, steps_voltage = 4, none = 7 };
enum StepStatus : unsigned { too_many_errors = 0, in_progress = 2, refused = 3 };

// What Report Margin Control Capabilities says: voltage supported 0, up and down 1, left and right
// 2 independent, errors counted, rather than sampled 3, by a sampler of their own 4.
constexpr unsigned control_capabilities = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4;
constexpr unsigned timing_offset = 40;   // at most, in 1/100 of a unit interval
constexpr unsigned voltage_offset = 20;  // at most, in 1/100 V
constexpr unsigned sampling_rate = 63;   // every bit

}  // namespace

LaneMargining::LaneMargining(ConfigSpace& space, PortType type, unsigned lanes, const Eye& eye)
    : space_(space),
      lanes_(lanes),
      receiver_(is_above_link(type) ? 1 : 6),
      eye_(eye),
      offset_(space.add_extended_capability(0x0027, 1, 8 + 4 * lanes)) {
  if (eye.timing > timing_steps || eye.voltage > voltage_steps) {
    throw ConfigurationError("an eye reaches at most 16 steps of timing and 32 of voltage");
  }
  space.define({offset_ + 4, 2});
  space.define({offset_ + 6, 2});
  space.keep(Reset::function, offset_ + 6, 2, 0xffff);  // the link's
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned at = control_at(lane);
    space.define({at, 2, no_command, 0xff7f});
    space.define({at + 2, 2});
    space.keep(Reset::function, at, 4, ~0u);
    space.on_write(at, 2, [this, lane](std::uint32_t) { perform(lane); });
  }
  limits_.fill(usual_limit);
}

void LaneMargining::trained(unsigned generation) {
  space_.set(offset_ + 6, 2, generation >= 4 ? 1 : 0);
  limits_.fill(usual_limit);
}

void LaneMargining::perform(unsigned lane) {
  const unsigned value = space_.get(control_at(lane), 2);
  const Command command{value & 7, value >> 3 & 7, value >> 8};
  const bool ready = space_.test(offset_ + 6, 0);
  const bool other_model = value >> 6 & 1;
  if (!ready || other_model) return;
  const auto payload = answer(lane, command);
  if (payload) space_.set(control_at(lane) + 2, 2, (value & 0x3f) | *payload << 8);
}

std::optional<unsigned> LaneMargining::answer(unsigned lane, const Command& command) {
  const unsigned payload = command.payload;
  if (command.type == none) {
    return command.receiver == 0 && payload == no_command >> 8 ? std::optional(payload)
                                                               : std::nullopt;
  }
  if (command.type == sets && command.receiver == 0) return set(lane, payload);
  if (command.receiver != receiver_) return {};
  switch (command.type) {
    case reports:
      return report(payload);
    case sets:
      return set(lane, payload);
    case steps_timing:
      if (payload >> 7 != 0) return {};
      return step(lane, payload & 0x3f, timing_steps, eye_.timing);
    case steps_voltage:
      return step(lane, payload & 0x7f, voltage_steps, eye_.voltage);
    default:
      return {};
  }
}

std::optional<unsigned> LaneMargining::report(unsigned payload) const {
  switch (payload) {
    case 0x88:
      return control_capabilities;
    case 0x89:
      return voltage_steps;
    case 0x8a:
      return timing_steps;
    case 0x8b:
      return timing_offset;
    case 0x8c:
      return voltage_offset;
    case 0x8d:
    case 0x8e:
      return sampling_rate;
    case 0x8f:
      return 0;  // of samples, which are not what is counted
    case 0x90:
      return lanes_ - 1;  // all at a time
    default:
      return {};
  }
}

std::optional<unsigned> LaneMargining::set(unsigned lane, unsigned payload) {
  constexpr unsigned normal_settings = 0x0f, clear_errors = 0x55, error_limit = 0xc0;
  if (payload == normal_settings || payload == clear_errors) return payload;
  if ((payload & error_limit) != error_limit) return {};
  limits_[lane] = payload & 0x3f;
  return payload;
}

unsigned LaneMargining::step(unsigned lane, unsigned steps, unsigned most, unsigned eye) const {
  if (steps > most) return refused << 6;
  const unsigned beyond = steps > eye ? steps - eye : 0;
  const unsigned errors = beyond >= 6 ? most_errors : (1u << beyond) - 1;
  return (errors > limits_[lane] ? too_many_errors : in_progress) << 6 | errors;
}

}  // namespace pcie
