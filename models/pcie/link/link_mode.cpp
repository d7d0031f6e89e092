// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/link_mode.h"

#include <algorithm>

namespace pcie {
namespace {

constexpr unsigned first_with_flits = 6, most_without_flits = 5;  // generations

}  // namespace

LinkMode::LinkMode(const LinkConfig& config, const PortConfig& upstream,
                   const PortConfig& downstream)
    : most_generation_(std::min({config.generation, upstream.generation, downstream.generation})),
      most_lanes_(std::min({config.lanes, upstream.lanes, downstream.lanes})),
      max_payload_(config.max_payload),
      dllps_(config.dllps),
      supports_flits_(std::min(upstream.generation, downstream.generation) >= first_with_flits),
      best_rate_(rate_of(most_generation_, most_lanes_, supports_flits_)),
      generation_(most_generation_),
      lanes_(most_lanes_),
      rate_(best_rate_),
      flits_(supports_flits_) {}

// Flits make a short packet shorter at any speed.
vp::Picoseconds LinkMode::shortest_packet() const {
  const unsigned bytes = min_wire_bytes(supports_flits_ ? first_with_flits : most_generation_);
  return static_cast<vp::Picoseconds>(bytes * best_rate_.picoseconds / best_rate_.bytes);
}

void LinkMode::train(unsigned generation, bool flits_disabled) {
  flits_ = supports_flits_ && !flits_disabled;
  choose(generation);
}

void LinkMode::choose(unsigned generation) {
  generation_ =
      std::min({most_generation_, generation, flits_ ? most_generation_ : most_without_flits});
  lanes_ = usable_lanes(most_lanes_, failed_);
  rate_ = rate_of(generation_, lanes_, flits_);
}

LineRate LinkMode::rate_of(unsigned generation, unsigned lanes, bool flits) const {
  if (flits) return LineRate::in_flits(generation, lanes);
  if (dllps_ == DllpAccount::traffic) return LineRate::of(generation, lanes);
  return LineRate::published(generation, lanes, max_payload_);
}

bool LinkMode::announce_loss(unsigned lane) {
  if (lane >= most_lanes_) return false;
  const std::uint32_t announced = announced_ | 1u << lane;
  if (usable_lanes(most_lanes_, announced) == 0) return false;
  announced_ = announced;
  return true;
}

bool LinkMode::lose(unsigned lane) {
  const unsigned before = usable_lanes(most_lanes_, failed_);
  failed_ |= 1u << lane;
  return usable_lanes(most_lanes_, failed_) != before;
}

// Lane 0 of the link can be at either end: a port that cannot use it there reverses the lanes.
unsigned LinkMode::usable_lanes(unsigned lanes, std::uint32_t failed) {
  unsigned most = 0;
  for (const bool reversed : {false, true}) {
    unsigned good = 0;
    while (good < lanes && !(failed >> (reversed ? lanes - 1 - good : good) & 1)) ++good;
    most = std::max(most, good);
  }
  unsigned width = 1;
  while (2 * width <= most) width *= 2;
  return most == 0 ? 0 : width;
}

}  // namespace pcie
