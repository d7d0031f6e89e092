// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/lane_margining.h"

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned default_error_limit = 4;
constexpr unsigned most_errors = 63;

enum Type : unsigned { reports = 1, sets = 2, steps_timing = 3, steps_voltage = 4, none = 7 };
enum StepStatus : unsigned { too_many_errors = 0, in_progress = 2, refused = 3 };

// The payloads that request a report (4.2.13.1.2).
enum Report : unsigned {
  report_control_capabilities = 0x88,
  report_voltage_steps = 0x89,
  report_timing_steps = 0x8a,
  report_timing_offset = 0x8b,
  report_voltage_offset = 0x8c,
  report_voltage_sampling_rate = 0x8d,
  report_timing_sampling_rate = 0x8e,
  report_sample_count = 0x8f,
  report_most_lanes = 0x90,
};

// Margin Control Capabilities: voltage is supported (0), up and down (1) and left and right (2) are
// independent, errors are counted rather than sampled (3), and the sampler is independent (4).
constexpr unsigned control_capabilities = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 4;
constexpr unsigned timing_offset = 40;   // the largest, in 1/100 of a unit interval
constexpr unsigned voltage_offset = 20;  // the largest, in 1/100 V
constexpr unsigned sampling_rate = 63;   // every bit is sampled

}  // namespace

LaneMargining::LaneMargining(ConfigSpace& space, PortType type, unsigned lanes, const Eye& eye)
    : space_(space),
      lanes_(lanes),
      receiver_(is_above_link(type) ? 1 : 6),
      eye_(eye),
      offset_(space.add_extended_capability(id, 1, first_control + 4 * lanes)) {
  if (eye.timing > timing_steps || eye.voltage > voltage_steps) {
    throw ConfigurationError("an eye must have at most 16 steps of timing and 32 of voltage");
  }
  space.define({offset_ + port_capabilities, 2});
  space.define({offset_ + port_status, 2});
  space.keep(Reset::function, offset_ + port_status, 2, 0xffff);  // a property of the link
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned at = control_at(lane);
    space.define({at, 2, no_command, control_writable});
    space.define({at + 2, 2});
    space.keep(Reset::function, at, 4, ~0u);
    space.on_write(at, 2, [this, lane](std::uint32_t) { perform(lane); });
  }
  limits_.fill(default_error_limit);
}

void LaneMargining::trained(unsigned generation) {
  space_.set(offset_ + port_status, 2, generation >= 4 ? margining_ready : 0);
  limits_.fill(default_error_limit);
}

void LaneMargining::perform(unsigned lane) {
  const unsigned value = space_.get(control_at(lane), 2);
  const Command command{value & 7, value >> 3 & 7, value >> 8};
  const bool ready = space_.any(offset_ + port_status, margining_ready);
  const bool other_model = value & usage_model;
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
    case report_control_capabilities:
      return control_capabilities;
    case report_voltage_steps:
      return voltage_steps;
    case report_timing_steps:
      return timing_steps;
    case report_timing_offset:
      return timing_offset;
    case report_voltage_offset:
      return voltage_offset;
    case report_voltage_sampling_rate:
    case report_timing_sampling_rate:
      return sampling_rate;
    case report_sample_count:
      return 0;  // the sampler counts errors, not samples
    case report_most_lanes:
      return lanes_ - 1;  // all lanes can be margined together
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
