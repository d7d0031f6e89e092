// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace rtl {

/// The edges of a clock. Edge n is at floor(n x 1 s / frequency) in whole picoseconds. Errors do
/// not add up even if the frequency does not divide a second. Edge 0 is at time 0.
class ClockGrid {
 public:
  /// `hertz` is 1 Hz to 1 THz.
  explicit ClockGrid(std::uint64_t hertz)
      : hertz_(hertz), period_(second % hertz == 0 ? second / hertz : 0) {}

  vp::Picoseconds time(std::uint64_t edge) const {
    if (period_ != 0) return static_cast<vp::Picoseconds>(edge * period_);
    const std::uint64_t seconds = edge / hertz_;
    return static_cast<vp::Picoseconds>(seconds * second +
                                        divide(edge % hertz_ * Wide{second}, hertz_));
  }

  /// The period in ps, or 0 if it is not a whole number.
  vp::Picoseconds period() const { return static_cast<vp::Picoseconds>(period_); }

  /// Returns the first edge later than `time`, which is 0 or more.
  std::uint64_t after(vp::Picoseconds time) const {
    if (period_ != 0) return static_cast<std::uint64_t>(time) / period_ + 1;
    // The smallest n with n x second / hertz >= time + 1
    const auto limit = static_cast<std::uint64_t>(time) + 1;
    return limit / second * hertz_ + divide(limit % second * Wide{hertz_} + second - 1, second);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t second = vp::s;

  static std::uint64_t divide(Wide a, std::uint64_t b) { return static_cast<std::uint64_t>(a / b); }

  std::uint64_t hertz_;
  std::uint64_t period_;  // ps; 0 if it is not a whole number
};

}  // namespace rtl
