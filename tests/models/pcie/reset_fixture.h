// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/models/pcie/fixture.h"

namespace pcie {

inline constexpr std::uint32_t function_level_reset = 1u << 15;  // Device Control
inline constexpr std::uint32_t pending_bit = 1u << 5;            // Device Status
inline constexpr std::uint32_t link_training = 1u << 11;         // Link Status
inline constexpr std::uint32_t link_active = 1u << 13;

/// A fixture with links that take time, and what scripts of resets share.
struct ResetFixture : Fixture {
  explicit ResetFixture(const Config& config = configuration()) : Fixture(config) {
    memory.fill();
    endpoint.function(0).on_reset([this] { ++told; });
  }
  static Config configuration() {
    Config config;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.training = 50 * vp::us;
    return config;
  }
  // Linux, too, finds its way before the reset: a function in reset does not answer.
  void find() {
    express = find_capability(device, 0x10);
    port_express = find_capability(root_port, 0x10);
    power = find_capability(device, 1);
  }
  void begin() {
    enumerate();
    find();
  }
  void initiate() {
    const std::uint32_t control = config_read(device, express + 8, 2);
    config_write(device, express + 8, control | function_level_reset, 2);
  }
  void hold() { config_write(root_port, 0x3e, 0x40, 2); }
  void release() { config_write(root_port, 0x3e, 0, 2); }
  std::uint32_t link_status() { return config_read(root_port, port_express + 0x12, 2); }
  void wait_for_link() {
    while (!(link_status() & link_active)) pause(1 * vp::us);
  }

  unsigned told = 0;
  unsigned express = 0, port_express = 0, power = 0;
};

}  // namespace pcie
