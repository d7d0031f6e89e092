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
  port.credits = credit_config(link.credits_up);
  port.slot = {link.slot.hot_plug,   link.slot.surprise,         link.slot.attention_button,
               link.slot.indicators, link.slot.power_controller, link.slot.latch,
               link.slot.interlock,  link.slot.command_time};
  port.containment = link.downstream_port_containment;
  port.active_states = active_states(link);
  port.eye = {link.eye.timing, link.eye.voltage};
}

}  // namespace platform
