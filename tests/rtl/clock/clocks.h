// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace clocks {

/// Clocks that know nothing of each other. A period of 0 is a clock that stands still.
template <std::size_t count>
class Clocks {
 public:
  struct Clock {
    std::uint64_t period_fs;
    std::uint64_t phase_fs;
  };

  explicit Clocks(const std::array<Clock, count>& clocks) : clocks_(clocks) {
    for (std::size_t i = 0; i < count; ++i) next_[i] = clocks[i].phase_fs;
  }

  /// Goes on to the next edge, and says which of the clocks rise.
  std::array<bool, count> step() {
    std::uint64_t now = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < count; ++i) {
      if (clocks_[i].period_fs != 0) now = std::min(now, next_[i]);
    }
    std::array<bool, count> rises{};
    for (std::size_t i = 0; i < count; ++i) {
      rises[i] = clocks_[i].period_fs != 0 && next_[i] == now;
      if (rises[i]) next_[i] += clocks_[i].period_fs;
    }
    now_fs = now;
    return rises;
  }

  void stop(std::size_t i) { clocks_[i].period_fs = 0; }

  std::uint64_t now_fs = 0;

 private:
  std::array<Clock, count> clocks_;
  std::array<std::uint64_t, count> next_;
};

}  // namespace clocks
