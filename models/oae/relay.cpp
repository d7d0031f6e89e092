// SPDX-License-Identifier: Apache-2.0
#include "models/oae/relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace oae {
namespace {

constexpr std::uint64_t no_edge = WindowLink::no_edge;

}  // namespace

Relay::Relay(const sc_core::sc_module_name& name, const RelayConfig& config, vp::Domain& domain,
             vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      grid_(checked_clock(config.clock_hz)),
      rtl_(make_relay_rtl(config.checked)),
      clock_(domain, [this] { tick(); }) {
  for (unsigned n = 0; n < links; ++n) {
    ends_[n].emplace(
        fmt::format("link{}", n).c_str(), config.links[n], rtl_->ends[n], grid_,
        [this] { schedule(); }, domain, trace, statistics);
  }
  statistics.counter(std::string(this->name()) + ".clocks", clocks_);
  reset(*rtl_, 0);  // the card had power long before time 0
  schedule();
}

Relay::~Relay() = default;

void Relay::lose_power() {
  if (!std::exchange(powered_, false)) return;
  clock_.cancel();
  next_ = std::max(next_, grid_.after(vp::now()));
  reset(*rtl_, next_);
  for (auto& end : ends_) end->lose_power(next_);
  ++next_;
}

void Relay::power_up() {
  if (std::exchange(powered_, true)) return;
  next_ = std::max(next_, grid_.after(vp::now()));
  reset(*rtl_, next_);
  for (auto& end : ends_) end->power_up(grid_.time(next_));
  ++next_;
  schedule();
}

// Schedules the next edge at which there is something to do.
void Relay::schedule() {
  if (ticking_ || !powered_) return;
  const RelayRtl& relay = *rtl_;
  std::uint64_t edge = relay.busy ? next_ : no_edge;
  for (const auto& end : ends_) {
    if (end) edge = std::min(edge, end->active() ? next_ : end->next_input());
  }
  if (relay.deadline_valid) {
    // The deadline is less than 2^32 clocks after the last edge.
    const std::uint64_t last = next_ - 1;
    edge = std::min(edge, last + static_cast<std::uint32_t>(relay.deadline - last));
  }
  if (edge == no_edge) return clock_.cancel();
  due_ = std::max(next_, edge);
  clock_.at(grid_.time(due_));
}

void Relay::tick() {
  ticking_ = true;
  next_ = due_;
  for (auto& end : ends_) end->present(grid_.time(next_));
  rtl_->now = static_cast<std::uint32_t>(next_);
  rtl_->settle();
  for (auto& end : ends_) end->sample(next_);
  rtl_->rise();
  ++next_;
  ++clocks_;
  for (auto& end : ends_) {
    end->finish();
    if (end->shows()) end->show();
  }
  ticking_ = false;
  schedule();
}

}  // namespace oae
