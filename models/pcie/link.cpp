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

bool Port::retrain_link() {
  return link_ != nullptr && link_->retrain();
}

void Port::active_states_changed() {
  if (link_ != nullptr) link_->keep_awake(vp::now());
}

bool Port::flits() const {
  return link_ != nullptr && link_->flits_;
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

}  // namespace

Link::Way::Way(Link& link, Direction direction, Port& from, Port& to, const LinkConfig& config)
    : name(direction == Direction::down ? "down" : "up"),
      from(from),
      to(to),
      latency(direction == Direction::down ? config.latency_down : config.latency_up),
      crosses(&from.domain() != &to.domain()),
      data_link(link.rate_, link.data_link_config(direction, to)),
      arrival(
          to.domain(),
          [&link, this] {
            link.arrive(*this);
            link.run_ahead(*this);
          },
          to.domain().new_rank()),
      advertised(to.config_.credits, config.max_payload, to.config_.takes_atomics,
                 to.config_.deferrable_writes),
      credits(advertised),
      update(from.domain(), [&link, this] { link.updated(*this); }),
      error(to.domain(), [&link, this] { link.detect(*this); }),
      sender_sees(from.domain(), [&link, this] { link.see(*this, DataLink::End::transmitter); }),
      receiver_sees(to.domain(), [&link, this] { link.see(*this, DataLink::End::receiver); }),
      rise(from.domain(),
           [&link, this] {
             this->from.link_up_ = true;
             link.keep_awake(vp::now());
             this->from.trained(link.generation_, link.lanes_);
           }),
      recover(from.domain(),
              [&link, this] { this->from.retrained(link.generation_, link.lanes_); }) {}

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& config, Port& upstream,
           Port& downstream, vp::Trace& trace, vp::Statistics& statistics)
    : sc_module(name),
      trace_(trace),
      config_(config),
      most_generation_(std::min({config.generation, upstream.port_config().generation,
                                 downstream.port_config().generation})),
      most_lanes_(
          std::min({config.lanes, upstream.port_config().lanes, downstream.port_config().lanes})),
      flits_(most_generation_ == 6),
      sleeps_((upstream.port_config().active_states & downstream.port_config().active_states) != 0),
      best_rate_(LineRate::of(most_generation_, most_lanes_, config.max_payload)),
      generation_(most_generation_),
      lanes_(most_lanes_),
      rate_(best_rate_),
      ways_{{{*this, Direction::down, upstream, downstream, config},
             {*this, Direction::up, downstream, upstream, config}}},
      recovery_(upstream.domain(), [this] { ways_[0].from.recovering(); }),
      fall_(downstream.domain(), [this] { fall(); }) {
  if (config.latency_down < 0 || config.latency_up < 0 || config.training < 0 ||
      config.l0s_after < 0 || config.l1_after < 0) {
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
  for (Way& way : ways_) {
    way.rise.cancel();
    way.recover.cancel();
  }
  recovery_.cancel();
  recovered_ = 0;
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
    restart(way);
    way.sender_sees.cancel();
    way.receiver_sees.cancel();
  }
  ways_[1].from.link_lost(kind_);
}

void Link::release(Reset kind) {
  // The host's first instruction after a fundamental reset finds a link that has trained.
  const vp::Picoseconds least = min_latency(Direction::down) + min_latency(Direction::up);
  const vp::Picoseconds span =
      kind == Reset::fundamental ? least : std::max(config_.training, least);
  choose_mode(ways_[0].from.target_generation());
  for (Way& way : ways_) {
    if (!fall_.pending()) restart(way);
    way.rise.after(span);
  }
}

void Link::restart(Way& way) {
  way.used = way.awake = 0;
  constexpr vp::Picoseconds nothing = -1;
  way.data_link.retrain(rate_, data_link_config(direction_of(way), way.to), vp::now(), nothing,
                        nothing);
}

