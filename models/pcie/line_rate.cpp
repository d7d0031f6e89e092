// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/line_rate.h"

#include <fmt/format.h>

#include <numeric>

#include "models/pcie/errors.h"

namespace pcie {
namespace {

// Symbol times (PCIe 5.0, tables 3-7 to 3-9): (payload + 28) x factor / lanes + internal delay.
std::uint64_t ack_latency_limit(unsigned generation, unsigned lanes, unsigned max_payload) {
  const unsigned delay = generation == 1 ? 19 : generation == 2 ? 70 : 115;
  unsigned tenths = 10;
  if (max_payload <= 256) {
    tenths = lanes <= 4 ? 14 : lanes == 8 ? 25 : 30;
  } else if (lanes == 16) {
    tenths = 20;
  }
  return (max_payload + 28) * tenths / (10 * lanes) + delay;
}

bool power_of_two(unsigned value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

LineRate LineRate::of(unsigned generation, unsigned lanes, unsigned max_payload) {
  if (generation < 1 || generation > 5) {
    throw ConfigurationError(fmt::format("PCIe generation {}: 1 to 5 are possible", generation));
  }
  if (!power_of_two(lanes) || lanes > 16) {
    throw ConfigurationError(fmt::format("x{} lanes: 1, 2, 4, 8 and 16 are possible", lanes));
  }
  if (!power_of_two(max_payload) || max_payload < 128 || max_payload > 4096) {
    throw ConfigurationError(
        fmt::format("payload of {} bytes: 128 to 4096, a power of two, is possible", max_payload));
  }
  static constexpr std::uint64_t transfers[] = {25, 50, 80, 160, 320};  // 0.1 GT/s
  const bool scrambled = generation >= 3;
  const std::uint64_t limit = ack_latency_limit(generation, lanes, max_payload);
  // share of TLPs = 1 - 16 / limit - 4 / 1538
  const std::uint64_t share = 1534 * limit - 16 * 1538;
  const std::uint64_t whole = 1538 * limit;
  const std::uint64_t picoseconds = 8 * 1000 * 10 * (scrambled ? 130 : 10) * whole;
  const std::uint64_t bytes = transfers[generation - 1] * lanes * (scrambled ? 128 : 8) * share;
  const std::uint64_t divisor = std::gcd(picoseconds, bytes);
  return {picoseconds / divisor, bytes / divisor};
}

}  // namespace pcie
