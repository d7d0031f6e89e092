// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/link.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/ordering.h"
#include "models/pcie/protocol/tlp_trace.h"

namespace pcie {

void Port::send(TlpPtr tlp) {
  if (link_up_) link_->send(*this, std::move(tlp));
}

bool Port::fits(const Tlp& tlp) const {
  return !link_up_ || link_->half_from(*this).advertised.enough_for(tlp);
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

/// Removes and returns the first packet that can go and may overtake all packets before it.
template <typename CanGo>
TlpPtr extract_next(std::vector<TlpPtr>& queue, CanGo can_go) {
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

Link::HalfLink::HalfLink(Link& link, Direction direction, Port& from, Port& to,
                         const LinkConfig& config)
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
            link.deliver_early(*this);
          },
          to.domain().new_rank()),
      advertised(to.config_.credits, config.max_payload, to.config_.accepts_atomics,
                 to.config_.deferrable_writes),
      credits(advertised),
      update(from.domain(), [&link, this] { link.updated(*this); }),
      error(to.domain(), [&link, this] { link.report_errors(*this); }),
      sender_incident(from.domain(),
                      [&link, this] { link.report_incidents(*this, DataLink::End::transmitter); }),
      receiver_incident(to.domain(),
                        [&link, this] { link.report_incidents(*this, DataLink::End::receiver); }),
      come_up(from.domain(),
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
      halves_{{{*this, Direction::down, upstream, downstream, config},
               {*this, Direction::up, downstream, upstream, config}}},
      recovery_(upstream.domain(), [this] { halves_[0].from.recovering(); }),
      down_(downstream.domain(), [this] { go_down(); }) {
  if (config.latency_down < 0 || config.latency_up < 0 || config.training < 0 ||
      config.l0s_after < 0 || config.l1_after < 0) {
    throw ConfigurationError(fmt::format("{}: a time must not be negative", this->name()));
  }
  for (HalfLink& half : halves_) {
    if (half.from.link_ != nullptr) {
      throw ConfigurationError(fmt::format("{}: a port already has a link", this->name()));
    }
  }
  for (const Direction direction : {Direction::down, Direction::up}) {
    HalfLink& half = halves_[index(direction)];
    half.from.link_ = this;
    half.from.link_up_ = true;
    if (half.crosses) half.to.domain().add_peer(half.from.domain(), min_latency(direction));
    for (unsigned i = 0; i < tlp_types; ++i) {
      const std::string prefix =
          fmt::format("{}.{}.{}.", this->name(), half.name, to_string(static_cast<TlpType>(i)));
      statistics.counter(prefix + "tlps", half.counts[i].tlps);
      statistics.counter(prefix + "bytes", half.counts[i].bytes);
    }
    const std::string prefix = fmt::format("{}.{}.", this->name(), half.name);
    statistics.counter(prefix + "wire_bytes", half.wire_bytes);
    const DataLink::Counts& errors = half.data_link.counts();
    statistics.counter(prefix + "bad_tlps", errors.bad_tlps);
    statistics.counter(prefix + "replays", errors.replays);
    statistics.counter(prefix + "receiver_errors", errors.receiver_errors);
    statistics.counter(prefix + "replay_timeouts", errors.timeouts);
    statistics.counter(prefix + "replay_rollovers", errors.rollovers);
    statistics.counter(prefix + "retrainings", errors.retrainings);
    // The DLLPs of this direction acknowledge the TLPs of the other one.
    statistics.counter(prefix + "bad_dllps",
                       halves_[1 - index(direction)].data_link.counts().bad_dllps);
  }
  upstream.trained(generation_, lanes_);
  downstream.trained(generation_, lanes_);
}

void Link::hold(Reset kind) {
  for (HalfLink& half : halves_) {
    half.come_up.cancel();
    half.recover.cancel();
  }
  recovery_.cancel();
  recovered_ = 0;
  halves_[0].from.link_up_ = false;
  drop_waiting(halves_[0]);
  // A second reset merges with one that has not reached the port downstream yet.
  kind_ = down_.pending() ? std::min(kind_, kind) : kind;
  if (!down_.pending()) down_.after(min_latency(Direction::down));
  halves_[0].from.link_lost(kind);
}

void Link::go_down() {
  halves_[1].from.link_up_ = false;
  for (HalfLink& half : halves_) {
    half.in_flight.clear();
    half.arrival.cancel();
    drop_waiting(half);
    half.returning.clear();
    half.received.clear();
    half.credits = half.advertised;
    restart(half);
    half.sender_incident.cancel();
    half.receiver_incident.cancel();
  }
  halves_[1].from.link_lost(kind_);
}

void Link::release(Reset kind) {
  // After a fundamental reset, the link is trained before the host's first instruction.
  const vp::Picoseconds least = min_latency(Direction::down) + min_latency(Direction::up);
  const vp::Picoseconds span =
      kind == Reset::fundamental ? least : std::max(config_.training, least);
  choose_mode(halves_[0].from.target_generation());
  for (HalfLink& half : halves_) {
    if (!down_.pending()) restart(half);
    half.come_up.after(span);
  }
}

void Link::restart(HalfLink& half) {
  half.used = half.awake = 0;
  constexpr vp::Picoseconds nothing = -1;
  half.data_link.retrain(rate_, data_link_config(direction_of(half), half.to), vp::now(), nothing,
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

// Lane 0 of the link can be at either end: a port that cannot use it there reverses the lanes.
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
  if (!halves_[0].from.link_up_) return false;
  choose_mode(halves_[0].from.target_generation());
  recover(halves_[0].from);
  return true;
}

// `first` is the port that knows of Recovery first.
void Link::recover(const Port& first) {
  enter_recovery(first);
  for (HalfLink& half : halves_) recover(half, first);
}

void Link::enter_recovery(const Port& first) {
  const vp::Picoseconds least = min_latency(Direction::down) + min_latency(Direction::up);
  recovered_ = std::max(recovered_, vp::now() + std::max(config_.retraining, least));
  for (HalfLink& half : halves_) half.recover.at(recovered_);
  keep_awake(recovered_);
  if (&first == &halves_[0].from) {
    halves_[0].from.recovering();
  } else if (!recovery_.pending()) {
    recovery_.after(min_latency(Direction::up));
  }
}

void Link::recover(HalfLink& half, const Port& first) {
  const Direction direction = direction_of(half);
  const bool sender_first = &half.from == &first;
  const vp::Picoseconds known = vp::now() + (sender_first ? half.latency : 0);
  const vp::Picoseconds last = known + half.to.config_.latency;
  half.data_link.retrain(rate_, data_link_config(direction, half.to), recovered_, vp::now(), last);
  for (std::size_t left = half.in_flight.size(); left > 0; --left) {
    InFlight packet = half.in_flight.pop();
    if (packet.received > last) {
      packet.received = put_on_wire(half, *packet.tlp, recovered_);
      if (half.crosses) half.to.domain().expect(packet.received, name());
    }
    half.in_flight.push(std::move(packet));
  }
  if (!half.in_flight.empty()) half.arrival.at(half.in_flight.front().received);
  // The other direction carries the credits of this one.
  const Direction back = opposite(direction);
  const vp::Picoseconds in_time =
      vp::now() + half.from.config_.latency + (sender_first ? 0 : halves_[index(back)].latency);
  for (std::size_t left = half.returning.size(); left > 0; --left) {
    ReturningCredits returning = half.returning.pop();
    if (returning.when > in_time) {
      returning.when = std::max(returning.when, recovered_ + min_latency(back));
    }
    half.returning.push(returning);
  }
  await_credits(half);
  if (!half.data_link.perfect()) schedule_incidents(half);
}

bool Link::fail_lane(Direction direction, unsigned lane) {
  if (lane >= most_lanes_) return false;
  const std::uint32_t before = failed_lanes_;
  failed_lanes_ |= 1u << lane;
  const unsigned left = usable_lanes();
  failed_lanes_ = before;
  if (left == 0) return false;
  schedule_error(halves_[index(direction)],
                 {vp::now() + min_latency(direction), Error::receiver_error, lane});
  return true;
}

vp::Picoseconds Link::min_latency(Direction direction) const {
  const HalfLink& half = halves_[index(direction)];
  const auto serialisation = static_cast<vp::Picoseconds>(
      min_wire_bytes(most_generation_) * best_rate_.picoseconds / best_rate_.bytes);
  return half.from.config_.latency + serialisation + half.latency + half.to.config_.latency;
}

void Link::send(const Port& from, TlpPtr tlp) {
  HalfLink& half = half_from(from);
  if (half.waiting.empty()) {
    if (!half.credits.enough_for(*tlp)) collect_credits(half);
    if (half.credits.enough_for(*tlp)) return transmit(half, std::move(tlp));
  }
  ++half.waiting_of[index(credit_class(tlp->header.type))];
  half.waiting.push_back(std::move(tlp));
  // The packets before it cannot go yet, but this one may pass them.
  transmit_next(half);
  await_credits(half);
}

void Link::updated(HalfLink& half) {
  collect_credits(half);
  const auto waited = half.waiting_of;
  while (transmit_next(half)) continue;
  await_credits(half);
  for (const CreditClass of :
       {CreditClass::posted, CreditClass::completion, CreditClass::non_posted}) {
    if (waited[index(of)] > 0 && half.waiting_of[index(of)] == 0) half.from.unblocked(of);
  }
}

void Link::collect_credits(HalfLink& half) {
  while (!half.returning.empty() && half.returning.front().when <= vp::now()) {
    const ReturningCredits returned = half.returning.pop();
    half.credits.restore(returned.of, returned.credits);
  }
}

bool Link::transmit_next(HalfLink& half) {
  TlpPtr next =
      extract_next(half.waiting, [&half](const Tlp& tlp) { return half.credits.enough_for(tlp); });
  if (!next) return false;
  --half.waiting_of[index(credit_class(next->header.type))];
  transmit(half, std::move(next));
  return true;
}

void Link::await_credits(HalfLink& half) {
  if (!half.waiting.empty() && !half.returning.empty()) half.update.at(half.returning.front().when);
}

bool Link::blocked(const Port& from, CreditClass of) {
  return half_from(from).waiting_of[index(of)] > 0;
}

void Link::drop_waiting(HalfLink& half) {
  half.waiting.clear();
  half.waiting_of = {};
  half.update.cancel();
}

void Link::transmit(HalfLink& half, TlpPtr tlp) {
  half.credits.consume(*tlp);
  Count& count = half.counts[static_cast<unsigned>(tlp->header.type)];
  ++count.tlps;
  count.bytes += tlp->payload_bytes();
  const vp::Picoseconds received = put_on_wire(half, *tlp, vp::now() + half.from.config_.latency);
  if (half.crosses) half.to.domain().expect(received, name());
  half.in_flight.push({received, std::move(tlp)});
  if (!half.arrival.pending()) half.arrival.at(half.in_flight.front().received);
  if (!half.data_link.perfect()) schedule_incidents(half);
}

// Returns the time at which the port receives the TLP.
vp::Picoseconds Link::put_on_wire(HalfLink& half, const Tlp& tlp, vp::Picoseconds ready) {
  if (sleeps_) ready = wake(half, ready);
  const unsigned bytes = pcie::wire_bytes(tlp, flits_ ? 6 : generation_);
  const Wire::Occupied wire = half.data_link.transmit(ready, bytes);
  const vp::Picoseconds arrival = wire.to + half.latency;
  if (sleeps_) {
    half.used = std::max(half.used, wire.to);
    wake(halves_[index(opposite(direction_of(half)))], arrival);  // the acknowledgement wakes it
  }
  half.wire_bytes += bytes;
  if (trace_.on()) trace_tlp(trace_, wire.from, arrival, name(), half.name, tlp);
  return arrival + half.to.config_.latency;
}

// Returns the time at which the direction is in L0 for a packet that is ready at `when`.
vp::Picoseconds Link::wake(HalfLink& half, vp::Picoseconds when) {
  HalfLink& other = halves_[index(opposite(direction_of(half)))];
  const unsigned states = half.from.active_states();
  if (states & other.from.active_states() & l1 &&
      when > std::max(half.used, other.used) + config_.l1_after) {
    half.awake = other.awake = when + exit_latency(l1, generation_);
    other.used = std::max(other.used, half.awake);
  } else if (states & l0s && when > half.used + config_.l0s_after) {
    half.awake = when + exit_latency(l0s, generation_);
  }
  const vp::Picoseconds awake = std::max(when, half.awake);
  half.used = std::max(half.used, awake);
  return awake;
}

void Link::keep_awake(vp::Picoseconds until) {
  for (HalfLink& half : halves_) half.used = std::max(half.used, until);
}

void Link::schedule_incidents(HalfLink& half) {
  for (const DataLink::End end : {DataLink::End::transmitter, DataLink::End::receiver}) {
    vp::Event& observation =
        end == DataLink::End::receiver ? half.receiver_incident : half.sender_incident;
    const auto& incidents = half.data_link.incidents(end);
    if (incidents.empty()) {
      observation.cancel();
    } else if (incidents.front().when != observation.when()) {
      if (half.crosses && end == DataLink::End::receiver) {
        half.to.domain().expect(incidents.front().when, name());
      }
      observation.at(incidents.front().when);
    }
  }
}

void Link::report_incidents(HalfLink& half, DataLink::End end) {
  Port& port = end == DataLink::End::receiver ? half.to : half.from;
  const auto& incidents = half.data_link.incidents(end);
  // The messages that the port sends about an incident may meet errors, too.
  while (!incidents.empty() && incidents.front().when <= vp::now()) {
    const DataLink::Incident incident = half.data_link.observe(end);
    if (!port.link_up_) continue;
    port.detected(incident.error, nullptr);
    if (!incident.retrains || !port.link_up_) continue;
    // The times of this direction's packets already include that cost.
    enter_recovery(port);
    recover(halves_[index(opposite(direction_of(half)))], port);
  }
  schedule_incidents(half);
}

void Link::arrive(HalfLink& half) {
  TlpPtr tlp = half.in_flight.pop().tlp;
  if (!half.in_flight.empty()) half.arrival.at(half.in_flight.front().received);
  if (!half.to.link_up_) return;
  if (!half.faults.empty() && apply_fault(half, tlp)) return return_credits(half, *tlp);
  if (half.received.empty() && half.to.ready(credit_class(tlp->header.type))) {
    return deliver(half, std::move(tlp));
  }
  half.received.push_back(std::move(tlp));
  drain(half.to);
}

// The rank of the arrival event keeps the order of simultaneous arrivals independent of the order
// in which their appointments are made.
void Link::deliver_early(HalfLink& half) {
  const auto is_early = [&half] {
    return !half.in_flight.empty() && half.to.can_arrive_early(*half.in_flight.front().tlp);
  };
  if (!is_early() || !half.faults.empty() || !half.received.empty() || !half.to.link_up_ ||
      !half.data_link.perfect() ||  // a packet may have to be sent again
      !half.credits.infinite(CreditClass::posted) || !half.to.ready(CreditClass::posted) ||
      sc_core::sc_pending_activity_at_current_time()) {
    return;
  }
  half.arrival.cancel();
  const vp::Domain& domain = half.to.domain();
  const vp::Picoseconds limit = std::min(domain.floor(), domain.horizon());
  while (is_early() && half.in_flight.front().received < limit) {
    half.to.receive(half.in_flight.pop().tlp);
  }
  if (!half.in_flight.empty()) half.arrival.at(half.in_flight.front().received);
}

bool Link::drain(const Port& to) {
  HalfLink& half = halves_[&to == &halves_[0].to ? 0 : 1];
  const auto ready = [&](const Tlp& tlp) { return half.to.ready(credit_class(tlp.header.type)); };
  bool any = false;
  // The packet that the port receives may take the link down.
  while (half.to.link_up_) {
    TlpPtr next = extract_next(half.received, ready);
    if (next == nullptr) break;
    deliver(half, std::move(next));
    any = true;
  }
  return any;
}

// Returns the credits of a packet that leaves the receive buffer.
void Link::return_credits(HalfLink& half, const Tlp& tlp) {
  const CreditClass of = credit_class(tlp.header.type);
  if (half.credits.infinite(of)) return;
  const Direction back = opposite(direction_of(half));
  const vp::Picoseconds when = std::max(vp::now(), recovered_) + min_latency(back);
  if (half.crosses) half.from.domain().expect(when, name());
  half.returning.push({when, of, Credits::of(tlp)});
  if (!half.waiting.empty() && !half.update.pending()) half.update.at(when);
}

void Link::deliver(HalfLink& half, TlpPtr tlp) {
  return_credits(half, *tlp);
  half.to.receive(std::move(tlp));
}

bool is_possible(Direction direction, const Fault& fault) {
  // Surprise Down and ACS violations exist only in downstream ports, which receive what goes up.
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
  HalfLink& half = halves_[index(direction)];
  if (fault.type) {
    half.faults.push_back(fault);
    return true;
  }
  schedule_error(half, {vp::now() + min_latency(direction), fault.error});
  return true;
}

void Link::schedule_error(HalfLink& half, const ScheduledError& scheduled) {
  half.errors.push(scheduled);
  if (!half.error.pending()) half.error.at(scheduled.when);
}

void Link::apply_lane_failure(HalfLink& half, unsigned lane) {
  const unsigned before = usable_lanes();
  failed_lanes_ |= 1u << lane;
  if (usable_lanes() == before || !half.to.link_up_) return;
  half.to.lane_failed(lane);
  half.to.detected(Error::receiver_error, nullptr);
  if (!half.to.link_up_ || !half.from.link_up_) return;
  choose_mode(generation_);
  recover(half.to);
}

// Applies the fault that waits for this TLP. Returns whether the port does not receive the TLP.
bool Link::apply_fault(HalfLink& half, TlpPtr& tlp) {
  // Every fault for this type counts the TLP. The first fault that reaches its number applies.
  auto chosen = half.faults.end();
  for (auto fault = half.faults.begin(); fault != half.faults.end(); ++fault) {
    if (*fault->type != tlp->header.type) continue;
    if (fault->number > 1) {
      --fault->number;
    } else if (chosen == half.faults.end()) {
      chosen = fault;
    }
  }
  if (chosen == half.faults.end()) return false;
  const Error error = chosen->error;
  half.faults.erase(chosen);
  switch (error) {
    case Error::completion_timeout:
      return true;
    case Error::unexpected_completion: {
      TlpPtr copy = Tlp::make(tlp->header.type);
      copy->header = tlp->header;
      copy->set_data_length(tlp->get_data_length());
      std::copy_n(tlp->data(), std::min(tlp->payload_bytes(), Tlp::max_bytes), copy->data());
      half.to.receive(std::move(copy));
      return false;
    }
    case Error::poisoned_tlp:
      tlp->header.poisoned = true;
      return false;
    case Error::ecrc:
      if (!tlp->header.ecrc || !half.to.checks_digests()) return false;
      [[fallthrough]];
    default:
      half.to.detected(error, has_tlp(error) ? tlp.get() : nullptr);
      return has_tlp(error) || error == Error::receiver_overflow;
  }
}

void Link::report_errors(HalfLink& half) {
  while (!half.errors.empty() && half.errors.front().when <= vp::now()) {
    const ScheduledError scheduled = half.errors.pop();
    if (scheduled.failed_lane) apply_lane_failure(half, *scheduled.failed_lane);
    if (scheduled.failed_lane || !half.to.link_up_) continue;
    const Error error = scheduled.error;
    if (error == Error::ecrc && !half.to.checks_digests()) continue;
    const std::uint8_t nothing[4] = {};
    TlpPtr tlp = Tlp::memory_write(0, nothing, 4);
    tlp->header.poisoned = error == Error::poisoned_tlp;
    tlp->header.ecrc = error == Error::ecrc;
    if (error == Error::unexpected_completion) {
      tlp = Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::success);
    }
    half.to.detected(error, has_tlp(error) ? tlp.get() : nullptr);
  }
  if (!half.errors.empty()) half.error.at(half.errors.front().when);
}

}  // namespace pcie
