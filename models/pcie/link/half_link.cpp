// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/half_link.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/link/limits.h"
#include "models/pcie/link/recovery.h"
#include "models/pcie/protocol/ordering.h"
#include "models/pcie/protocol/tlp_trace.h"

namespace pcie {
namespace {

bool must_not_pass(const Tlp& earlier, const Tlp& later) {
  return passing(later.header, earlier.header) == Passing::no;
}

/// Removes and returns the first packet that can go and that no packet before it holds up.
template <typename CanGo, typename HoldsUp>
TlpPtr extract_next(std::vector<TlpPtr>& queue, CanGo can_go, HoldsUp holds_up) {
  for (auto one = queue.begin(); one != queue.end(); ++one) {
    const auto holds_it_up = [&](const TlpPtr& earlier) { return holds_up(*earlier, **one); };
    if (!can_go(**one) || std::any_of(queue.begin(), one, holds_it_up)) continue;
    TlpPtr found = std::move(*one);
    queue.erase(one);
    return found;
  }
  return nullptr;
}

}  // namespace

HalfLink::HalfLink(const LinkContext& link, LinkMode& mode, Recovery& recovery, HalfLink& opposite,
                   Direction direction, Port& from, Port& to)
    : link_(link),
      recovery_(recovery),
      opposite_(opposite),
      direction_(direction),
      from_(from),
      to_(to),
      latency_(direction == Direction::down ? link.config.latency_down : link.config.latency_up),
      min_latency_(from.config_.latency + mode.shortest_packet() + latency_ + to.config_.latency),
      crosses_(&from.domain() != &to.domain()),
      data_link_(mode.rate(), data_link_config()),
      arrival_(
          to.domain(),
          [this] {
            arrive();
            deliver_early();
          },
          to.domain().new_rank()),
      advertised_(to.config_.credits, link.config.max_payload, to.config_.accepts_atomics,
                  to.config_.deferrable_writes),
      credits_(advertised_),
      update_(from.domain(), [this] { credits_returned(); }),
      faults_(mode, recovery, from, to),
      sender_incident_(from.domain(), [this] { report_incidents(DataLink::End::transmitter); }),
      receiver_incident_(to.domain(), [this] { report_incidents(DataLink::End::receiver); }),
      idle_error_(from.domain(), [this] { meet_idle_error(); }),
      trained_(from.domain(),
               [this] {
                 from_.link_up_ = true;
                 keep_awake(vp::now());
                 opposite_.keep_awake(vp::now());
                 data_link_.sleep_until(vp::now());
                 watch_idle_wire();
                 from_.trained(link_.mode.generation(), link_.mode.lanes());
               }),
      recovered_(from.domain(),
                 [this] { from_.retrained(link_.mode.generation(), link_.mode.lanes()); }) {}

void HalfLink::add_counters(vp::Statistics& statistics) const {
  for (unsigned i = 0; i < tlp_types; ++i) {
    const std::string prefix =
        fmt::format("{}.{}.{}.", link_.name, name(), to_string(static_cast<TlpType>(i)));
    statistics.counter(prefix + "tlps", counts_[i].tlps);
    statistics.counter(prefix + "bytes", counts_[i].bytes);
  }
  const std::string prefix = fmt::format("{}.{}.", link_.name, name());
  statistics.counter(prefix + "wire_bytes", wire_bytes_);
  const DataLink::Counts& errors = data_link_.counts();
  statistics.counter(prefix + "bad_tlps", errors.bad_tlps);
  statistics.counter(prefix + "corrected_flits", errors.corrected_flits);
  statistics.counter(prefix + "replays", errors.replays);
  statistics.counter(prefix + "receiver_errors", errors.receiver_errors);
  statistics.counter(prefix + "replay_timeouts", errors.timeouts);
  statistics.counter(prefix + "replay_rollovers", errors.rollovers);
  statistics.counter(prefix + "retrainings", errors.retrainings);
  // The DLLPs of this direction acknowledge the TLPs of the other one.
  const DataLink::Counts& opposite = opposite_.data_link_.counts();
  statistics.counter(prefix + "bad_dllps", opposite.bad_dllps);
  statistics.counter(prefix + "dllp_receiver_errors", opposite.dllp_receiver_errors);
}

DataLinkConfig HalfLink::data_link_config() const {
  constexpr std::uint64_t dllp_bytes = 8;
  const LinkConfig& config = link_.config;
  const LinkMode& mode = link_.mode;
  const LineRate& rate = mode.rate();
  const vp::Picoseconds symbol = symbol_time(mode.generation());
  DataLinkConfig found;
  found.generation = mode.generation();
  found.lanes = mode.lanes();
  found.bit_error_rate = config.bit_error_rate;
  found.seed = 2 * config.seed + (direction_ == Direction::up);
  found.idle_errors = true;
  found.arrival = latency_ + to_.config_.latency;
  // An idle wire can only be told from a packet when the shortest one would have arrived.
  found.idle_arrival = min_latency_ - from_.config_.latency + 1;
  found.round_trip = config.latency_down + config.latency_up;
  if (mode.flits()) {
    // Both the limit and the NAK's flit are counted from the first bit of a flit.
    found.round_trip += flit_ack_limit(mode.generation(), mode.lanes());
  } else {
    found.round_trip += static_cast<vp::Picoseconds>(dllp_bytes * rate.picoseconds / rate.bytes);
    found.ack_latency = symbol * static_cast<vp::Picoseconds>(ack_latency_limit(
                                     mode.generation(), mode.lanes(), config.max_payload));
  }
  found.retraining = config.retraining;
  return found;
}

// Software may have changed Extended Synch, so the limit is looked up for each packet.
void HalfLink::set_replay_timer() {
  const LinkMode& mode = link_.mode;
  const std::uint64_t limit =
      replay_limit({from_.config_.generation, from_.extended_synch()}, mode.generation(),
                   mode.lanes(), link_.config.max_payload);
  data_link_.set_replay_timer(static_cast<vp::Picoseconds>(limit) * symbol_time(mode.generation()));
}

void HalfLink::cancel_training() {
  trained_.cancel();
  recovered_.cancel();
}

void HalfLink::drop_waiting() {
  waiting_.clear();
  waiting_of_ = {};
  update_.cancel();
}

void HalfLink::clear() {
  in_flight_.clear();
  arrival_.cancel();
  drop_waiting();
  returning_.clear();
  received_.clear();
  credits_ = advertised_;
  restart();
  sender_incident_.cancel();
  receiver_incident_.cancel();
  idle_error_.cancel();
}

void HalfLink::restart() {
  used_ = awake_ = 0;
  constexpr vp::Picoseconds nothing = -1;
  data_link_.retrain(link_.mode.rate(), data_link_config(), vp::now(), nothing, nothing);
}

void HalfLink::recover(const Port& first, vp::Picoseconds end) {
  const bool sender_first = &from_ == &first;
  const vp::Picoseconds known = vp::now() + (sender_first ? latency_ : 0);
  const vp::Picoseconds last = known + to_.config_.latency;
  data_link_.retrain(link_.mode.rate(), data_link_config(), end, vp::now(), last);
  for (std::size_t left = in_flight_.size(); left > 0; --left) {
    InFlight packet = in_flight_.pop();
    if (packet.received > last) {
      packet.received = put_on_wire(*packet.tlp, end);
      if (crosses_) to_.domain().expect(packet.received, link_.name);
    }
    in_flight_.push(std::move(packet));
  }
  if (!in_flight_.empty()) arrival_.at(in_flight_.front().received);
  // The other direction carries the credits of this one.
  const vp::Picoseconds in_time =
      vp::now() + from_.config_.latency + (sender_first ? 0 : opposite_.latency_);
  for (std::size_t left = returning_.size(); left > 0; --left) {
    ReturningCredits returning = returning_.pop();
    if (returning.when > in_time) {
      returning.when = std::max(returning.when, end + opposite_.min_latency_);
    }
    returning_.push(returning);
  }
  await_credits();
  if (!data_link_.perfect()) schedule_incidents();
  watch_idle_wire();
}

void HalfLink::send(TlpPtr tlp) {
  if (waiting_.empty()) {
    if (!credits_.enough_for(*tlp)) collect_credits();
    if (credits_.enough_for(*tlp)) return transmit(std::move(tlp));
  }
  ++waiting_of_[index(credit_class(tlp->header.type))];
  tlp->head_start = 0;
  waiting_.push_back(std::move(tlp));
  // The packets before it cannot go yet, but this one may pass them.
  transmit_next();
  await_credits();
}

bool HalfLink::transmit_next() {
  TlpPtr next = extract_next(
      waiting_, [this](const Tlp& tlp) { return credits_.enough_for(tlp); }, must_not_pass);
  if (!next) return false;
  --waiting_of_[index(credit_class(next->header.type))];
  transmit(std::move(next));
  return true;
}

void HalfLink::transmit(TlpPtr tlp) {
  credits_.consume(*tlp);
  Count& count = counts_[static_cast<unsigned>(tlp->header.type)];
  ++count.tlps;
  count.bytes += tlp->payload_bytes();
  const vp::Picoseconds received = put_on_wire(*tlp, departure(*tlp));
  if (crosses_) to_.domain().expect(received, link_.name);
  in_flight_.push({received, std::move(tlp)});
  if (!arrival_.pending()) arrival_.at(in_flight_.front().received);
  if (!data_link_.perfect()) schedule_incidents();
  watch_idle_wire();
}

// Returns the time at which the TLP is ready for the wire. The wire of a packet with a head start
// has no gap, and its last byte leaves late enough for the lookahead, so later than it has arrived.
// What has happened to the link meanwhile counts: the packet is not on the wire before the link was
// up or before it had its credits. Bit errors of the idle wire are drawn as far as packets that are
// stored can leave.
vp::Picoseconds HalfLink::departure(const Tlp& tlp) const {
  const vp::Picoseconds stored = vp::now() + from_.config_.latency;
  if (tlp.head_start == 0 || !data_link_.perfect()) return stored;
  const LineRate& rate = link_.mode.rate();
  const auto span =
      static_cast<vp::Picoseconds>(pcie::wire_bytes(tlp, format()) * rate.picoseconds / rate.bytes);
  const vp::Picoseconds in_time = stored + link_.mode.shortest_packet() - span;
  return std::min(stored, std::max({stored - tlp.head_start, in_time, used_, credited_}));
}

// The generation whose packets the link carries.
unsigned HalfLink::format() const {
  return link_.mode.flits() ? 6 : link_.mode.generation();
}

// Returns the time at which the port receives the TLP.
vp::Picoseconds HalfLink::put_on_wire(const Tlp& tlp, vp::Picoseconds ready) {
  if (link_.sleeps) ready = wake(ready);
  const unsigned bytes = pcie::wire_bytes(tlp, format());
  if (!data_link_.perfect()) set_replay_timer();
  const Wire::Occupied wire = data_link_.transmit(ready, bytes);
  const vp::Picoseconds arrival = wire.to + latency_;
  if (link_.sleeps) {
    used_ = std::max(used_, wire.to);
    opposite_.wake(arrival);  // the acknowledgement wakes it
  }
  wire_bytes_ += bytes;
  if (link_.trace.on()) trace_tlp(link_.trace, wire.from, arrival, link_.name, name(), tlp);
  return arrival + to_.config_.latency;
}

// The state in which the direction sleeps at that time, if it does.
std::optional<ActiveState> HalfLink::asleep(vp::Picoseconds when) const {
  if (!link_.sleeps) return {};
  const unsigned states = from_.active_states();
  if (states & opposite_.from_.active_states() & l1 &&
      when > std::max(used_, opposite_.used_) + link_.config.l1_after) {
    return l1;
  }
  if (states & l0s && when > used_ + link_.config.l0s_after) return l0s;
  return {};
}

// Returns the time at which the direction is in L0 for a packet that is ready at `when`.
vp::Picoseconds HalfLink::wake(vp::Picoseconds when) {
  const std::optional<ActiveState> state = asleep(when);
  if (state) {
    awake_ = when + exit_latency(*state, link_.mode.generation());
    data_link_.sleep_until(awake_);
    watch_idle_wire();
  }
  if (state == l1) {
    opposite_.awake_ = awake_;
    opposite_.used_ = std::max(opposite_.used_, awake_);
    opposite_.data_link_.sleep_until(awake_);
    opposite_.watch_idle_wire();
  }
  const vp::Picoseconds awake = std::max(when, awake_);
  used_ = std::max(used_, awake);
  return awake;
}

void HalfLink::keep_awake(vp::Picoseconds until) {
  used_ = std::max(used_, until);
}

// A packet that is sent at this moment leaves the port's latency later. So the wire has been idle
// until then, exclusively. The appointment that stands may be too early, since packets were sent.
void HalfLink::watch_idle_wire() {
  const vp::Picoseconds error = data_link_.next_idle_error();
  if (error == vp::never) return;
  const vp::Picoseconds known = std::max(vp::now(), error - from_.config_.latency + 1);
  if (!idle_error_.pending() || known < idle_error_.when()) idle_error_.at(known);
}

void HalfLink::meet_idle_error() {
  const vp::Picoseconds error = data_link_.next_idle_error();
  if (error == vp::never || !from_.link_up_) return;
  const bool known = error - from_.config_.latency + 1 <= vp::now();
  if (known && asleep(error)) return;  // until the next packet
  if (known) {
    data_link_.meet_idle_error();
    schedule_incidents();
  }
  watch_idle_wire();
}

void HalfLink::schedule_incidents() {
  for (const DataLink::End end : {DataLink::End::transmitter, DataLink::End::receiver}) {
    vp::Event& observation = end == DataLink::End::receiver ? receiver_incident_ : sender_incident_;
    const auto& incidents = data_link_.incidents(end);
    if (incidents.empty()) {
      observation.cancel();
    } else if (incidents.front().when != observation.when()) {
      if (crosses_ && end == DataLink::End::receiver) {
        to_.domain().expect(incidents.front().when, link_.name);
      }
      observation.at(incidents.front().when);
    }
  }
}

void HalfLink::report_incidents(DataLink::End end) {
  Port& port = end == DataLink::End::receiver ? to_ : from_;
  const auto& incidents = data_link_.incidents(end);
  // The messages that the port sends about an incident may meet errors, too.
  while (!incidents.empty() && incidents.front().when <= vp::now()) {
    const DataLink::Incident incident = data_link_.observe(end);
    if (!port.link_up_) continue;
    port.detected(incident.error, nullptr);
    if (incident.retrains == DataLink::Retrains::no || !from_.link_up_ || !to_.link_up_) continue;
    if (incident.retrains == DataLink::Retrains::both) {
      recovery_.enter(port);
    } else {
      recovery_.enter_for_incident(*this, port);
    }
  }
  schedule_incidents();
}

// The transmitter gets its credits back.
void HalfLink::credits_returned() {
  collect_credits();
  const auto waited = waiting_of_;
  while (transmit_next()) continue;
  await_credits();
  for (const CreditClass of :
       {CreditClass::posted, CreditClass::completion, CreditClass::non_posted}) {
    if (waited[index(of)] > 0 && waiting_of_[index(of)] == 0) from_.unblocked(of);
  }
}

void HalfLink::collect_credits() {
  while (!returning_.empty() && returning_.front().when <= vp::now()) {
    const ReturningCredits returned = returning_.pop();
    credited_ = returned.when;
    credits_.restore(returned.of, returned.credits);
  }
}

void HalfLink::await_credits() {
  if (!waiting_.empty() && !returning_.empty()) update_.at(returning_.front().when);
}

void HalfLink::arrive() {
  TlpPtr tlp = in_flight_.pop().tlp;
  if (!in_flight_.empty()) arrival_.at(in_flight_.front().received);
  if (!to_.link_up_) return;
  if (faults_.awaits_any() && faults_.apply(tlp)) return return_credits(*tlp);
  const auto holds_it_up = [&](const TlpPtr& earlier) { return holds_up(*earlier, *tlp); };
  tlp->head_start = 0;
  if (to_.ready(*tlp) && std::none_of(received_.begin(), received_.end(), holds_it_up)) {
    if (to_.cuts_through()) tlp->head_start = head_start(*tlp);
    return deliver(std::move(tlp));
  }
  received_.push_back(std::move(tlp));
}

// Whether a packet of the receive buffer has to wait for one before it.
bool HalfLink::holds_up(const Tlp& earlier, const Tlp& later) const {
  return must_not_pass(earlier, later) && to_.binds(later, earlier);
}

// A header in flits is known with its flit, and at least these whole flits follow it. A packet that
// arrives in Recovery has left at a rate that is not known any more.
vp::Picoseconds HalfLink::head_start(const Tlp& tlp) const {
  if (recovery_.end() > vp::now()) return 0;
  const LineRate& rate = link_.mode.rate();
  unsigned bytes = bytes_after_header(tlp, format());
  if (rate.flit != 0) bytes -= bytes % rate.flit;
  return static_cast<vp::Picoseconds>(bytes * rate.picoseconds / rate.bytes);
}

// The rank of the arrival event keeps the order of simultaneous arrivals independent of the order
// in which their appointments are made.
void HalfLink::deliver_early() {
  const auto is_early = [this] {
    return !in_flight_.empty() && to_.can_arrive_early(*in_flight_.front().tlp);
  };
  if (!is_early() || faults_.awaits_any() || !received_.empty() || !to_.link_up_ ||
      !data_link_.perfect() ||  // a packet may have to be sent again
      !credits_.infinite(CreditClass::posted) || !to_.ready(*in_flight_.front().tlp) ||
      sc_core::sc_pending_activity_at_current_time()) {
    return;
  }
  arrival_.cancel();
  const vp::Domain& domain = to_.domain();
  const vp::Picoseconds limit = std::min(domain.floor(), domain.horizon());
  while (is_early() && in_flight_.front().received < limit) {
    to_.receive(in_flight_.pop().tlp);
  }
  if (!in_flight_.empty()) arrival_.at(in_flight_.front().received);
}

// The packet that the port receives may take the link down.
void HalfLink::drain() {
  const std::function<bool(const Tlp&)> any = [](const Tlp&) { return true; };
  while (to_.link_up_ && deliver_one(any)) continue;
}

bool HalfLink::deliver_one(const std::function<bool(const Tlp&)>& wanted) {
  TlpPtr next = extract_next(
      received_, [&](const Tlp& tlp) { return wanted(tlp) && to_.ready(tlp); },
      [this](const Tlp& earlier, const Tlp& later) { return holds_up(earlier, later); });
  if (next == nullptr) return false;
  deliver(std::move(next));
  return true;
}

void HalfLink::deliver(TlpPtr tlp) {
  return_credits(*tlp);
  to_.receive(std::move(tlp));
}

// Returns the credits of a packet that leaves the receive buffer.
void HalfLink::return_credits(const Tlp& tlp) {
  const CreditClass of = credit_class(tlp.header.type);
  if (credits_.infinite(of)) return;
  const vp::Picoseconds when = std::max(vp::now(), recovery_.end()) + opposite_.min_latency_;
  if (crosses_) from_.domain().expect(when, link_.name);
  returning_.push({when, of, Credits::of(tlp)});
  if (!waiting_.empty() && !update_.pending()) update_.at(when);
}

}  // namespace pcie
