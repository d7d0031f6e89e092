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

Link::Way::Way(Link& link, Direction direction, Port& from, Port& to, vp::Picoseconds latency)
    : name(direction == Direction::down ? "down" : "up"),
      from(from),
      to(to),
      latency(latency),
      crosses(&from.domain() != &to.domain()),
      wire(link.rate_),
      arrival(to.domain(), [&link, this] { link.arrive(*this); }),
      error(to.domain(), [&link, this] { link.detect(*this); }) {}

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
    statistics.counter(fmt::format("{}.{}.wire_bytes", this->name(), way.name), way.wire_bytes);
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
  if (!way.faults.empty() && strike(way, tlp)) return;
  way.to.receive(std::move(tlp));
}

namespace {

bool is_possible(const Fault& fault) {
  if (fault.number < 1) return false;
  if (!fault.type) return true;
  const TlpPtr tlp = Tlp::make(*fault.type);
  switch (fault.error) {
    case Error::completion_timeout:
      return tlp->is_non_posted() || tlp->is_completion();
    case Error::unexpected_completion:
      return tlp->is_completion();
    case Error::poisoned_tlp:
      return tlp->has_data();
    case Error::unsupported_request:
    case Error::completer_abort:
      return !tlp->is_completion();
    default:
      return true;
  }
}

}  // namespace

bool Link::inject(Direction direction, const Fault& fault) {
  // Only a downstream port sees its link go down, and its is the end that leads up.
  if (!is_possible(fault)) return false;
  if (fault.error == Error::surprise_down && direction == Direction::down) return false;
  Way& way = ways_[index(direction)];
  if (fault.type) {
    way.faults.push_back(fault);
    return true;
  }
  const vp::Picoseconds when = vp::now() + min_latency(direction);
  way.errors.push({when, fault.error});
  if (!way.error.pending()) way.error.at(when);
  return true;
}

// Whether the TLP has found its end.
bool Link::strike(Way& way, TlpPtr& tlp) {
  // All that wait for this type count it; the first whose turn it is strikes.
  auto struck = way.faults.end();
  for (auto fault = way.faults.begin(); fault != way.faults.end(); ++fault) {
    if (*fault->type != tlp->header.type) continue;
    if (fault->number > 1) {
      --fault->number;
    } else if (struck == way.faults.end()) {
      struck = fault;
    }
  }
  if (struck == way.faults.end()) return false;
  const Error error = struck->error;
  way.faults.erase(struck);
  switch (error) {
    case Error::completion_timeout:
      return true;
    case Error::unexpected_completion: {
      TlpPtr copy = Tlp::make(tlp->header.type);
      copy->header = tlp->header;
      copy->set_data_length(tlp->get_data_length());
      std::copy_n(tlp->data(), std::min(tlp->payload_bytes(), Tlp::max_bytes), copy->data());
      way.to.receive(std::move(copy));
      return false;
    }
    case Error::poisoned_tlp:
      tlp->header.poisoned = true;
      return false;
    default:
      way.to.detected(error, has_tlp(error) ? tlp.get() : nullptr);
      return has_tlp(error) || error == Error::receiver_overflow;
  }
}

void Link::detect(Way& way) {
  while (!way.errors.empty() && way.errors.front().when <= vp::now()) {
    const Error error = way.errors.pop().error;
    const std::uint8_t nothing[4] = {};
    TlpPtr tlp = Tlp::memory_write(0, nothing, 4);
    tlp->header.poisoned = error == Error::poisoned_tlp;
    if (error == Error::unexpected_completion) {
      tlp = Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::success);
    }
    way.to.detected(error, has_tlp(error) ? tlp.get() : nullptr);
  }
  if (!way.errors.empty()) way.error.at(way.errors.front().when);
}

}  // namespace pcie
