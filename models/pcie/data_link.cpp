// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link.h"

#include <algorithm>
#include <cmath>

#include "models/pcie/errors.h"

namespace pcie {
namespace {

constexpr unsigned dllp_bytes = 8;
constexpr unsigned flit_bytes = 256;
constexpr unsigned replays_at_most = 3;  // REPLAY_NUM has two bits

// SplitMix64: each state is followed by another, and all values are as likely.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t value = state += 0x9e37'79b9'7f4a'7c15;
  value = (value ^ value >> 30) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ value >> 27) * 0x94d0'49bb'1331'11eb;
  return value ^ value >> 31;
}

}  // namespace

DataLink::DataLink(LineRate rate, const DataLinkConfig& config)
    : config_(config), rate_(rate), wire_(rate), random_(config.seed) {
  if (!(config.bit_error_rate >= 0 && config.bit_error_rate <= 1e-4)) {
    throw ConfigurationError("a bit error rate is from 0 to 1e-4");
  }
  if (config.round_trip < 0 || config.replay_timer < 0 || config.retraining < 0) {
    throw ConfigurationError("a time of the data link layer is negative");
  }
}

bool DataLink::lost(unsigned bytes) {
  double probability = 0;
  if (config_.generation == 6) {
    const double bits = 8 * flit_bytes;
    const double good = std::exp(bits * std::log1p(-config_.bit_error_rate));
    const double one = bits * config_.bit_error_rate / (1 - config_.bit_error_rate) * good;
    const double flits = std::ceil(bytes / 236.0);
    probability = -std::expm1(flits * std::log(std::min(good + one, 1.0)));
  } else {
    probability = -std::expm1(8.0 * bytes * std::log1p(-config_.bit_error_rate));
  }
  return static_cast<double>(next(random_) >> 11) < probability * 0x1p53;
}

Wire::Occupied DataLink::repair(Wire::Occupied occupied, unsigned bytes) {
  unsigned replay_number = 0;
  while (lost(bytes)) {
    ++counts_.bad;
    ++counts_.replays;
    vp::Picoseconds again = occupied.to + config_.round_trip;
    if (config_.generation < 6 && lost(dllp_bytes)) {
      ++counts_.timeouts;
      again = std::max(again, occupied.to + config_.replay_timer);
    }
    if (++replay_number > replays_at_most) {
      ++counts_.retrainings;
      again += config_.retraining;
      replay_number = 0;
    }
    occupied = wire_.occupy(again, bytes);
  }
  return occupied;
}

}  // namespace pcie
