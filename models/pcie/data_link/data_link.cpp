// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/data_link.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {

using Fate = BitErrors::Fate;

DataLink::DataLink(LineRate rate, const DataLinkConfig& config)
    : config_(config),
      rate_(rate),
      wire_(rate),
      errors_({}, config.seed),
      retry_buffer_(config.retry_buffer) {
  if (!(config.bit_error_rate >= 0 && config.bit_error_rate <= 1e-4)) {
    throw ConfigurationError("the bit error rate must be from 0 to 1e-4");
  }
  if (config.arrival < 0 || config.idle_arrival < 0 || config.round_trip < 0 ||
      config.ack_latency < 0 || config.replay_timer < 0 || config.retraining < 0) {
    throw ConfigurationError("a time of the data link layer must not be negative");
  }
  begin();
}

BitErrors::Mode DataLink::mode() const {
  return {config_.bit_error_rate, config_.generation, config_.lanes, flits()};
}

// Begins with the wire as it is.
void DataLink::begin() {
  acknowledged_ = 0;
  ack_lost_ = false;
  retry_buffer_.clear();
  dllps_.clear();
  unacknowledged_ = {};
  framing_lost_ = false;
  if (perfect()) return;
  errors_.change(mode());
  if (flits()) {
    const std::uint64_t first = wire_.flit_at(wire_.free());
    next_fatal_flit(first);
    corrected_flit_ = first + errors_.flits_without_correction();
  } else {
    idle_left_ = errors_.idle_time();
  }
}

DataLink::Incident DataLink::observe(End end) {
  auto& incidents = incidents_[index(end)];
  const Incident first = incidents.front();
  incidents.erase(incidents.begin());
  counts_.retrainings += first.retrains != Retrains::no;
  switch (first.error) {
    case Error::bad_tlp:
      ++counts_.bad_tlps;
      break;
    case Error::receiver_error:
      ++(end == End::receiver ? counts_.receiver_errors : counts_.dllp_receiver_errors);
      break;
    case Error::bad_dllp:
      ++counts_.bad_dllps;
      break;
    case Error::replay_timeout:
      ++counts_.timeouts;
      break;
    default:
      ++counts_.rollovers;
  }
  return first;
}

void DataLink::retrain(LineRate rate, const DataLinkConfig& config, vp::Picoseconds when,
                       vp::Picoseconds transmitter_saw, vp::Picoseconds receiver_saw) {
  const Unacknowledged held = unacknowledged_;
  rate_ = rate;
  config_ = config;
  wire_ = Wire(rate);
  wire_.occupy(when, 0);
  begin();
  for (const End end : {End::transmitter, End::receiver}) {
    auto& incidents = incidents_[index(end)];
    const vp::Picoseconds last = end == End::receiver ? receiver_saw : transmitter_saw;
    while (!incidents.empty() && incidents.back().when > last) incidents.pop_back();
  }
  // The replay timer does not advance in Recovery.
  if (transmitter_saw >= 0 && held.expires != vp::never && held.expires > transmitter_saw) {
    unacknowledged_ = {held.expires + (when - transmitter_saw), held.bytes};
    record(End::transmitter, {unacknowledged_.expires, Error::replay_timeout});
  }
}

vp::Picoseconds DataLink::next_idle_error() const {
  if (perfect() || !config_.idle_errors || framing_lost_) return vp::never;
  if (!flits()) return wire_.free() + idle_left_;
  // So many flits take longer than any simulation.
  constexpr std::uint64_t without_end = std::uint64_t{1} << 40;
  const bool soon = fatal_flit_ - wire_.flit_at(wire_.free()) < without_end;
  return soon ? wire_.end_of_flit(fatal_flit_) : vp::never;
}

void DataLink::meet_idle_error() {
  const vp::Picoseconds when = next_idle_error();
  const bool framing = flits() ? fatal_ == Fate::framing : config_.generation >= 3;
  record(End::receiver, {when + config_.idle_arrival, Error::receiver_error,
                         framing ? Retrains::both : Retrains::no});
  framing_lost_ = framing;
  if (flits()) {
    next_fatal_flit(fatal_flit_ + 1);
  } else {
    idle_left_ += errors_.idle_time();
  }
}

