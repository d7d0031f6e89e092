// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <systemc>

namespace vp {

/// Simulated time or a span of it, in whole picoseconds; 63 bits hold 106 days.
using Picoseconds = std::int64_t;

inline constexpr Picoseconds ns = 1'000;
inline constexpr Picoseconds us = 1'000 * ns;
inline constexpr Picoseconds ms = 1'000 * us;
inline constexpr Picoseconds s = 1'000 * ms;

/// Later than everything.
inline constexpr Picoseconds never = std::numeric_limits<Picoseconds>::max();

/// The present time of the SystemC kernel, whose resolution is one picosecond.
inline Picoseconds now() {
  return static_cast<Picoseconds>(sc_core::sc_get_curr_simcontext()->time_stamp().value());
}

/// The span as a time of SystemC. Unlike sc_time::from_value(), it does not ask the kernel whether
/// the resolution may still change, since it never does.
sc_core::sc_time to_sc_time(Picoseconds span);

}  // namespace vp
