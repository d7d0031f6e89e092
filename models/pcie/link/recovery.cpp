// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/recovery.h"

#include <algorithm>

namespace pcie {

Recovery::Recovery(const LinkConfig& config, Port& upstream, std::array<HalfLink, 2>& halves)
    : config_(config),
      halves_(halves),
      upstream_(upstream),
      reaches_upstream_(upstream.domain(), [this] { upstream_.recovering(); }) {}

void Recovery::enter(const Port& first) {
  begin(first);
  for (HalfLink& half : halves_) {
    half.recover(first, end_);
    half.delay_credits(first, end_);
  }
}

void Recovery::enter_for_incident(HalfLink& half, const Port& first) {
  begin(first);
  half.opposite().recover(first, end_);
  for (HalfLink& one : halves_) one.delay_credits(first, end_);
}

void Recovery::begin(const Port& first) {
  const vp::Picoseconds least = halves_[0].min_latency() + halves_[1].min_latency();
  end_ = std::max(end_, vp::now() + std::max(config_.retraining, least));
  for (HalfLink& half : halves_) half.recovered_at(end_);
  for (HalfLink& half : halves_) half.keep_awake(end_);
  if (&first == &upstream_) {
    upstream_.recovering();
  } else if (!reaches_upstream_.pending()) {
    reaches_upstream_.after(halves_[1].min_latency());
  }
}

void Recovery::cancel() {
  reaches_upstream_.cancel();
  end_ = 0;
}

void Recovery::follow_mode() {
  for (HalfLink& half : halves_) half.restart();
}

}  // namespace pcie
