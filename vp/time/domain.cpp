// SPDX-License-Identifier: Apache-2.0
#include "vp/time/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "vp/time/agenda.h"

namespace vp {
namespace {

Picoseconds sum(Picoseconds a, Picoseconds b) {
  return a > never - b ? never : a + b;
}

}  // namespace

Domain::Domain(const sc_core::sc_module_name& name)
    : sc_module(name), Calendar(sc_module::name()) {}

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

Picoseconds Domain::lookahead_from(const Domain& peer) const {
  for (const Peer& known : peers_) {
    if (known.domain == &peer) return known.lookahead;
  }
  return never;
}

Picoseconds Domain::floor() const {
  Picoseconds floor = next_event();
  for (const Actor* actor : actors_) floor = std::min(floor, actor->floor());
  return floor;
}

Picoseconds Domain::horizon(Picoseconds limit) const {
  Picoseconds horizon = std::min(limit, next_event());
  for (const Peer& peer : peers_) {
    horizon = std::min(horizon, sum(peer.domain->floor(), peer.lookahead));
  }
  return Agenda::get().others_before(horizon);
}

bool Domain::happens_at(Picoseconds when) const {
  return when == next_event() || Agenda::get().others_at(when);
}

void Domain::broken_promise(Picoseconds when, const char* sender) const {
  throw BrokenPromise(
      fmt::format("{} delivers to {} at {} ps, but has let its processors run to {} ps", sender,
                  name(), when, reached_));
}

void Domain::entered_late(Picoseconds when) const {
  const std::string actor = Agenda::get().actor();
  if (actor.empty()) return;
  throw BrokenPromise(
      fmt::format("{} acts on {} at {} ps, but a processor there has executed up to {} ps already",
                  actor, name(), when, reached_));
}

}  // namespace vp
