// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vp/time/time.h"

namespace vp {

/// The distribution of a span of simulated time, exact to the picosecond.
///
/// Samples are counted by value, since models with fixed delays have few distinct values. Memory is
/// bounded: if there are more than `max_values` distinct values, they are rounded down to multiples
/// of a power of two picoseconds, the smallest one that makes them few enough. Count, minimum and
/// maximum remain exact.
class Latency {
 public:
  /// A distinct value occupies 16 bytes, and up to 40 while values are merged: at most 40 MiB in
  /// all.
  explicit Latency(std::size_t max_values = std::size_t{1} << 20) : max_values_(max_values) {}

  struct Summary {
    std::uint64_t count = 0;
    Picoseconds min = 0;
    Picoseconds median = 0;  ///< the smallest sample that at least half of all do not exceed
    Picoseconds p99 = 0;     ///< the smallest sample that at least 99 of 100 do not exceed
    Picoseconds p99_5 = 0;   ///< ... 995 of 1000
    Picoseconds p99_9 = 0;   ///< ... 999 of 1000
    Picoseconds max = 0;
    Picoseconds resolution = 1;  ///< of the median and of what follows it, a power of two

    /// Whether enough samples lie beyond the percentile above which one sample of `share` lies
    /// (100 for p99) for it to say something about the distribution.
    bool tells(std::uint64_t share) const { return count / share >= least_beyond; }
    static constexpr std::uint64_t least_beyond = 30;
  };

  /// Adds one sample. `span` must not be negative.
  void sample(Picoseconds span) {
    recent_.push_back(span);
    if (recent_.size() >= max_recent_) merge();
  }

  /// All members are zero while there is no sample.
  Summary summary() const;

 private:
  struct Value {
    Picoseconds span;
    std::uint64_t count;
  };

  void merge() const;
  void coarsen() const;
  Picoseconds at_rank(std::uint64_t rank) const;

  const std::size_t max_values_;
  // Merging does not change what the class shows.
  mutable std::vector<Picoseconds> recent_;
  mutable std::vector<Value> values_;      // ascending
  mutable std::size_t max_recent_ = 4096;  // grows with values_, so that merging stays cheap
  mutable std::uint64_t count_ = 0;
  mutable Picoseconds min_ = never;
  mutable Picoseconds max_ = 0;
  mutable Picoseconds resolution_ = 1;
};

}  // namespace vp
