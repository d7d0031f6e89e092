// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace vp {

/// How long `bytes`, up to 8 MiB, take at `bytes_per_second`, 1 to 2^63, rounded up.
constexpr Picoseconds transfer_time(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  const std::uint64_t product = bytes * static_cast<std::uint64_t>(s);
  return static_cast<Picoseconds>((product + bytes_per_second - 1) / bytes_per_second);
}

}  // namespace vp
