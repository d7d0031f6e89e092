// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/models/pcie/fixture.h"

namespace pcie {

inline constexpr std::uint32_t function_level_reset = PciExpress::DeviceControlBit::initiate_reset;
inline constexpr std::uint32_t pending_bit = PciExpress::DeviceStatusBit::transactions_pending;
inline constexpr std::uint32_t link_training = PciExpress::LinkStatusBit::link_training;
inline constexpr std::uint32_t link_active = PciExpress::LinkStatusBit::link_active;

/// A fixture with links that take time, and what scripts of resets share.
struct ResetFixture : Fixture {
  explicit ResetFixture(const Config& config = configuration()) : Fixture(config) {
    memory.fill();
    endpoint.function(0).on_reset([this] { ++notified; });
  }
  static Config configuration() {
    Config config;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.training = 50 * vp::us;
    return config;
  }
  // Capabilities must be found before a reset, since a function in reset does not answer.
  void find() {
    express = find_capability(device, PciExpress::id);
    port_express = find_capability(root_port, PciExpress::id);
    power = find_capability(device, PowerManagement::id);
  }
  void begin() {
    enumerate();
    find();
  }
  void initiate() {
    const std::uint32_t control = config_read(device, express + PciExpress::device_control, 2);
    config_write(device, express + PciExpress::device_control, control | function_level_reset, 2);
  }
  void hold() {
    config_write(root_port, Type1Header::bridge_control,
                 Type1Header::BridgeControlBit::secondary_bus_reset, 2);
  }
  void release() { config_write(root_port, Type1Header::bridge_control, 0, 2); }
  std::uint32_t link_status() {
    return config_read(root_port, port_express + PciExpress::link_status, 2);
  }
  void wait_for_link() {
    while (!(link_status() & link_active)) pause(1 * vp::us);
  }

  unsigned notified = 0;
  unsigned express = 0, port_express = 0, power = 0;
};

}  // namespace pcie
