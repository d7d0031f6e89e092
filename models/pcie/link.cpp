// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/errors.h"
#include "models/pcie/tlp_trace.h"

namespace pcie {

void Port::send(TlpPtr tlp) {
  link_->send(*this, std::move(tlp));
}

void Port::reset_link() {
  if (link_up()) link_->reset();
}

namespace {

DataLinkConfig data_link_config(const LinkConfig& config, unsigned generation, const LineRate& rate,
                                Direction direction) {
  constexpr std::uint64_t dllp_bytes = 8;
  const auto dllp = static_cast<vp::Picoseconds>(dllp_bytes * rate.picoseconds / rate.bytes);
  DataLinkConfig found;
  found.generation = generation;
  found.bit_error_rate = config.bit_error_rate;
  found.seed = 2 * config.seed + (direction == Direction::up);
  found.round_trip = config.latency_down + config.latency_up + dllp;
  found.replay_timer = 3 * found.round_trip;
  found.retraining = config.retraining;
  return found;
}

}  // namespace

Link::Way::Way(Link& link, Direction direction, Port& from, Port& to, const LinkConfig& config)
    : name(direction == Direction::down ? "down" : "up"),
      from(from),
      to(to),
      latency(direction == Direction::down ? config.latency_down : config.latency_up),
      crosses(&from.domain() != &to.domain()),
      data_link(link.rate_, data_link_config(config, link.generation_, link.rate_, direction)),
      arrival(to.domain(), [&link, this] { link.arrive(*this); }) {}

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
           Port& downstream, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      trace_(trace),
      generation_(std::min({config.generation, upstream.port_config().generation,
                            downstream.port_config().generation})),
      lanes_(
          std::min({config.lanes, upstream.port_config().lanes, downstream.port_config().lanes})),
      rate_(LineRate::of(generation_, lanes_, config.max_payload)),
      ways_{{{*this, Direction::down, upstream, downstream, config},
             {*this, Direction::up, downstream, upstream, config}}},
      reset_(downstream.domain(), [this] {
        ways_[0].to.reset_by_link();
        ways_[0].to.trained(generation_, lanes_);
      }) {
  if (config.latency_down < 0 || config.latency_up < 0) {
    throw ConfigurationError(fmt::format("{}: a latency cannot be negative", this->name()));
  }
  for (Way& way : ways_) {
    if (way.from.link_up()) {
      throw ConfigurationError(fmt::format("{}: a port has another link already", this->name()));
    }
  }
  for (const Direction direction : {Direction::down, Direction::up}) {
    Way& way = ways_[index(direction)];
    way.from.link_ = this;
    if (way.crosses) way.to.domain().add_peer(way.from.domain(), min_latency(direction));
    for (unsigned i = 0; i < tlp_types; ++i) {
      const std::string prefix =
          fmt::format("{}.{}.{}.", this->name(), way.name, to_string(static_cast<TlpType>(i)));
      statistics.counter(prefix + "tlps", way.counts[i].tlps);
      statistics.counter(prefix + "bytes", way.counts[i].bytes);
    }
    const std::string prefix = fmt::format("{}.{}.", this->name(), way.name);
    statistics.counter(prefix + "wire_bytes", way.wire_bytes);
    const DataLink::Counts& errors = way.data_link.counts();
    statistics.counter(prefix + "bad_tlps", errors.bad);
    statistics.counter(prefix + "replays", errors.replays);
    statistics.counter(prefix + "replay_timeouts", errors.timeouts);
    statistics.counter(prefix + "retrainings", errors.retrainings);
  }
  upstream.trained(generation_, lanes_);
  downstream.trained(generation_, lanes_);
}

void Link::reset() {
  reset_.after(min_latency(Direction::down));
  ways_[0].from.trained(generation_, lanes_);
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
  const Wire::Occupied wire = way.data_link.transmit(vp::now() + from.config_.latency, bytes);
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
  way.to.receive(std::move(tlp));
}

}  // namespace pcie