DataLinkConfig Link::data_link_config(Direction direction, const Port& to) const {
  constexpr std::uint64_t dllp_bytes = 8;
  const auto dllp = static_cast<vp::Picoseconds>(dllp_bytes * rate_.picoseconds / rate_.bytes);
  DataLinkConfig found;
  found.generation = generation_;
  found.bit_error_rate = config_.bit_error_rate;
  found.seed = 2 * config_.seed + (direction == Direction::up);
  found.arrival = (direction == Direction::down ? config_.latency_down : config_.latency_up) +
                  to.config_.latency;
  found.round_trip = config_.latency_down + config_.latency_up + dllp;
  found.replay_timer = 3 * found.round_trip;
  found.retraining = config_.retraining;
  return found;
}

// Lane 0 of the link is at either end of the lanes: an end that finds it missing reverses them.
unsigned Link::usable_lanes() const {
  unsigned most = 0;
  for (const bool reversed : {false, true}) {
    unsigned good = 0;
    while (good < most_lanes_ &&
           !(failed_lanes_ >> (reversed ? most_lanes_ - 1 - good : good) & 1)) {
      ++good;
    }
    most = std::max(most, good);
  }
  unsigned width = 1;
  while (2 * width <= most) width *= 2;
  return most == 0 ? 0 : width;
}

void Link::choose_mode(unsigned generation) {
  generation_ = std::min(most_generation_, generation);
  lanes_ = usable_lanes();
  rate_ = LineRate::of(generation_, lanes_, config_.max_payload, flits_);
}

bool Link::retrain() {
  if (!ways_[0].from.link_up_) return false;
  choose_mode(ways_[0].from.target_generation());
  recover(ways_[0].from);
  return true;
}

// `first` is the end that knows first.
void Link::recover(const Port& first) {
  enter_recovery(first);
  for (Way& way : ways_) recover(way, first);
}

void Link::enter_recovery(const Port& first) {
  const vp::Picoseconds least = min_latency(Direction::down) + min_latency(Direction::up);
  recovered_ = std::max(recovered_, vp::now() + std::max(config_.retraining, least));
  for (Way& way : ways_) way.recover.at(recovered_);
  keep_awake(recovered_);
  if (&first == &ways_[0].from) {
    ways_[0].from.recovering();
  } else if (!recovery_.pending()) {
    recovery_.after(min_latency(Direction::up));
  }
}

void Link::recover(Way& way, const Port& first) {
  const Direction direction = direction_of(way);
  const bool sender_first = &way.from == &first;
  const vp::Picoseconds known = vp::now() + (sender_first ? way.latency : 0);
  const vp::Picoseconds last = known + way.to.config_.latency;
  way.data_link.retrain(rate_, data_link_config(direction, way.to), recovered_, vp::now(), last);
  for (std::size_t left = way.flying.size(); left > 0; --left) {
    Flying flying = way.flying.pop();
    if (flying.received > last) {
      flying.received = put_on_wire(way, *flying.tlp, recovered_);
      if (way.crosses) way.to.domain().expect(flying.received, name());
    }
    way.flying.push(std::move(flying));
  }
  if (!way.flying.empty()) way.arrival.at(way.flying.front().received);
  // Credits for this way come by the other.
  const Direction back = opposite(direction);
  const vp::Picoseconds in_time =
      vp::now() + way.from.config_.latency + (sender_first ? 0 : ways_[index(back)].latency);
  for (std::size_t left = way.returning.size(); left > 0; --left) {
    Returning returning = way.returning.pop();
    if (returning.when > in_time) {
      returning.when = std::max(returning.when, recovered_ + min_latency(back));
    }
    way.returning.push(returning);
  }
  await_credits(way);
  if (!way.data_link.perfect()) expect_incidents(way);
}

bool Link::fail_lane(Direction direction, unsigned lane) {
  if (lane >= most_lanes_) return false;
  const std::uint32_t before = failed_lanes_;
  failed_lanes_ |= 1u << lane;
  const unsigned left = usable_lanes();
  failed_lanes_ = before;
  if (left == 0) return false;
  come(ways_[index(direction)], {vp::now() + min_latency(direction), Error::receiver_error, lane});
  return true;
}

