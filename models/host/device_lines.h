// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/host/cache_line.h"

namespace host {

/// Lines of device memory that a host's caches hold: written through, so never dirty. Full
/// associativity; the line that was used longest ago makes room.
class DeviceLines {
 public:
  /// `count` from 1 up.
  explicit DeviceLines(unsigned count) : lines_(count) {}

  /// The line's data, or nullptr if it is not held. Counts as a use.
  LineData* find(std::uint64_t address);
  /// Holds the line of `address`, which is not held yet.
  void insert(std::uint64_t address, const LineData& data);
  void drop(std::uint64_t address);
  void clear();

 private:
  struct Line {
    std::uint64_t address = 0;
    std::uint64_t used = 0;  // when, in uses; 0: not held
    LineData data;
  };

  Line* held(std::uint64_t address);

  std::vector<Line> lines_;
  std::uint64_t uses_ = 0;
};

}  // namespace host
