// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/data_link.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned dllp_bytes = 8;
constexpr unsigned framing_token_bytes = 4;
constexpr unsigned flit_bytes = 256;
constexpr unsigned replays_at_most = 3;  // REPLAY_NUM has two bits

// SplitMix64: every state has one successor, and all values are equally likely.
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
    throw ConfigurationError("the bit error rate must be from 0 to 1e-4");
  }
  if (config.arrival < 0 || config.round_trip < 0 || config.replay_timer < 0 ||
      config.retraining < 0) {
    throw ConfigurationError("a time of the data link layer must not be negative");
  }
}

DataLink::Incident DataLink::observe(End end) {
  auto& incidents = incidents_[index(end)];
  const Incident first = incidents.front();
  incidents.erase(incidents.begin());
  counts_.retrainings += first.retrains;
  switch (first.error) {
    case Error::bad_tlp:
      ++counts_.bad_tlps;
      break;
    case Error::receiver_error:
      ++counts_.receiver_errors;
      break;
    case Error::bad_dllp:
      ++counts_.bad_dllps;
      break;
    case Error::replay_timeout:
      ++counts_.timeouts;
      break;
    default:
      ++counts_.rollovers;
  }
  return first;
}

void DataLink::retrain(LineRate rate, const DataLinkConfig& config, vp::Picoseconds when,
                       vp::Picoseconds transmitter_saw, vp::Picoseconds receiver_saw) {
  rate_ = rate;
  config_ = config;
  wire_ = Wire(rate);
  wire_.occupy(when, 0);
  unacknowledged_ = {};
  for (const End end : {End::transmitter, End::receiver}) {
    auto& incidents = incidents_[index(end)];
    const vp::Picoseconds last = end == End::receiver ? receiver_saw : transmitter_saw;
    while (!incidents.empty() && incidents.back().when > last) incidents.pop_back();
  }
}

unsigned DataLink::first_error(unsigned bytes) {
  const double sample = static_cast<double>(next(random_) >> 11) * 0x1p-53;
  if (flits()) {
    const double bits = 8 * flit_bytes;
    const double good = std::exp(bits * std::log1p(-config_.bit_error_rate));
    const double one = bits * config_.bit_error_rate / (1 - config_.bit_error_rate) * good;
    const double flits = std::ceil(bytes / 236.0);
    const double probability = -std::expm1(flits * std::log(std::min(good + one, 1.0)));
    return sample < probability ? 0 : no_error;
  }
  const double bit = std::floor(std::log1p(-sample) / std::log1p(-config_.bit_error_rate));
  return bit < 8.0 * bytes ? static_cast<unsigned>(bit) : no_error;
}

Wire::Occupied DataLink::transmit_with_errors(vp::Picoseconds ready, unsigned bytes) {
  expire(ready);
  Wire::Occupied occupied = wire_.occupy(ready, bytes);
  unsigned replay_number = 0;
  for (unsigned bit; (bit = first_error(bytes)) != no_error;) {
    const bool framing = !flits() && config_.generation >= 3 && bit < 8 * framing_token_bytes;
    refuse(occupied.to, framing);
    vp::Picoseconds again = occupied.to + config_.round_trip;
    if (framing) {
      again += config_.retraining;
    } else if (!flits() && first_error(dllp_bytes) != no_error) {
      record(End::transmitter, {again, Error::bad_dllp});
      again = std::max(again, occupied.to + config_.replay_timer);
      record(End::transmitter, {again, Error::replay_timeout});
    }
    ++counts_.replays;
    if (++replay_number > replays_at_most) {
      record(End::transmitter, {again, Error::replay_rollover, true});
      again += config_.retraining;
      replay_number = 0;
    }
    occupied = wire_.occupy(again, bytes);
  }
  if (!flits()) acknowledge(occupied.to, bytes);
  return occupied;
}

void DataLink::refuse(vp::Picoseconds sent, bool framing) {
  const vp::Picoseconds when = sent + config_.arrival;
  if (framing || flits() || config_.generation <= 2) {
    record(End::receiver, {when, Error::receiver_error, framing});
  }
  if (!framing && !flits()) record(End::receiver, {when, Error::bad_tlp});
}

void DataLink::record(End end, const Incident& incident) {
  auto& incidents = incidents_[index(end)];
  const auto earlier =
      std::find_if(incidents.rbegin(), incidents.rend(),
                   [&incident](const Incident& one) { return one.when <= incident.when; });
  incidents.insert(earlier.base(), incident);
}

// The replay timer has expired before `limit`: the packet was sent again, and its receiver drops
// the duplicate.
void DataLink::expire(vp::Picoseconds limit) {
  if (unacknowledged_.expires > limit) return;
  wire_.occupy(unacknowledged_.expires, unacknowledged_.bytes);
  unacknowledged_ = {};
}

// An ACK also acknowledges all packets before its own.
void DataLink::acknowledge(vp::Picoseconds sent, unsigned bytes) {
  const vp::Picoseconds back = sent + config_.round_trip;
  const bool lost = first_error(dllp_bytes) != no_error;
  if (lost) {
    record(End::transmitter, {back, Error::bad_dllp});
  } else if (back < unacknowledged_.expires && unacknowledged_.expires != vp::never) {
    auto& incidents = incidents_[index(End::transmitter)];
    const auto timeout =
        std::find_if(incidents.rbegin(), incidents.rend(), [this](const Incident& one) {
          return one.when == unacknowledged_.expires && one.error == Error::replay_timeout;
        });
    if (timeout != incidents.rend()) incidents.erase(std::prev(timeout.base()));
    --counts_.replays;
    unacknowledged_ = {};
  }
  if (lost && unacknowledged_.expires == vp::never) {
    unacknowledged_ = {sent + std::max(config_.replay_timer, config_.round_trip), bytes};
    record(End::transmitter, {unacknowledged_.expires, Error::replay_timeout});
    ++counts_.replays;
  }
}

}  // namespace pcie
