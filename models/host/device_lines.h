// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/host/cache_line.h"

namespace host {

/// The lines of device memory that a host's caches hold. They are written through, so they are
/// never dirty. The cache is fully associative and replaces the line that was used longest ago.
class DeviceLines {
 public:
  /// `count` is 1 or more.
  explicit DeviceLines(unsigned count) : lines_(count) {}

  /// Returns the line's data, or nullptr if it is not held. Counts as a use.
  LineData* find(std::uint64_t address);
  /// Adds the line of `address`, which is not held yet.
  void insert(std::uint64_t address, const LineData& data);
  void drop(std::uint64_t address);
  void clear();

 private:
  struct Line {
    std::uint64_t address = 0;
    std::uint64_t used = 0;  // number of its last use; 0: not held
    LineData data;
  };

  Line* held(std::uint64_t address);

  std::vector<Line> lines_;
  std::uint64_t uses_ = 0;
};

}  // namespace host
