// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vp/time/time.h"

namespace pcie {

/// The low-power states that a link enters by itself while it carries no traffic (ASPM, PCIe 5.0,
/// 5.4.1). The values are the bits of Link Capabilities and Link Control.
enum ActiveState : unsigned {
  l0s = 1u << 0,  ///< one direction sleeps; flit mode does not have it
  l1 = 1u << 1,   ///< both directions sleep
};

/// The time from the first packet that waits until the link is back in L0.
///
/// Leaving L0s takes 64 fast training sequences, in which the receiver locks onto the bits; each
/// has 4 symbols of 8b/10b or is one block of 130 bits (4.2.4.6). Leaving L1 takes Recovery after
/// electrical idle, with clocks and power on. `generation` is 1 to 6.
constexpr vp::Picoseconds exit_latency(ActiveState state, unsigned generation) {
  constexpr vp::Picoseconds of_l0s[] = {0,           64 * 16'000, 64 * 8'000,
                                        64 * 16'250, 64 * 8'125,  64 * 4'063};
  constexpr vp::Picoseconds of_l1[] = {0,          2 * vp::us, 2 * vp::us, 4 * vp::us,
                                       8 * vp::us, 8 * vp::us, 8 * vp::us};
  if (state == l0s) return generation > 5 ? 0 : of_l0s[generation];
  return of_l1[generation];
}

/// The code that Link Capabilities has for the exit latency (7.5.3.6). Code 0 means less than 64 ns
/// for L0s and less than 1 us for L1; each step doubles the limit.
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
