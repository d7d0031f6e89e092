// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/half_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "models/pcie/data_link/limits.h"
#include "models/pcie/link/buffer_sizes.h"
#include "models/pcie/link/recovery.h"
#include "models/pcie/protocol/ordering.h"
#include "models/pcie/protocol/tlp_trace.h"

namespace pcie {
namespace {

bool must_not_pass(const Tlp& earlier, const Tlp& later) {
  return passing(later.header, earlier.header) == Passing::no;
}

/// Finds the first packet that can go and that no packet before it holds up.
template <typename CanGo, typename HoldsUp>
auto find_next(std::vector<TlpPtr>& queue, CanGo can_go, HoldsUp holds_up) {
  for (auto one = queue.begin(); one != queue.end(); ++one) {
    const auto holds_it_up = [&](const TlpPtr& earlier) { return holds_up(*earlier, **one); };
    if (can_go(**one) && std::none_of(queue.begin(), one, holds_it_up)) return one;
  }
  return queue.end();
}

TlpPtr extract(std::vector<TlpPtr>& queue, std::vector<TlpPtr>::iterator one) {
  TlpPtr found = std::move(*one);
  queue.erase(one);
  return found;
}

/// How long an ACK or an UpdateFC waits for more of its kind. Each flit carries both.
vp::Picoseconds dllp_limit(const LinkMode& mode, unsigned max_payload) {
  return mode.flits() ? 0 : ack_latency_limit_time(mode.generation(), mode.lanes(), max_payload);
}

CreditConfig advertised_by(const PortConfig& receiver, const LinkConfig& link,
                           const PortConfig& sender) {
  if (!receiver.credits.by_link) return receiver.credits;
  // 3.3: both ends have to know scaled flow control.
  const bool scaled = std::min(sender.generation, receiver.generation) >= 4;
  CreditConfig credits = default_credits(link, sender.latency, receiver.latency, scaled);
  if (!receiver.limits_completions) {
    credits.classes[static_cast<unsigned>(CreditClass::completion)] = {};
  }
  return credits;
}

std::uint64_t transmit_queue_size(const LinkConfig& config, const LineRate& rate,
                                  const Port& from) {
  if (config.transmit_queue != 0) return config.transmit_queue;
  return buffer_for({rate, config.max_payload, from.port_config().latency});
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
      queue_(transmit_queue_size(link.config, mode.rate(), from)),
      data_link_(mode.rate(), data_link_config()),
      arrival_(
          to.domain(),
          [this] {
            // A packet of another kind may have woken a processor, which now sends packets.
            const bool begins_burst =
                in_flight_.size() > 1 && to_.can_arrive_early(*in_flight_.front().tlp);
            arrive();
            if (begins_burst && !in_flight_.empty()) deliver_early();
          },
          to.domain().new_rank()),
      advertised_(advertised_by(to.config_, link.config, from.config_), link.config.max_payload,
                  to.config_.accepts_atomics, to.config_.deferrable_writes),
      credits_(advertised_),
      room_(from.domain(), [this] { admit_waiting(); }),
      credit_return_(advertised_),
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
                 // A lane may have failed since the other end came up, at the same time.
                 if (to_.link_up_ && data_link_.lanes() != link_.mode.lanes())
                   recovery_.enter(from_);
               }),
      recovered_(from.domain(),
                 [this] { from_.retrained(link_.mode.generation(), link_.mode.lanes()); }) {
  follow_mode();
}

void HalfLink::follow_mode() {
  dllp_limit_ = dllp_limit(link_.mode, link_.config.max_payload);
  credit_return_.set_limit(dllp_limit_);
}

void HalfLink::add_counters(vp::Statistics& statistics) const {
  for (unsigned i = 0; i < tlp_types; ++i) {
    const std::string prefix =
        fmt::format("{}.{}.{}.", link_.name, name(), to_string(static_cast<TlpType>(i)));
    statistics.counter(prefix + "tlps", counts_[i].tlps);
    statistics.counter(prefix + "bytes", counts_[i].bytes);
  }
  const std::string prefix = fmt::format("{}.{}.", link_.name, name());
  statistics.counter(prefix + "wire_bytes", wire_bytes_);
  statistics.counter(prefix + "dllps", data_link_.counts().dllps);
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
    found.ack_latency = dllp_limit(mode, config.max_payload);
  }
  found.retraining = config.retraining;
  found.retry_buffer = config.retry_buffer;
  if (found.retry_buffer == 0) {
    found.retry_buffer =
        buffer_for({rate, config.max_payload, found.round_trip + found.ack_latency});
  }
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

std::vector<TlpPtr> HalfLink::drop_waiting() {
  waiting_of_ = {};
  room_.cancel();
  return std::exchange(waiting_, {});
}

void HalfLink::clear() {
  in_flight_.clear();
  arrival_.cancel();
  drop_waiting();
  returning_.clear();
  received_.clear();
  credits_ = advertised_;
  credit_return_ = CreditReturn(advertised_);
  restart();
  sender_incident_.cancel();
  receiver_incident_.cancel();
  idle_error_.cancel();
}

void HalfLink::restart() {
  used_ = awake_ = 0;
  acks_.clear();
  ack_leaves_ = -1;
  queue_.clear();
  follow_mode();
  constexpr vp::Picoseconds nothing = -1;
  data_link_.retrain(link_.mode.rate(), data_link_config(), vp::now(), nothing, nothing);
}

void HalfLink::recover(const Port& first, vp::Picoseconds end) {
  const bool sender_first = &from_ == &first;
  const vp::Picoseconds known = vp::now() + (sender_first ? latency_ : 0);
  const vp::Picoseconds last = known + to_.config_.latency;
  // Recovery ends in L0, and what was to wake the direction later is sent again.
  used_ = end;
  awake_ = std::min(awake_, end);
  data_link_.retrain(link_.mode.rate(), data_link_config(), end, vp::now(), last);
  queue_.clear();
  follow_mode();
  opposite_.forget_acks(known);
  for (std::size_t left = in_flight_.size(); left > 0; --left) {
    InFlight packet = in_flight_.pop();
    if (packet.received > last) {
      packet.received = put_on_wire(*packet.tlp, wire_bytes(*packet.tlp), end);
      if (crosses_) to_.domain().expect(packet.received, link_.name);
    }
    in_flight_.push(std::move(packet));
  }
  if (!in_flight_.empty()) arrival_.at(in_flight_.front().received);
  if (!data_link_.perfect()) schedule_incidents();
  watch_idle_wire();
}

// The other direction carries the credits of this one.
void HalfLink::delay_credits(const Port& first, vp::Picoseconds end) {
  const vp::Picoseconds in_time =
      vp::now() + from_.config_.latency + (&from_ == &first ? 0 : opposite_.latency_);
  for (ReturningCredits& returning : returning_) {
    if (returning.when > in_time) {
      returning.when = std::max(returning.when, end + opposite_.min_latency_);
    }
  }
  await_room();
}

void HalfLink::send(TlpPtr tlp) {
  if (waiting_.empty()) {
    if (!credits_.enough_for(*tlp)) collect_credits();
    const unsigned bytes = wire_bytes(*tlp);
    if (credits_.enough_for(*tlp) && has_room(bytes)) return transmit(std::move(tlp), bytes);
  }
  const Tlp& sent = *tlp;
  ++waiting_of_[index(credit_class(sent.header.type))];
  tlp->head_start = 0;
  waiting_.push_back(std::move(tlp));
  // It may pass those that have no credits. For those that wait for room, there is an appointment.
  const auto next = next_to_leave();
  if (next != waiting_.end() && next->get() == &sent) transmit_waiting(next);
  await_room();
}

// The packets that have credits leave in order, so that a small one takes no room from a large one.
std::vector<TlpPtr>::iterator HalfLink::next_to_leave() {
  return find_next(
      waiting_, [this](const Tlp& tlp) { return credits_.enough_for(tlp); }, must_not_pass);
}

bool HalfLink::has_room(unsigned bytes) {
  return queue_.has_room(vp::now(), bytes);
}

unsigned HalfLink::wire_bytes(const Tlp& tlp) const {
  return pcie::wire_bytes(tlp, format());
}

// Transmits the packet if there is one and the queue has room for it. Returns whether it does.
bool HalfLink::transmit_waiting(std::vector<TlpPtr>::iterator one) {
  if (one == waiting_.end()) return false;
  const unsigned bytes = wire_bytes(**one);
  if (!has_room(bytes)) return false;
  TlpPtr tlp = extract(waiting_, one);
  --waiting_of_[index(credit_class(tlp->header.type))];
  transmit(std::move(tlp), bytes);
  return true;
}

void HalfLink::transmit(TlpPtr tlp, unsigned bytes) {
  Count& count = counts_[static_cast<unsigned>(tlp->header.type)];
  ++count.tlps;
  count.bytes += tlp->payload_bytes();
  const vp::Picoseconds received = put_on_wire(*tlp, bytes, departure(*tlp, bytes));
  credits_.consume(*tlp);
  if (crosses_) to_.domain().expect(received, link_.name);
  in_flight_.push({received, std::move(tlp)});
  if (!arrival_.pending()) arrival_.at(in_flight_.front().received);
  if (data_link_.perfect()) return;
  schedule_incidents();
  watch_idle_wire();
}

// Returns the time at which the TLP is ready for the wire. The wire of a packet with a head start
// has no gap, and its last byte leaves late enough for the lookahead, so later than it has arrived.
// What has happened to the link meanwhile counts: the packet is not on the wire before the link was
// up or before it had its credits. Bit errors of the idle wire are drawn as far as packets that are
// stored can leave.
vp::Picoseconds HalfLink::departure(const Tlp& tlp, unsigned bytes) const {
  const vp::Picoseconds stored = vp::now() + from_.config_.latency;
  if (tlp.head_start == 0 || !data_link_.perfect()) return stored;
  const LineRate& rate = link_.mode.rate();
  const auto span = static_cast<vp::Picoseconds>(bytes * rate.picoseconds / rate.bytes);
  const vp::Picoseconds in_time = stored + link_.mode.shortest_packet() - span;
  return std::min(stored, std::max({stored - tlp.head_start, in_time, used_, credited_}));
}

// The generation whose packets the link carries.
unsigned HalfLink::format() const {
  return link_.mode.flits() ? 6 : link_.mode.generation();
}

// Returns the time at which the port receives the TLP.
vp::Picoseconds HalfLink::put_on_wire(const Tlp& tlp, unsigned bytes, vp::Picoseconds ready) {
  if (link_.sleeps) ready = wake(ready);
  if (!data_link_.perfect()) set_replay_timer();
  const Wire::Occupied wire = data_link_.transmit(ready, bytes);
  queue_.push(wire.from, wire.to, bytes);
  const vp::Picoseconds arrival = wire.to + latency_;
  if (link_.sleeps) {
    used_ = std::max(used_, wire.to);
    opposite_.acknowledge_at(arrival);
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
      when > std::max(last_use(), opposite_.last_use()) + link_.config.l1_after &&
      permits_l1(when) && opposite_.permits_l1(when)) {
    return l1;
  }
  if (states & l0s && when > used_ + link_.config.l0s_after) return l0s;
  return {};
}

// The end of the last transmission, or the last ACK of a packet on its way. A link is not in L1
// while it owes an ACK.
vp::Picoseconds HalfLink::last_use() const {
  return acks_.empty() ? used_ : std::max(used_, acks_[acks_.size() - 1]);
}

// A link does not enter L1 before both senders have credits for the largest packet of each class
// (5.4.1.3.1). One that has them before `when` has been in L1 until then, if it was idle.
bool HalfLink::permits_l1(vp::Picoseconds when) const {
  if (!waiting_.empty()) return false;
  for (unsigned i = 0; i < credit_classes; ++i) {
    const auto of = static_cast<CreditClass>(i);
    if (credits_.infinite(of)) continue;
    Credits left = credits_.available(of);
    for (const ReturningCredits& returning : returning_) {
      if (returning.of != of || returning.when > when) continue;
      if (left.headers != ~0u) left.headers += returning.credits.headers;
      if (left.data != ~0u) left.data += returning.credits.data;
    }
    const Credits largest = credits_.largest(of);
    if (left.headers < largest.headers || left.data < largest.data) return false;
  }
  return true;
}

// Returns the time at which the direction is in L0 for a packet that is ready at `when`, after the
// ACKs that leave before it.
vp::Picoseconds HalfLink::wake(vp::Picoseconds when) {
  pass_acks(when);
  return leave_sleep(when);
}

vp::Picoseconds HalfLink::leave_sleep(vp::Picoseconds when) {
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

// The ACK of a packet that arrives at `when` wakes the direction. Packets that are ready before
// that do not notice. With bit errors the ACK counts at once, since errors of the idle wire are
// drawn ahead.
void HalfLink::acknowledge_at(vp::Picoseconds when) {
  if (data_link_.perfect()) {
    acks_.push(when);
  } else {
    leave_sleep(when);
  }
}

void HalfLink::pass_acks(vp::Picoseconds when) {
  for (; !acks_.empty() && acks_.front() <= when; acks_.pop()) leave_sleep(acks_.front());
}

// The packets that would have arrived after that time are sent again.
void HalfLink::forget_acks(vp::Picoseconds after) {
  for (std::size_t left = acks_.size(); left > 0; --left) {
    const vp::Picoseconds when = acks_.pop();
    if (when <= after) acks_.push(when);
  }
}

void HalfLink::keep_awake(vp::Picoseconds until) {
  resume_idle_wire();
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

bool HalfLink::idle_error_known() const {
  return data_link_.next_idle_error() - from_.config_.latency + 1 <= vp::now();
}

// An idle error that was due while the direction slept has been put off. If there is one, the wire
// has slept until now.
void HalfLink::resume_idle_wire() {
  if (data_link_.perfect() || idle_error_.pending() || !idle_error_known()) return;
  data_link_.sleep_until(vp::now());
  watch_idle_wire();
}

void HalfLink::meet_idle_error() {
  const vp::Picoseconds error = data_link_.next_idle_error();
  if (error == vp::never || !from_.link_up_) return;
  if (idle_error_known() && asleep(error)) return;       // until the direction is used
  if (idle_error_known()) data_link_.send_dllps(error);  // the wire is not idle meanwhile
  if (idle_error_known()) {
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

void HalfLink::admit_waiting() {
  collect_credits();
  const auto waited = waiting_of_;
  while (transmit_waiting(next_to_leave())) continue;
  await_room();
  for (const CreditClass of :
       {CreditClass::posted, CreditClass::completion, CreditClass::non_posted}) {
    if (waited[index(of)] > 0 && waiting_of_[index(of)] == 0) from_.unblocked(of);
  }
}

void HalfLink::collect_credits() {
  auto one = returning_.begin();
  for (; one != returning_.end() && one->when <= vp::now(); ++one) {
    credited_ = one->when;
    credits_.restore(one->of, one->credits);
  }
  returning_.erase(returning_.begin(), one);
}

// Nothing can leave now: the next packet that has credits waits for room. An appointment for this
// instant stands: a packet is leaving the queue now.
void HalfLink::await_room() {
  if (waiting_.empty() || room_.when() <= vp::now()) return;
  vp::Picoseconds when = returning_.empty() ? vp::never : returning_.front().when;
  if (next_to_leave() != waiting_.end()) when = std::min(when, queue_.next_leaves(vp::now()));
  if (when != vp::never) room_.at(std::max(when, vp::now()));
}

void HalfLink::arrive() {
  TlpPtr tlp = in_flight_.pop().tlp;
  if (!in_flight_.empty()) arrival_.at(in_flight_.front().received);
  if (!to_.link_up_) return;
  take(*tlp, vp::now());
  if (faults_.awaits_any() && faults_.apply(tlp)) return return_credits(*tlp, vp::now());
  const auto holds_it_up = [&](const TlpPtr& earlier) { return holds_up(*earlier, *tlp); };
  tlp->head_start = 0;
  if (to_.ready(*tlp) && std::none_of(received_.begin(), received_.end(), holds_it_up)) {
    if (to_.cuts_through()) tlp->head_start = head_start(*tlp);
    return deliver(std::move(tlp), vp::now());
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
  const vp::Domain& domain = to_.domain();
  // What acts before the next packet arrives may notice it: a processor that polls memory, as a
  // rule.
  if (domain.floor() < in_flight_.front().received) return;
  // A processor that the last packet has woken acts at this instant.
  if (vp::Calendar::processors().next_event() <= vp::now()) return;
  const auto is_early = [this] {
    return !in_flight_.empty() && to_.can_arrive_early(*in_flight_.front().tlp);
  };
  if (!is_early() || faults_.awaits_any() || !received_.empty() || !to_.link_up_ ||
      // a packet may have to be sent again
      !data_link_.perfect() || faults_.scheduled_any() || opposite_.faults_.scheduled_any() ||
      !to_.ready(*in_flight_.front().tlp) || sc_core::sc_pending_activity_at_current_time()) {
    return;
  }
  arrival_.cancel();
  const vp::Picoseconds limit = std::min(domain.floor(), domain.horizon());
  while (is_early() && in_flight_.front().received < limit) {
    InFlight first = in_flight_.pop();
    take(*first.tlp, first.received);
    deliver(std::move(first.tlp), first.received);
  }
  if (!in_flight_.empty()) arrival_.at(in_flight_.front().received);
}

// The packet that the port receives may take the link down.
void HalfLink::drain() {
  const std::function<bool(const Tlp&)> any = [](const Tlp&) { return true; };
  while (to_.link_up_ && deliver_one(any)) continue;
}

bool HalfLink::deliver_one(const std::function<bool(const Tlp&)>& wanted) {
  const auto next = find_next(
      received_, [&](const Tlp& tlp) { return wanted(tlp) && to_.ready(tlp); },
      [this](const Tlp& earlier, const Tlp& later) { return holds_up(earlier, later); });
  if (next == received_.end()) return false;
  deliver(extract(received_, next), vp::now());
  return true;
}

// The packet that the port receives at `when` enters the receive buffer. The ACK is for all packets
// that arrive until it leaves.
void HalfLink::take(const Tlp& tlp, vp::Picoseconds when) {
  credit_return_.arrived(tlp, when);
  if (link_.sleeps) opposite_.pass_acks(when - to_.config_.latency);
  if (link_.config.dllps != DllpAccount::traffic || link_.mode.flits()) return;
  const vp::Picoseconds arrival = when - to_.config_.latency;
  if (arrival <= ack_leaves_) return;
  ack_leaves_ = arrival + dllp_limit_;
  opposite_.send_dllp(ack_leaves_);
}

// A DLLP of this direction leaves at `when`.
void HalfLink::send_dllp(vp::Picoseconds when) {
  resume_idle_wire();
  data_link_.schedule_dllp(when, vp::now());
  if (!data_link_.perfect()) schedule_incidents();
}

// Returns when a DLLP leaves the sender that is to leave at `when` without delay: it wakes the
// direction, and follows the packet that is on the wire. Those that wait for the wire follow it.
vp::Picoseconds HalfLink::dllp_leaves(vp::Picoseconds when) {
  const vp::Picoseconds latency = from_.config_.latency;
  vp::Picoseconds leaves = when + latency;
  if (link_.sleeps) leaves = wake(leaves);
  if (link_.config.dllps == DllpAccount::traffic && !link_.mode.flits()) {
    leaves = queue_.end_of_packet(leaves);
  }
  return leaves - latency;
}

void HalfLink::deliver(TlpPtr tlp, vp::Picoseconds when) {
  return_credits(*tlp, when);
  to_.receive(std::move(tlp));
}

// Returns the credits of a packet that leaves the receive buffer at `when`.
void HalfLink::return_credits(const Tlp& tlp, vp::Picoseconds when) {
  const CreditClass of = credit_class(tlp.header.type);
  if (credits_.infinite(of)) return;
  const CreditReturn::Update update = credit_return_.freed(of, Credits::of(tlp), when);
  if (update.leaves == vp::never) return;
  vp::Picoseconds leaves = std::max(update.leaves, recovery_.end());
  if (update.urgent) leaves = opposite_.dllp_leaves(leaves);
  if (update.replaces != update.leaves && link_.config.dllps == DllpAccount::traffic) {
    if (update.replaces != vp::never) opposite_.data_link_.cancel_dllp(update.replaces);
    opposite_.send_dllp(update.leaves);
  }
  const auto last_of_class = [this, of] {
    return std::find_if(returning_.rbegin(), returning_.rend(),
                        [of](const auto& one) { return one.of == of; });
  };
  if (update.replaces != vp::never) {
    const auto replaced = last_of_class();
    assert(replaced != returning_.rend());
    returning_.erase(std::prev(replaced.base()));
  }
  // No UpdateFC passes one of its class, which may have had to wait longer.
  const auto before = last_of_class();
  vp::Picoseconds back = leaves + opposite_.min_latency_;
  if (before != returning_.rend()) back = std::max(back, before->when);
  if (crosses_) from_.domain().expect(back, link_.name);
  const auto later = std::find_if(returning_.rbegin(), returning_.rend(),
                                  [back](const auto& one) { return one.when <= back; });
  returning_.insert(later.base(), {back, of, update.credits});
  if (!waiting_.empty()) await_room();
}

}  // namespace pcie