void DataLink::sleep_until(vp::Picoseconds when) {
  if (perfect()) return;
  wire_.occupy(when, 0);
  if (flits()) {
    if (fatal_flit_ < wire_.flit_at(when)) next_fatal_flit(wire_.flit_at(when));
  } else {
    idle_left_ = errors_.idle_time();
  }
}

void DataLink::pass_idle_time(vp::Picoseconds until) {
  const vp::Picoseconds idle = until - wire_.free();
  if (!config_.idle_errors || idle <= 0) return;
  while (!framing_lost_ && idle_left_ < idle) meet_idle_error();
  idle_left_ = std::max<vp::Picoseconds>(idle_left_ - idle, 0);
}

void DataLink::next_fatal_flit(std::uint64_t from) {
  fatal_flit_ = from + errors_.flits_without_fatal_error();
  fatal_ = errors_.fatal_error();
}

void DataLink::count_corrected_flits(std::uint64_t first, std::uint64_t last) {
  if (corrected_flit_ < first) corrected_flit_ = first + errors_.flits_without_correction();
  while (corrected_flit_ <= last) {
    counts_.corrected_flits += corrected_flit_ != fatal_flit_;
    corrected_flit_ += 1 + errors_.flits_without_correction();
  }
}

void DataLink::schedule_dllp(vp::Picoseconds when, vp::Picoseconds now) {
  if (flits()) return;
  ++counts_.dllps;
  dllps_.insert(std::upper_bound(dllps_.begin(), dllps_.end(), when), when);
  while (!dllps_.empty() && dllps_.front() <= now) send_first_dllp();
}

void DataLink::cancel_dllp(vp::Picoseconds when) {
  const auto found = std::lower_bound(dllps_.begin(), dllps_.end(), when);
  if (found == dllps_.end() || *found != when) return;
  dllps_.erase(found);
  --counts_.dllps;
}

void DataLink::send_first_dllp() {
  constexpr unsigned dllp_bytes = 8;
  if (!perfect()) pass_idle_time(dllps_.front());
  wire_.occupy(dllps_.front(), dllp_bytes);
  dllps_.erase(dllps_.begin());
}

// There is no room before packets leave whose acknowledgement is not known: the replay timer
// expires for them.
vp::Picoseconds DataLink::wait_for_acknowledgement(vp::Picoseconds ready, unsigned bytes) {
  vp::Picoseconds room;
  do {
    assert(unacknowledged_.expires != vp::never);
    ready = std::max(ready, unacknowledged_.expires);
    expire(ready);
    room = retry_buffer_.room(ready, bytes);
  } while (room == vp::never);
  return room;
}

Wire::Occupied DataLink::transmit_packet(vp::Picoseconds ready, unsigned bytes) {
  expire(ready);
  pass_idle_time(ready);
  Wire::Occupied occupied = wire_.occupy(ready, bytes);
  unsigned replay_number = 0;
  for (Fate fate; (fate = errors_.tlp(bytes)) != Fate::good;) {
    occupied = wire_.occupy(replay(refuse(occupied.to, fate), replay_number), bytes);
  }
  acknowledge(occupied.to, bytes);
  retry_buffer_.keep(bytes, ack_lost_ ? vp::never : acknowledged_);
  return occupied;
}

Wire::Occupied DataLink::transmit_in_flits(vp::Picoseconds ready, unsigned bytes) {
  Wire::Occupied occupied = wire_.occupy(ready, bytes);
  unsigned replay_number = 0;
  for (std::uint64_t first = wire_.flit_at(occupied.from); fatal_flit_ < first;) {
    if (!config_.idle_errors || framing_lost_) {
      next_fatal_flit(first);
    } else {
      meet_idle_error();
    }
  }
  for (;;) {
    const std::uint64_t last = wire_.flit_at(occupied.to) - 1;
    count_corrected_flits(wire_.flit_at(occupied.from), std::min(last, fatal_flit_));
    if (fatal_flit_ > last) {
      retry_buffer_.keep(bytes, occupied.to + config_.round_trip);
      return occupied;
    }
    const vp::Picoseconds sent = wire_.end_of_flit(fatal_flit_);
    const bool framing = fatal_ == Fate::framing;
    // A packet may begin near the end of a flit. No one notices before a short one would arrive.
    const vp::Picoseconds noticed =
        std::max(sent + config_.arrival, occupied.from + config_.idle_arrival);
    record(End::receiver,
           {noticed, Error::receiver_error, framing ? Retrains::opposite : Retrains::no});
    const vp::Picoseconds back = sent + config_.round_trip + (framing ? config_.retraining : 0);
    occupied = wire_.occupy(replay(back, replay_number), bytes);
    // The receiver does not look at the flits before the replay.
    next_fatal_flit(wire_.flit_at(occupied.from));
  }
}

