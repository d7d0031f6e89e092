// SPDX-License-Identifier: Apache-2.0
#include "models/axi/read_port.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "models/pcie/endpoint/access.h"

namespace axi {

ReadPort::Transfer::Transfer() {
  set_command(tlm::TLM_READ_COMMAND);
  set_extension(new pcie::Access);  // the payload owns it from now on
}

ReadPort::ReadPort(const ReadPins& pins, Faults& faults, Host host)
    : pins_(pins), faults_(faults), host_(std::move(host)) {
  if (!pins_.arvalid) return;
  for (unsigned i = 0; i < most_bursts; ++i) {
    transfers_.push_back(std::make_unique<Transfer>());
    free_.push_back(transfers_.back().get());
  }
}

void ReadPort::present(vp::Picoseconds now) {
  pins_.arready.set(!free_.empty());
  if (current_ == none) {
    current_ = next(now);
    beat_ = 0;
  }
  pins_.rvalid.set(current_ != none);
  if (current_ != none) present_beat();
}

bool ReadPort::waiting() const {
  return current_ != none || next(vp::never) != none;
}

// The place of the burst whose beats come next, or `none`.
std::size_t ReadPort::next(vp::Picoseconds now) const {
  for (std::size_t place = 0; place < outstanding_.size(); ++place) {
    const Transfer& transfer = *outstanding_[place];
    if (!transfer.done || transfer.answered >= now) continue;
    bool first = true;
    for (std::size_t older = 0; older < place; ++older) {
      first &= outstanding_[older]->burst.id != transfer.burst.id;
    }
    if (first) return place;
  }
  return none;
}

void ReadPort::present_beat() {
  const Transfer& transfer = *outstanding_[current_];
  const Burst& burst = transfer.burst;
  const unsigned bus = pins_.rdata.bits / 8;
  std::memset(pins_.rdata.bytes, 0, bus);
  if (!transfer.failed) {
    const std::uint64_t begin = burst.begin(beat_);
    std::memcpy(pins_.rdata.bytes + begin % bus, transfer.data.data() + (begin - burst.base()),
                burst.end(beat_) - begin);
  }
  pins_.rid.set(burst.id);
  pins_.rresp.set(transfer.failed ? slverr : okay);
  pins_.rlast.set(beat_ + 1 == burst.beats);
}

void ReadPort::sample() {
  if (pins_.rvalid.get() != 0 && pins_.rready.get() != 0 &&
      ++beat_ == outstanding_[current_]->burst.beats) {
    free_.push_back(outstanding_.remove(std::exchange(current_, none)));
  }
  if (pins_.arvalid.get() != 0 && pins_.arready.get() != 0) accept_address();
}

void ReadPort::accept_address() {
  Transfer& transfer = *free_.back();
  free_.pop_back();
  ++count_;
  Burst& burst = transfer.burst;
  burst.address = pins_.araddr.get();
  burst.id = pins_.arid.get();
  burst.beats = static_cast<unsigned>(pins_.arlen.get()) + 1;
  burst.size = 1u << pins_.arsize.get();
  burst.type = static_cast<unsigned>(pins_.arburst.get());
  transfer.done = false;
  outstanding_.push(&transfer);
  bool rule = false;
  if (const char* problem = burst.problem(pins_.rdata.bits / 8, rule)) {
    rule ? faults_.violation(problem) : faults_.unsupported(problem);
    return finish(transfer, true);
  }
  transfer.set_address(burst.base());
  transfer.set_data_ptr(transfer.data.data());
  transfer.set_data_length(burst.length());
  transfer.set_streaming_width(burst.length());
  transfer.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  if (host_.send(transfer) == tlm::TLM_COMPLETED) finish(transfer, !transfer.is_response_ok());
}

void ReadPort::answered(tlm::tlm_generic_payload& payload) {
  auto& transfer = static_cast<Transfer&>(payload);
  finish(transfer, !transfer.is_response_ok());
}

void ReadPort::finish(Transfer& transfer, bool failed) {
  transfer.done = true;
  transfer.failed = failed;
  transfer.answered = vp::now();
  errors_ += failed;
  host_.wake();
}

void ReadPort::reset() {
  pins_.arready.set(0);
  pins_.rvalid.set(0);
  current_ = none;
  outstanding_.clear();
  free_.clear();
  for (const auto& transfer : transfers_) free_.push_back(transfer.get());
}

}  // namespace axi
