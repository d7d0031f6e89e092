// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/errors.h"
#include "models/pcie/tlp_trace.h"

namespace pcie {

void Port::send(TlpPtr tlp) {
  if (link_up_) link_->send(*this, std::move(tlp));
}

void Port::hold_link(Reset kind) {
  if (link_ != nullptr) link_->hold(kind);
}

bool Port::release_link(Reset kind) {
  if (link_ != nullptr) link_->release(kind);
  return link_ != nullptr;
}

Link::Way::Way(Link& link, Direction direction, Port& from, Port& to, vp::Picoseconds latency)
    : name(direction == Direction::down ? "down" : "up"),
      from(from),
      to(to),
      latency(latency),
      crosses(&from.domain() != &to.domain()),
      wire(link.rate_),
      arrival(to.domain(), [&link, this] { link.arrive(*this); }),
      rise(from.domain(), [&link, this] {
        this->from.link_up_ = true;
        this->from.trained(link.generation_, link.lanes_);
      }) {}

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
           Port& downstream, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      trace_(trace),
      generation_(std::min({config.generation, upstream.port_config().generation,
                            downstream.port_config().generation})),
      lanes_(
          std::min({config.lanes, upstream.port_config().lanes, downstream.port_config().lanes})),
      rate_(LineRate::of(generation_, lanes_, config.max_payload)),
      ways_{{{*this, Direction::down, upstream, downstream, config.latency_down},
             {*this, Direction::up, downstream, upstream, config.latency_up}}},
      training_(config.training),
      fall_(downstream.domain(), [this] { fall(); }) {
  if (config.latency_down < 0 || config.latency_up < 0 || config.training < 0) {
    throw ConfigurationError(fmt::format("{}: a time cannot be negative", this->name()));
  }
  for (Way& way : ways_) {
    if (way.from.link_ != nullptr) {
      throw ConfigurationError(fmt::format("{}: a port has another link already", this->name()));
    }
  }
  for (const Direction direction : {Direction::down, Direction::up}) {
    Way& way = ways_[index(direction)];
    way.from.link_ = this;
    way.from.link_up_ = true;
    if (way.crosses) way.to.domain().add_peer(way.from.domain(), min_latency(direction));
    for (unsigned i = 0; i < tlp_types; ++i) {
      const std::string prefix =
          fmt::format("{}.{}.{}.", this->name(), way.name, to_string(static_cast<TlpType>(i)));
      statistics.counter(prefix + "tlps", way.counts[i].tlps);
      statistics.counter(prefix + "bytes", way.counts[i].bytes);
    }
    statistics.counter(fmt::format("{}.{}.wire_bytes", this->name(), way.name), way.wire_bytes);
  }
  upstream.trained(generation_, lanes_);
  downstream.trained(generation_, lanes_);
}

void Link::hold(Reset kind) {
  for (Way& way : ways_) way.rise.cancel();
  ways_[0].from.link_up_ = false;
  // One that follows before the first has arrived is not told apart from it.
  kind_ = fall_.pending() ? std::min(kind_, kind) : kind;
  if (!fall_.pending()) fall_.after(min_latency(Direction::down));
  ways_[0].from.link_lost(kind);
}

void Link::fall() {
  ways_[1].from.link_up_ = false;
  for (Way& way : ways_) {
    way.flying.clear();
    way.arrival.cancel();
    way.wire = Wire(rate_);
  }
  ways_[1].from.link_lost(kind_);
}

void Link::release(Reset kind) {
  // The host's first instruction after a fundamental reset finds a link that has trained.
  const vp::Picoseconds least = min_latency(Direction::down) + min_latency(Direction::up);
  const vp::Picoseconds span = kind == Reset::fundamental ? least : std::max(training_, least);
  for (Way& way : ways_) way.rise.after(span);
}

vp::Picoseconds Link::min_latency(Direction direction) const {
  const Way& way = ways_[index(direction)];
  const auto serialisation =
      static_cast<vp::Picoseconds>(min_wire_bytes(generation_) * rate_.picoseconds / rate_.bytes);
  return way.from.config_.latency + serialisation + way.latency + way.to.config_.latency;
}

void Link::send(const Port& from, TlpPtr tlp) {
  Way& way = ways_[&from == &ways_[0].from ? 0 : 1];
  const unsigned bytes = pcie::wire_bytes(*tlp, generation_);
  const Wire::Occupied wire = way.wire.occupy(vp::now() + from.config_.latency, bytes);
  const vp::Picoseconds arrival = wire.to + way.latency;
  Count& count = way.counts[static_cast<unsigned>(tlp->header.type)];
  ++count.tlps;
  count.bytes += tlp->payload_bytes();
  way.wire_bytes += bytes;
  if (trace_.on()) trace_tlp(trace_, wire.from, arrival, name(), way.name, *tlp);
  const vp::Picoseconds received = arrival + way.to.config_.latency;
  if (way.crosses) way.to.domain().expect(received, name());
  way.flying.push({received, std::move(tlp)});
  if (!way.arrival.pending()) way.arrival.at(way.flying.front().received);
}

void Link::arrive(Way& way) {
  TlpPtr tlp = way.flying.pop().tlp;
  if (!way.flying.empty()) way.arrival.at(way.flying.front().received);
  if (way.to.link_up_) way.to.receive(std::move(tlp));
}

}  // namespace pcie
