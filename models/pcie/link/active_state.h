// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/time/time.h"

namespace pcie {

/// Low-power states that a link goes into by itself while nothing is sent (ASPM, PCIe 5.0, 5.4.1),
/// as bits of Link Capabilities and Link Control.
enum ActiveState : unsigned {
  l0s = 1u << 0,  ///< one direction; not in flit mode
  l1 = 1u << 1,   ///< both
};

/// From the first packet that wants to leave until the link is in L0 again.
///
/// L0s: 64 fast training sequences for the receiver's bit lock, each 4 symbols of 8b/10b or one
/// block of 130 bits (4.2.4.6). L1: Recovery after electrical idle, with clocks and power on.
constexpr vp::Picoseconds exit_latency(ActiveState state, unsigned generation) {
  constexpr vp::Picoseconds of_l0s[] = {0,           64 * 16'000, 64 * 8'000,
                                        64 * 16'250, 64 * 8'125,  64 * 4'063};
  constexpr vp::Picoseconds of_l1[] = {0,          2 * vp::us, 2 * vp::us, 4 * vp::us,
                                       8 * vp::us, 8 * vp::us, 8 * vp::us};
  if (state == l0s) return generation > 5 ? 0 : of_l0s[generation];
  return of_l1[generation];
}

/// As Link Capabilities has it (7.5.3.6): 0 is less than 64 ns, or 1 us for L1; each step is double
/// that.
constexpr unsigned exit_latency_code(ActiveState state, unsigned generation) {
  const vp::Picoseconds latency = exit_latency(state, generation);
  unsigned code = 0;
  for (vp::Picoseconds limit = state == l0s ? 64 * vp::ns : 1 * vp::us;
       latency >= limit && code < 7; limit *= 2) {
    ++code;
  }
  return code;
}

}  // namespace pcie
