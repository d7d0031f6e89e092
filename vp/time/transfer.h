// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace vp {

/// The most bytes that transfer_time() takes.
constexpr std::uint64_t longest_transfer = 8u << 20;

/// How long `bytes`, up to longest_transfer, take at `bytes_per_second`, 1 to 2^63, rounded up.
constexpr Picoseconds transfer_time(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  const std::uint64_t product = bytes * static_cast<std::uint64_t>(s);
  return static_cast<Picoseconds>((product + bytes_per_second - 1) / bytes_per_second);
}

}  // namespace vp
