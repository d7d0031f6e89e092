// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/line_rate.h"

#include <fmt/format.h>

#include <numeric>

#include "models/pcie/data_link/limits.h"
#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/max_payload.h"

namespace pcie {
namespace {

constexpr unsigned tlp_bytes_of_flit = 236;

// Raw rate of a lane in 0.1 GT/s.
constexpr std::uint64_t transfers[] = {25, 50, 80, 160, 320, 640};

bool power_of_two(unsigned value) {
  return value != 0 && (value & (value - 1)) == 0;
}

void check(unsigned generation, unsigned lanes) {
  if (generation < 1 || generation > 6) {
    throw ConfigurationError(
        fmt::format("PCIe generation {} does not exist: use 1 to 6", generation));
  }
  if (!power_of_two(lanes) || lanes > 16) {
    throw ConfigurationError(
        fmt::format("a link cannot have {} lanes: use 1, 2, 4, 8 or 16", lanes));
  }
}

// How much of a whole is used.
struct Share {
  std::uint64_t used;
  std::uint64_t whole;
};

// In symbols, or in blocks of 16 symbols, of a lane from one SKP ordered set to the next.
Share without_skips(unsigned generation) {
  if (generation == 6) return {748 * 256 / 16, 748 * 256 / 16 + 40};
  return generation >= 3 ? Share{374, 375} : Share{1534, 1538};
}

// The rate of a share of the bytes that are encoded.
LineRate reduced(unsigned generation, unsigned lanes, Share share, unsigned flit) {
  const Share encoding = generation == 6   ? Share{1, 1}
                         : generation >= 3 ? Share{128, 130}
                                           : Share{8, 10};
  const std::uint64_t picoseconds = 8 * 1000 * 10 * encoding.whole * share.whole;
  const std::uint64_t bytes = transfers[generation - 1] * lanes * encoding.used * share.used;
  const std::uint64_t divisor = std::gcd(picoseconds, bytes);
  return {picoseconds / divisor, bytes / divisor, flit};
}

}  // namespace

LineRate LineRate::of(unsigned generation, unsigned lanes) {
  check(generation, lanes);
  if (generation == 6) return in_flits(generation, lanes);
  const Share share = without_skips(generation);
  return reduced(generation, lanes, share, 0);
}

LineRate LineRate::in_flits(unsigned generation, unsigned lanes) {
  check(generation, lanes);
  const Share share = without_skips(generation);
  return reduced(generation, lanes, {tlp_bytes_of_flit * share.used, 256 * share.whole},
                 tlp_bytes_of_flit);
}

// The share of TLPs is 1 - 16 / limit - 4 / 1538.
LineRate LineRate::published(unsigned generation, unsigned lanes, unsigned max_payload) {
  check(generation, lanes);
  if (generation == 6) throw ConfigurationError("flits have room for their DLLPs");
  max_payload_code(max_payload);  // or throws
  const std::uint64_t limit = ack_latency_limit(generation, lanes, max_payload);
  return reduced(generation, lanes, {1534 * limit - 16 * 1538, 1538 * limit}, 0);
}

}  // namespace pcie
