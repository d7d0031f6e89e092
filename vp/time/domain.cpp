// SPDX-License-Identifier: Apache-2.0
#include "vp/time/domain.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace vp {
namespace {

Picoseconds sum(Picoseconds a, Picoseconds b) {
  return a > never - b ? never : a + b;
}

bool earlier(Picoseconds when_a, std::uint64_t order_a, Picoseconds when_b, std::uint64_t order_b) {
  return when_a != when_b ? when_a < when_b : order_a < order_b;
}

}  // namespace

void Event::at(Picoseconds when) {
  assert(when >= now() && when < never);
  if (pending()) domain_.remove(*this);
  when_ = when;
  domain_.insert(*this);
}

void Event::cancel() {
  if (!pending()) return;
  domain_.remove(*this);
  when_ = never;
}

Domain::Domain(const sc_core::sc_module_name& name) : sc_module(name) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  options.set_sensitivity(&wake_);
  sc_core::sc_spawn(
      [this] {
        armed_ = never;
        run_due();
        arm();
      },
      "appointments", &options);
}

void Domain::add_peer(const Domain& peer, Picoseconds lookahead) {
  assert(lookahead > 0);
  if (sc_core::sc_get_status() > sc_core::SC_BEFORE_END_OF_ELABORATION) {
    throw std::logic_error("a domain gets a peer after elaboration");
  }
  peers_.push_back({&peer, lookahead});
}

// A peer that is idle now may pass on, after both lookaheads, what a peer of its own does. Finds
// the shortest way from each domain (Dijkstra); there are few domains.
void Domain::end_of_elaboration() {
  const auto nearer = [](const Peer& a, const Peer& b) { return a.lookahead < b.lookahead; };
  std::vector<Peer> found = std::move(peers_);
  peers_.clear();
  while (!found.empty()) {
    const auto nearest = std::min_element(found.begin(), found.end(), nearer);
    const Peer peer = *nearest;
    found.erase(nearest);
    const auto same = [&](const Peer& known) { return known.domain == peer.domain; };
    if (peer.domain == this || std::any_of(peers_.begin(), peers_.end(), same)) continue;
    peers_.push_back(peer);
    for (const Peer& next : peer.domain->peers_) {
      found.push_back({next.domain, sum(peer.lookahead, next.lookahead)});
    }
  }
}

Picoseconds Domain::floor() const {
  Picoseconds floor = next_event();
  for (const Actor* actor : actors_) floor = std::min(floor, actor->floor());
  return floor;
}

Picoseconds Domain::horizon() const {
  Picoseconds horizon = next_event();
  for (const Peer& peer : peers_) {
    horizon = std::min(horizon, sum(peer.domain->floor(), peer.lookahead));
  }
  return horizon;
}

void Domain::run_due() {
  const Picoseconds present = now();
  while (!heap_.empty() && heap_.front()->when_ <= present) {
    Event& event = *heap_.front();
    remove(event);
    event.when_ = never;
    event.action_();
  }
}

void Domain::insert(Event& event) {
  event.order_ = orders_++;
  heap_.push_back(nullptr);
  place(heap_.size() - 1, &event);
  sift_up(heap_.size() - 1);
  if (heap_.front() == &event) arm();
}

void Domain::remove(Event& event) {
  const std::size_t slot = event.slot_;
  Event* last = heap_.back();
  heap_.pop_back();
  if (last == &event) return;
  place(slot, last);
  sift_up(slot);
  sift_down(last->slot_);
}

void Domain::sift_up(std::size_t slot) {
  Event* event = heap_[slot];
  while (slot > 0) {
    const std::size_t parent = (slot - 1) / 2;
    Event* above = heap_[parent];
    if (!earlier(event->when_, event->order_, above->when_, above->order_)) break;
    place(slot, above);
    slot = parent;
  }
  place(slot, event);
}

void Domain::sift_down(std::size_t slot) {
  Event* event = heap_[slot];
  for (;;) {
    std::size_t child = 2 * slot + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && earlier(heap_[child + 1]->when_, heap_[child + 1]->order_,
                                            heap_[child]->when_, heap_[child]->order_)) {
      ++child;
    }
    Event* below = heap_[child];
    if (!earlier(below->when_, below->order_, event->when_, event->order_)) break;
    place(slot, below);
    slot = child;
  }
  place(slot, event);
}

// The kernel keeps the earliest notification of an sc_event; one that has become too early only
// finds nothing due and arms again.
void Domain::arm() {
  const Picoseconds next = next_event();
  if (next >= armed_) return;
  armed_ = next;
  wake_.notify(to_sc_time(next - now()));
}

}  // namespace vp
