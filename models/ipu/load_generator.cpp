// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/load_generator.h"

#include <utility>

#include "oae_registers.h"

namespace ipu {
namespace {

constexpr std::uint64_t least_entries = 2;
constexpr std::uint64_t most_entries = 65536;

bool is_power_of_two(std::uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

LoadGenerator::LoadGenerator(const sc_core::sc_module_name& name, vp::Domain& domain)
    : sc_module(name),
      bar("bar"),
      dma("dma"),
      arrival_(domain, [this] { generate(); }),
      waiting_(most_waiting) {
  bar.register_nb_transport_fw(this, &LoadGenerator::nb_transport_fw);
  dma.register_nb_transport_bw(this, &LoadGenerator::nb_transport_bw);
  payload_.set_extension(new pcie::Access);  // the payload owns it
  payload_.set_command(tlm::TLM_WRITE_COMMAND);
  payload_.set_data_ptr(reinterpret_cast<unsigned char*>(data_.data()));
  payload_.set_data_length(entry_size);
  payload_.set_streaming_width(entry_size);
}

void LoadGenerator::reset() {
  stop();
  forget();
  status_ = seed_ = interval_ = count_ = warm_up_ = long_share_ = limit_ = 0;
  ring_ = ring_size_ = taken_ = 0;
  first_ = last_ = 0;
}

// Nothing waits any more, neither for an answer nor on its way to the ring.
void LoadGenerator::forget() {
  for (Waiting& one : waiting_) one = {};
  entries_.clear();
  forgotten_ = writing_;
  all_ = long_ = {};
  written_ = refused_ = unknown_ = 0;
}

std::optional<std::uint64_t> LoadGenerator::read(std::uint64_t offset) {
  switch (offset) {
    case OAE_LOAD_CONTROL:
      return OAE_PUT(OAE_LOAD_CONTROL_RUN, running_);
    case OAE_LOAD_STATUS:
      return status_;
    case OAE_LOAD_SEED:
      return seed_;
    case OAE_LOAD_INTERVAL:
      return interval_;
    case OAE_LOAD_COUNT:
      return count_;
    case OAE_LOAD_WARM_UP:
      return warm_up_;
    case OAE_LOAD_LONG_SHARE:
      return long_share_;
    case OAE_LOAD_RING:
      return ring_;
    case OAE_LOAD_RING_SIZE:
      return ring_size_;
    case OAE_LOAD_TAKEN:
      return taken_;
    case OAE_LOAD_ANSWER:
      return 0;
    case OAE_LOAD_GENERATED:
      return all_.generated;
    case OAE_LOAD_DROPPED:
      return all_.dropped;
    case OAE_LOAD_ANSWERED:
      return all_.answered;
    case OAE_LOAD_UNKNOWN:
      return unknown_;
    case OAE_LOAD_FIRST:
      return first_;
    case OAE_LOAD_REFUSED:
      return refused_;
    case OAE_LOAD_GENERATED_LONG:
      return long_.generated;
    case OAE_LOAD_DROPPED_LONG:
      return long_.dropped;
    case OAE_LOAD_ANSWERED_LONG:
      return long_.answered;
    case OAE_LOAD_LIMIT:
      return limit_;
    case OAE_LOAD_LATE:
      return all_.late;
    case OAE_LOAD_LATE_LONG:
      return long_.late;
    default:
      return std::nullopt;
  }
}

bool LoadGenerator::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                          vp::Picoseconds) {
  const auto set = [&](std::uint64_t& word, std::uint64_t bits) {
    word = merge(word, value, mask & bits);
  };
  constexpr std::uint64_t all = ~std::uint64_t{0};
  switch (offset) {
    case OAE_LOAD_CONTROL:
      if ((mask & OAE_LOAD_CONTROL_RUN_MASK) == 0) return true;
      if ((value & OAE_LOAD_CONTROL_RUN_MASK) == 0) {
        stop();
      } else if (!running_) {
        start();
      }
      return true;
    case OAE_LOAD_SEED:
      set(seed_, all);
      return true;
    case OAE_LOAD_INTERVAL:
      set(interval_, OAE_LOAD_INTERVAL_PICOSECONDS_MASK);
      return true;
    case OAE_LOAD_COUNT:
      set(count_, all);
      return true;
    case OAE_LOAD_WARM_UP:
      set(warm_up_, all);
      return true;
    case OAE_LOAD_LONG_SHARE:
      set(long_share_, OAE_LOAD_LONG_SHARE_PARTS_MASK);
      return true;
    case OAE_LOAD_RING:
      set(ring_, all);
      return true;
    case OAE_LOAD_RING_SIZE:
      set(ring_size_, OAE_LOAD_RING_SIZE_ENTRIES_MASK);
      return true;
    case OAE_LOAD_TAKEN:
      set(taken_, all);
      return true;
    case OAE_LOAD_LIMIT:
      set(limit_, OAE_LOAD_LIMIT_PICOSECONDS_MASK);
      return true;
    case OAE_LOAD_ANSWER:
      // The upper half of a number that is written in two halves is no answer.
      if ((mask & 0xffff'ffff) == 0xffff'ffff) answer(value);
      return true;
    default:
      return read(offset).has_value();
  }
}

void LoadGenerator::start() {
  status_ = 0;
  if (interval_ == 0 || ring_ % 64 != 0 || !is_power_of_two(ring_size_) ||
      ring_size_ < least_entries || ring_size_ > most_entries) {
    status_ = OAE_LOAD_STATUS_INVALID_MASK;
    return;
  }
  forget();
  taken_ = 0;
  first_ = last_ + 1;
  address_ = ring_;
  size_ = ring_size_;
  process_ = {seed_, static_cast<vp::Picoseconds>(interval_)};
  running_ = true;
  next_ = vp::now();
  plan();
}

// Requests that are in the ring, or on their way there, can still be answered.
void LoadGenerator::stop() {
  running_ = false;
  arrival_.cancel();
}

void LoadGenerator::plan() {
  next_ += process_.next();
  arrival_.at(next_);
}

void LoadGenerator::generate() {
  const unsigned kind = process_.happens(static_cast<std::uint32_t>(long_share_)) ? 1 : 0;
  const std::uint64_t number = ++last_;
  count(&Counts::generated, kind);
  Waiting& waiting = waiting_[number % most_waiting];
  const std::uint64_t in_ring = written_ + entries_.size() - taken_;
  if (in_ring >= size_ || waiting.number != 0) {
    count(&Counts::dropped, kind);
  } else {
    waiting = {number, next_, kind};
    entries_.push_back({static_cast<std::uint64_t>(next_), kind, 0, number});
    deliver();
  }
  if (!running_) return;  // the function refused the write
  if (count_ != 0 && all_.generated >= count_) {
    stop();
  } else {
    plan();
  }
}

void LoadGenerator::deliver() {
  while (!writing_ && !entries_.empty()) {
    data_ = entries_.front();
    payload_.set_address(address_ + written_ % size_ * entry_size);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    writing_ = true;
    if (dma->nb_transport_fw(payload_, phase, delay) == tlm::TLM_COMPLETED) delivered();
  }
}

void LoadGenerator::delivered() {
  writing_ = false;
  if (std::exchange(forgotten_, false)) return;
  if (payload_.is_response_ok()) {
    entries_.pop_front();
    ++written_;
    return;
  }
  status_ |= OAE_LOAD_STATUS_REFUSED_MASK;
  refused_ += entries_.size();
  for (const Entry& entry : entries_) waiting_[entry.back() % most_waiting] = {};
  entries_.clear();
  stop();
}

void LoadGenerator::answer(std::uint64_t number) {
  Waiting& waiting = waiting_[number % most_waiting];
  if (number == 0 || waiting.number != number) {
    ++unknown_;
    return;
  }
  if (number - first_ >= warm_up_) {
    const vp::Picoseconds taken = vp::now() - waiting.came;
    latency_[waiting.kind].sample(taken);
    if (limit_ != 0 && static_cast<std::uint64_t>(taken) > limit_)
      count(&Counts::late, waiting.kind);
  }
  count(&Counts::answered, waiting.kind);
  waiting = {};
}

void LoadGenerator::count(std::uint64_t Counts::*what, unsigned kind) {
  ++(all_.*what);
  if (kind != 0) ++(long_.*what);
}

tlm::tlm_sync_enum LoadGenerator::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                  tlm::tlm_phase&, sc_core::sc_time& delay) {
  access(*this, 8, payload, static_cast<vp::Picoseconds>(delay.value()));
  // An access that a register exists for but does not support ends as Completer Abort.
  const tlm::tlm_response_status status = payload.get_response_status();
  if (status != tlm::TLM_OK_RESPONSE && status != tlm::TLM_ADDRESS_ERROR_RESPONSE) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum LoadGenerator::nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                                  sc_core::sc_time&) {
  delivered();
  deliver();
  return tlm::TLM_COMPLETED;
}

}  // namespace ipu
