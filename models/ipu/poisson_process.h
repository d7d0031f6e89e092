// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>

#include "vp/time/time.h"

namespace ipu {

/// The times between events that are independent of each other. Only integers are used, so that
/// equal seeds give equal times on all machines.
class PoissonProcess {
 public:
  /// `mean` in ps, from 1 to 2^48 - 1.
  PoissonProcess(std::uint64_t seed, vp::Picoseconds mean) : random_(seed), mean_(mean) {}

  /// The time until the next event, 0 or more: the mean times the logarithm of a random number.
  /// What is rounded off one time is added to the next, so that the mean is exact.
  vp::Picoseconds next();

  /// Whether the next of independent events happens, of which `parts` in 2^32 do.
  bool happens(std::uint32_t parts) { return random_() >> 32 < parts; }

  /// Returns -ln(x / 2^64) for an x above 0, in units of 2^-40. It is off by less than two units.
  static std::uint64_t negative_logarithm(std::uint64_t x);

 private:
  std::mt19937_64 random_;
  vp::Picoseconds mean_;
  std::uint64_t rest_ = 0;  // rounded off so far, in units of 2^-40 ps
};

}  // namespace ipu