// The receiver refuses a packet. Returns the time at which the transmitter knows.
vp::Picoseconds DataLink::refuse(vp::Picoseconds sent, Fate fate) {
  const bool framing = fate == Fate::framing;
  record(End::receiver,
         {sent + config_.arrival, fate == Fate::wrong ? Error::bad_tlp : Error::receiver_error,
          framing ? Retrains::opposite : Retrains::no});
  const vp::Picoseconds back = sent + config_.round_trip;
  if (framing) return back + config_.retraining;
  switch (errors_.dllp()) {
    case Fate::good:
      return back;
    case Fate::wrong:
      record(End::transmitter, {back, Error::bad_dllp});
      break;
    case Fate::symbol:
      record(End::transmitter, {back, Error::receiver_error});
      break;
    case Fate::framing:
      record(End::transmitter, {back, Error::receiver_error, Retrains::opposite});
      return back + config_.retraining;
  }
  const vp::Picoseconds expires = std::max(back, sent + config_.replay_timer);
  record(End::transmitter, {expires, Error::replay_timeout});
  return expires;
}

// Returns the time at which the replay begins that the transmitter decides on at `when`.
vp::Picoseconds DataLink::replay(vp::Picoseconds when, unsigned& replay_number) {
  ++counts_.replays;
  // REPLAY_NUM has three bits and grows by two, in flits at 64 GT/s by one.
  if (++replay_number < (config_.generation == 6 ? 8 : 4)) return when;
  record(End::transmitter, {when, Error::replay_rollover, Retrains::opposite});
  replay_number = 0;
  return when + config_.retraining;
}

void DataLink::record(End end, const Incident& incident) {
  auto& incidents = incidents_[index(end)];
  const auto earlier =
      std::find_if(incidents.rbegin(), incidents.rend(),
                   [&incident](const Incident& one) { return one.when <= incident.when; });
  incidents.insert(earlier.base(), incident);
}

// The replay timer has expired before `limit`: the packets were sent again, and their receiver
// drops the duplicates.
void DataLink::expire(vp::Picoseconds limit) {
  if (unacknowledged_.expires > limit) return;
  const Wire::Occupied replay = wire_.occupy(unacknowledged_.expires, unacknowledged_.bytes);
  retry_buffer_.acknowledge(
      std::max(acknowledged_, replay.to + config_.round_trip + config_.ack_latency));
  unacknowledged_ = {};
}

// An ACK also acknowledges all packets before its own.
void DataLink::acknowledge(vp::Picoseconds sent, unsigned bytes) {
  if (unacknowledged_.expires != vp::never) unacknowledged_.bytes += bytes;
  if (sent + config_.round_trip <= acknowledged_) return;
  acknowledged_ = sent + config_.round_trip + config_.ack_latency;
  const Fate fate = errors_.dllp();
  ack_lost_ = fate != Fate::good && fate != Fate::framing;
  if (!ack_lost_) retry_buffer_.acknowledge(acknowledged_);
  if (fate == Fate::framing) {
    record(End::transmitter, {acknowledged_, Error::receiver_error, Retrains::both});
    return;
  }
  if (ack_lost_) {
    record(End::transmitter,
           {acknowledged_, fate == Fate::wrong ? Error::bad_dllp : Error::receiver_error});
  } else if (acknowledged_ < unacknowledged_.expires && unacknowledged_.expires != vp::never) {
    auto& incidents = incidents_[index(End::transmitter)];
    const auto timeout =
        std::find_if(incidents.rbegin(), incidents.rend(), [this](const Incident& one) {
          return one.when == unacknowledged_.expires && one.error == Error::replay_timeout;
        });
    if (timeout != incidents.rend()) incidents.erase(std::prev(timeout.base()));
    --counts_.replays;
    unacknowledged_ = {};
  }
  if (ack_lost_ && unacknowledged_.expires == vp::never) {
    unacknowledged_ = {std::max(sent + config_.replay_timer, acknowledged_), bytes};
    record(End::transmitter, {unacknowledged_.expires, Error::replay_timeout});
    ++counts_.replays;
  }
}

}  // namespace pcie
