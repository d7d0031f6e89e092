// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/line_rate.h"

#include <fmt/format.h>

#include <numeric>

#include "models/pcie/link/limits.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned tlp_bytes_of_flit = 236;

bool power_of_two(unsigned value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

LineRate LineRate::of(unsigned generation, unsigned lanes, unsigned max_payload, bool flits) {
  if (generation < 1 || generation > 6) {
    throw ConfigurationError(
        fmt::format("PCIe generation {} does not exist: use 1 to 6", generation));
  }
  if (!power_of_two(lanes) || lanes > 16) {
    throw ConfigurationError(
        fmt::format("a link cannot have {} lanes: use 1, 2, 4, 8 or 16", lanes));
  }
  if (!power_of_two(max_payload) || max_payload < 128 || max_payload > 4096) {
    throw ConfigurationError(fmt::format(
        "a payload of {} bytes is impossible: use a power of two from 128 to 4096", max_payload));
  }
  if (generation == 6) {
    // At 64 Gb/s, a byte takes 125 ps in a lane.
    constexpr std::uint64_t skip_interval = 748 * 256 / 16, skip = 40;  // in symbols of a lane
    const std::uint64_t picoseconds = 125 * 256 * (skip_interval + skip);
    const std::uint64_t bytes = lanes * tlp_bytes_of_flit * skip_interval;
    const std::uint64_t divisor = std::gcd(picoseconds, bytes);
    return {picoseconds / divisor, bytes / divisor, tlp_bytes_of_flit};
  }
  static constexpr std::uint64_t transfers[] = {25, 50, 80, 160, 320};  // in 0.1 GT/s
  const bool scrambled = generation >= 3;
  // The share of TLPs is 1 - 16 / limit - 4 / 1538, or in flits 236 / 256 x (1 - 4 / 1538).
  const std::uint64_t limit = ack_latency_limit(generation, lanes, max_payload);
  const std::uint64_t share = flits ? tlp_bytes_of_flit * 1534 : 1534 * limit - 16 * 1538;
  const std::uint64_t whole = 1538 * (flits ? 256 : limit);
  const std::uint64_t picoseconds = 8 * 1000 * 10 * (scrambled ? 130 : 10) * whole;
  const std::uint64_t bytes = transfers[generation - 1] * lanes * (scrambled ? 128 : 8) * share;
  const std::uint64_t divisor = std::gcd(picoseconds, bytes);
  return {picoseconds / divisor, bytes / divisor, flits ? tlp_bytes_of_flit : 0};
}

}  // namespace pcie