vp::Picoseconds Link::min_latency(Direction direction) const {
  const Way& way = ways_[index(direction)];
  const auto serialisation = static_cast<vp::Picoseconds>(
      min_wire_bytes(most_generation_) * best_rate_.picoseconds / best_rate_.bytes);
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
  way.credits.consume(*tlp);
  Count& count = way.counts[static_cast<unsigned>(tlp->header.type)];
  ++count.tlps;
  count.bytes += tlp->payload_bytes();
  const vp::Picoseconds received = put_on_wire(way, *tlp, vp::now() + way.from.config_.latency);
  if (way.crosses) way.to.domain().expect(received, name());
  way.flying.push({received, std::move(tlp)});
  if (!way.arrival.pending()) way.arrival.at(way.flying.front().received);
  if (!way.data_link.perfect()) expect_incidents(way);
}

// When it is received.
vp::Picoseconds Link::put_on_wire(Way& way, const Tlp& tlp, vp::Picoseconds ready) {
  if (sleeps_) ready = wake(way, ready);
  const unsigned bytes = pcie::wire_bytes(tlp, flits_ ? 6 : generation_);
  const Wire::Occupied wire = way.data_link.transmit(ready, bytes);
  const vp::Picoseconds arrival = wire.to + way.latency;
  if (sleeps_) {
    way.used = std::max(way.used, wire.to);
    wake(ways_[index(opposite(direction_of(way)))], arrival);  // for the acknowledgement
  }
  way.wire_bytes += bytes;
  if (trace_.on()) trace_tlp(trace_, wire.from, arrival, name(), way.name, tlp);
  return arrival + way.to.config_.latency;
}

// When that way is in L0 for what is to leave it at `when`.
vp::Picoseconds Link::wake(Way& way, vp::Picoseconds when) {
  Way& other = ways_[index(opposite(direction_of(way)))];
  const unsigned states = way.from.active_states();
  if (states & other.from.active_states() & l1 &&
      when > std::max(way.used, other.used) + config_.l1_after) {
    way.awake = other.awake = when + exit_latency(l1, generation_);
    other.used = std::max(other.used, way.awake);
  } else if (states & l0s && when > way.used + config_.l0s_after) {
    way.awake = when + exit_latency(l0s, generation_);
  }
  const vp::Picoseconds awake = std::max(when, way.awake);
  way.used = std::max(way.used, awake);
  return awake;
}

void Link::keep_awake(vp::Picoseconds until) {
  for (Way& way : ways_) way.used = std::max(way.used, until);
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
    const DataLink::Incident incident = way.data_link.take(end);
    if (!port.link_up_) continue;
    port.detected(incident.error, nullptr);
    if (!incident.retrains || !port.link_up_) continue;
    // What that costs this way is in its packets' times.
    enter_recovery(port);
    recover(ways_[index(opposite(direction_of(way)))], port);
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
      !way.data_link.perfect() ||  // what comes may have to be sent again
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
  const Direction back = opposite(direction_of(way));
  const vp::Picoseconds when = std::max(vp::now(), recovered_) + min_latency(back);
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
  come(way, {vp::now() + min_latency(direction), fault.error});
  return true;
}

void Link::come(Way& way, const Coming& coming) {
  way.errors.push(coming);
  if (!way.error.pending()) way.error.at(coming.when);
}

void Link::lose_lane(Way& way, unsigned lane) {
  const unsigned before = usable_lanes();
  failed_lanes_ |= 1u << lane;
  if (usable_lanes() == before || !way.to.link_up_) return;
  way.to.lane_failed(lane);
  way.to.detected(Error::receiver_error, nullptr);
  if (!way.to.link_up_ || !way.from.link_up_) return;
  choose_mode(generation_);
  recover(way.to);
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
    const Coming coming = way.errors.pop();
    if (coming.failed_lane) lose_lane(way, *coming.failed_lane);
    if (coming.failed_lane || !way.to.link_up_) continue;
    const Error error = coming.error;
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
