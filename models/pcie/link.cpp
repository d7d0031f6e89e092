// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/errors.h"
#include "models/pcie/ordering.h"
#include "models/pcie/tlp_trace.h"

namespace pcie {

void Port::send(TlpPtr tlp) {
  if (link_up_) link_->send(*this, std::move(tlp));
}

bool Port::fits(const Tlp& tlp) const {
  return !link_up_ || link_->way_from(*this).advertised.enough_for(tlp);
}

bool Port::blocked(CreditClass of) const {
  return link_up_ && link_->blocked(*this, of);
}

bool Port::drain() {
  return link_up_ && link_->drain(*this);
}

void Port::hold_link(Reset kind) {
  if (link_ != nullptr) link_->hold(kind);
}

bool Port::release_link(Reset kind) {
  if (link_ != nullptr) link_->release(kind);
  return link_ != nullptr;
}

namespace {

/// Takes out the first packet that can go and may overtake those before it.
template <typename CanGo>
TlpPtr take_next(std::vector<TlpPtr>& queue, CanGo can_go) {
  for (auto one = queue.begin(); one != queue.end(); ++one) {
    const auto holds_it_up = [&](const TlpPtr& earlier) {
      return passing((*one)->header, earlier->header) == Passing::no;
    };
    if (!can_go(**one) || std::any_of(queue.begin(), one, holds_it_up)) continue;
    TlpPtr found = std::move(*one);
    queue.erase(one);
    return found;
  }
  return nullptr;
}

DataLinkConfig data_link_config(const LinkConfig& config, unsigned generation, const LineRate& rate,
                                Direction direction, const PortConfig& to) {
  constexpr std::uint64_t dllp_bytes = 8;
  const auto dllp = static_cast<vp::Picoseconds>(dllp_bytes * rate.picoseconds / rate.bytes);
  DataLinkConfig found;
  found.generation = generation;
  found.bit_error_rate = config.bit_error_rate;
  found.seed = 2 * config.seed + (direction == Direction::up);
  found.arrival =
      (direction == Direction::down ? config.latency_down : config.latency_up) + to.latency;
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
      data_link(link.rate_, data_link_config(config, link.generation_, link.rate_, direction,
                                             to.port_config())),
      arrival(
          to.domain(),
          [&link, this] {
            link.arrive(*this);
            link.run_ahead(*this);
          },
          to.domain().new_rank()),
      advertised(to.config_.credits, config.max_payload, to.config_.takes_atomics),
      credits(advertised),
      update(from.domain(), [&link, this] { link.updated(*this); }),
      error(to.domain(), [&link, this] { link.detect(*this); }),
      sender_sees(from.domain(), [&link, this] { link.see(*this, DataLink::End::transmitter); }),
      receiver_sees(to.domain(), [&link, this] { link.see(*this, DataLink::End::receiver); }),
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
      ways_{{{*this, Direction::down, upstream, downstream, config},
             {*this, Direction::up, downstream, upstream, config}}},
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
    const std::string prefix = fmt::format("{}.{}.", this->name(), way.name);
    statistics.counter(prefix + "wire_bytes", way.wire_bytes);
    const DataLink::Counts& errors = way.data_link.counts();
    statistics.counter(prefix + "bad_tlps", errors.bad_tlps);
    statistics.counter(prefix + "replays", errors.replays);
    statistics.counter(prefix + "receiver_errors", errors.receiver_errors);
    statistics.counter(prefix + "replay_timeouts", errors.timeouts);
    statistics.counter(prefix + "replay_rollovers", errors.rollovers);
    statistics.counter(prefix + "retrainings", errors.retrainings);
    // Of what travels this way: acknowledgements of the other one.
    statistics.counter(prefix + "bad_dllps",
                       ways_[1 - index(direction)].data_link.counts().bad_dllps);
  }
  upstream.trained(generation_, lanes_);
  downstream.trained(generation_, lanes_);
}

void Link::hold(Reset kind) {
  for (Way& way : ways_) way.rise.cancel();
  ways_[0].from.link_up_ = false;
  forget_waiting(ways_[0]);
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
    forget_waiting(way);
    way.returning.clear();
    way.received.clear();
    way.credits = way.advertised;
    way.data_link.reset();
    way.sender_sees.cancel();
    way.receiver_sees.cancel();
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
  Way& way = way_from(from);
  if (way.waiting.empty()) {
    if (!way.credits.enough_for(*tlp)) take_returned(way);
    if (way.credits.enough_for(*tlp)) return transmit(way, std::move(tlp));
  }
  ++way.waiting_of[index(credit_class(tlp->header.type))];
  way.waiting.push_back(std::move(tlp));
  // Those before it still cannot go, but it may pass them.
  transmit_next(way);
  await_credits(way);
}

void Link::updated(Way& way) {
  take_returned(way);
  const auto waited = way.waiting_of;
  while (transmit_next(way)) continue;
  await_credits(way);
  for (const CreditClass of :
       {CreditClass::posted, CreditClass::completion, CreditClass::non_posted}) {
    if (waited[index(of)] > 0 && way.waiting_of[index(of)] == 0) way.from.unblocked(of);
  }
}

void Link::take_returned(Way& way) {
  while (!way.returning.empty() && way.returning.front().when <= vp::now()) {
    const Returning returned = way.returning.pop();
    way.credits.give_back(returned.of, returned.credits);
  }
}

bool Link::transmit_next(Way& way) {
  TlpPtr next =
      take_next(way.waiting, [&way](const Tlp& tlp) { return way.credits.enough_for(tlp); });
  if (!next) return false;
  --way.waiting_of[index(credit_class(next->header.type))];
  transmit(way, std::move(next));
  return true;
}

void Link::await_credits(Way& way) {
  if (!way.waiting.empty() && !way.returning.empty()) way.update.at(way.returning.front().when);
}

bool Link::blocked(const Port& from, CreditClass of) {
  return way_from(from).waiting_of[index(of)] > 0;
}

void Link::forget_waiting(Way& way) {
  way.waiting.clear();
  way.waiting_of = {};
  way.update.cancel();
}

void Link::transmit(Way& way, TlpPtr tlp) {
  const Port& from = way.from;
  way.credits.consume(*tlp);
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
  if (!way.data_link.perfect()) expect_incidents(way);
}

void Link::expect_incidents(Way& way) {
  for (const DataLink::End end : {DataLink::End::transmitter, DataLink::End::receiver}) {
    vp::Event& sees = end == DataLink::End::receiver ? way.receiver_sees : way.sender_sees;
    const auto& incidents = way.data_link.incidents(end);
    if (incidents.empty()) {
      sees.cancel();
    } else if (incidents.front().when != sees.when()) {
      if (way.crosses && end == DataLink::End::receiver) {
        way.to.domain().expect(incidents.front().when, name());
      }
      sees.at(incidents.front().when);
    }
  }
}

void Link::see(Way& way, DataLink::End end) {
  Port& port = end == DataLink::End::receiver ? way.to : way.from;
  const auto& incidents = way.data_link.incidents(end);
  // What the port sends of it may meet errors, too.
  while (!incidents.empty() && incidents.front().when <= vp::now()) {
    const Error error = way.data_link.take(end).error;
    if (port.link_up_) port.detected(error, nullptr);
  }
  expect_incidents(way);
}

void Link::arrive(Way& way) {
  TlpPtr tlp = way.flying.pop().tlp;
  if (!way.flying.empty()) way.arrival.at(way.flying.front().received);
  if (!way.to.link_up_) return;
  if (!way.faults.empty() && strike(way, tlp)) return give_back(way, *tlp);
  if (way.received.empty() && way.to.ready(credit_class(tlp->header.type))) {
    return deliver(way, std::move(tlp));
  }
  way.received.push_back(std::move(tlp));
  drain(way.to);
}

// A rank keeps the order of arrivals at one time, whenever their appointments are made.
void Link::run_ahead(Way& way) {
  const auto is_timeless = [&way] {
    return !way.flying.empty() && way.to.timeless(*way.flying.front().tlp);
  };
  if (!is_timeless() || !way.faults.empty() || !way.received.empty() || !way.to.link_up_ ||
      !way.credits.infinite(CreditClass::posted) || !way.to.ready(CreditClass::posted) ||
      sc_core::sc_pending_activity_at_current_time()) {
    return;
  }
  way.arrival.cancel();
  const vp::Domain& domain = way.to.domain();
  const vp::Picoseconds limit = std::min(domain.floor(), domain.horizon());
  while (is_timeless() && way.flying.front().received < limit) {
    way.to.receive(way.flying.pop().tlp);
  }
  if (!way.flying.empty()) way.arrival.at(way.flying.front().received);
}

bool Link::drain(const Port& to) {
  Way& way = ways_[&to == &ways_[0].to ? 0 : 1];
  const auto ready = [&](const Tlp& tlp) { return way.to.ready(credit_class(tlp.header.type)); };
  bool any = false;
  // What the port receives may take the link down.
  while (way.to.link_up_) {
    TlpPtr next = take_next(way.received, ready);
    if (next == nullptr) break;
    deliver(way, std::move(next));
    any = true;
  }
  return any;
}

// What leaves the receive buffer gives its credits back.
void Link::give_back(Way& way, const Tlp& tlp) {
  const CreditClass of = credit_class(tlp.header.type);
  if (way.credits.infinite(of)) return;
  const Direction back = &way == &ways_[0] ? Direction::up : Direction::down;
  const vp::Picoseconds when = vp::now() + min_latency(back);
  if (way.crosses) way.from.domain().expect(when, name());
  way.returning.push({when, of, Credits::of(tlp)});
  if (!way.waiting.empty() && !way.update.pending()) way.update.at(when);
}

void Link::deliver(Way& way, TlpPtr tlp) {
  give_back(way, *tlp);
  way.to.receive(std::move(tlp));
}

bool is_possible(Direction direction, const Fault& fault) {
  // Only a downstream port sees its link go down or validates sources, and its is the end that
  // leads up.
  const bool port_alone =
      fault.error == Error::surprise_down || fault.error == Error::acs_violation;
  if (port_alone && direction == Direction::down) return false;
  if (is_of_egress(fault.error)) return false;
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
    case Error::acs_violation:
      return !tlp->is_completion();
    default:
      return true;
  }
}

bool Link::inject(Direction direction, const Fault& fault) {
  if (!is_possible(direction, fault)) return false;
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
    case Error::ecrc:
      if (!tlp->header.ecrc || !way.to.checks_digests()) return false;
      [[fallthrough]];
    default:
      way.to.detected(error, has_tlp(error) ? tlp.get() : nullptr);
      return has_tlp(error) || error == Error::receiver_overflow;
  }
}

void Link::detect(Way& way) {
  while (!way.errors.empty() && way.errors.front().when <= vp::now()) {
    const Error error = way.errors.pop().error;
    if (!way.to.link_up_) continue;
    if (error == Error::ecrc && !way.to.checks_digests()) continue;
    const std::uint8_t nothing[4] = {};
    TlpPtr tlp = Tlp::memory_write(0, nothing, 4);
    tlp->header.poisoned = error == Error::poisoned_tlp;
    tlp->header.ecrc = error == Error::ecrc;
    if (error == Error::unexpected_completion) {
      tlp = Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::success);
    }
    way.to.detected(error, has_tlp(error) ? tlp.get() : nullptr);
  }
  if (!way.errors.empty()) way.error.at(way.errors.front().when);
}

}  // namespace pcie
