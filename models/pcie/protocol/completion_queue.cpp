// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/completion_queue.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

bool same_request(const Tlp& a, const Tlp& b) {
  return a.header.requester == b.header.requester && a.header.tag == b.header.tag;
}

}  // namespace

CompletionQueue::CompletionQueue(const CompletionConfig& config, vp::Domain& domain,
                                 std::function<void(TlpPtr)> send)
    : config_(config),
      send_(std::move(send)),
      random_(config.seed),
      departure_(domain, [this] { send_due(vp::now()); }) {
  if (config.spread < 0) {
    throw ConfigurationError("the spread of completions must not be negative");
  }
}

// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
vp::Picoseconds CompletionQueue::draw() {
  if (config_.spread == 0) return 0;
  std::uint64_t bits = random_ += 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  return static_cast<vp::Picoseconds>(bits % (static_cast<std::uint64_t>(config_.spread) + 1));
}

// With a spread, the completions of one request have random times, and leave in their order at
// these times. So the last one gets the latest of all times that the request has.
void CompletionQueue::send_after(vp::Picoseconds delay, TlpPtr completion) {
  vp::Picoseconds when = vp::now() + delay + draw();
  std::size_t place = waiting_.size();
  if (place == 0 && when <= vp::now()) return send_(std::move(completion));
  if (config_.spread == 0 && place > 0) when = std::max(when, waiting_[place - 1].when);
  while (place > 0 && waiting_[place - 1].when > when) --place;
  const bool is_first = place == 0;
  waiting_.insert(place, {when, std::move(completion)});
  for (std::size_t later = place + 1; later < waiting_.size(); ++later) {
    if (!same_request(*waiting_[place].completion, *waiting_[later].completion)) continue;
    std::swap(waiting_[place].completion, waiting_[later].completion);
    place = later;
  }
  if (is_first) departure_.at(when);
}

void CompletionQueue::flush() {
  departure_.cancel();
  send_due(vp::never);
}

void CompletionQueue::clear() {
  waiting_.clear();
  departure_.cancel();
}

// What sends a completion may clear the queue, since the port may lose its link.
void CompletionQueue::send_due(vp::Picoseconds until) {
  while (!waiting_.empty() && waiting_.front().when <= until) send_(waiting_.pop().completion);
  if (!waiting_.empty()) departure_.at(waiting_.front().when);
}

}  // namespace pcie
