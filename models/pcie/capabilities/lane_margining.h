// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config_space.h"

namespace pcie {

/// Lane Margining at the Receiver, of a port of 16 GT/s and more (PCIe 5.0, 7.7.7). Receivers have
/// no eye to measure, so that margining is never ready and commands stay without an answer.
///
///     +0 id 0x0027, version 1
///     +4 port capabilities: uses driver software 0
///     +6 port status: margining ready 0, software ready 1
///     +8 + 4 x lane: control, and 2 bytes on status: receiver 2:0, type 5:3, usage model 6,
///         payload 15:8
inline unsigned add_lane_margining(ConfigSpace& space, unsigned lanes) {
  constexpr std::uint32_t no_command = 0x9c38;  // 4.2.13.1: receiver 0, type 7, payload 0x9c
  const unsigned offset = space.add_extended_capability(0x0027, 1, 8 + 4 * lanes);
  space.define({offset + 4, 2});
  space.define({offset + 6, 2});
  for (unsigned lane = 0; lane < lanes; ++lane) {
    space.define({offset + 8 + 4 * lane, 2, no_command, 0xff7f});
    space.define({offset + 10 + 4 * lane, 2});
  }
  return offset;
}

}  // namespace pcie
