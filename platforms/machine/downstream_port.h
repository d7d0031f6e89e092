// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/hierarchy/downstream_port.h"
#include "platforms/description/platform.h"
#include "platforms/machine/credits.h"

namespace platform {

/// The supported states as bits of pcie::ActiveState.
inline unsigned active_states(const PcieLink& link) {
  return (link.aspm.l0s ? unsigned{pcie::l0s} : 0) | (link.aspm.l1 ? unsigned{pcie::l1} : 0);
}

/// Takes from a link of the platform file what concerns the port at its upper end.
inline void set_downstream_port(pcie::DownstreamPortConfig& port, const PcieLink& link) {
  port.generation = link.generation;
  port.lanes = link.lanes;
  port.credits = credit_config(link.credits_up, link);
  port.hot_plug.capable = link.hot_plug.capable;
  port.hot_plug.surprise = link.hot_plug.surprise;
  port.hot_plug.button = link.hot_plug.attention_button;
  port.hot_plug.indicators = link.hot_plug.indicators;
  port.hot_plug.power = link.hot_plug.power_controller;
  port.hot_plug.latch = link.hot_plug.latch;
  port.hot_plug.interlock = link.hot_plug.interlock;
  port.hot_plug.command_time = link.hot_plug.command_time;
  port.containment = link.downstream_port_containment;
  port.active_states = active_states(link);
  port.eye = {link.eye.timing, link.eye.voltage};
}

}  // namespace platform
