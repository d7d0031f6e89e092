// SPDX-License-Identifier: Apache-2.0
#include "models/axi/write_port.h"

#include <algorithm>
#include <utility>

#include "models/pcie/endpoint/access.h"
#include "vp/time/time.h"

namespace axi {

WritePort::WritePort(const WritePins& pins, Faults& faults, Host host)
    : pins_(pins), faults_(faults), host_(std::move(host)) {
  payload_.set_command(tlm::TLM_WRITE_COMMAND);
  payload_.set_extension(new pcie::Access);  // the payload owns it from now on
  if (!pins_.awvalid) return;
  for (unsigned i = 0; i < most_bursts; ++i) {
    transfers_.push_back(std::make_unique<Transfer>());
    free_.push_back(transfers_.back().get());
  }
}

void WritePort::present(vp::Picoseconds now) {
  pins_.awready.set(!free_.empty());
  pins_.wready.set(!open_.empty());
  const bool responds = !responses_.empty() && responses_.front()->answered < now;
  pins_.bvalid.set(responds);
  if (!responds) return;
  const Transfer& transfer = *responses_.front();
  pins_.bid.set(transfer.burst.id);
  pins_.bresp.set(transfer.failed ? slverr : okay);
}

void WritePort::sample() {
  if (pins_.bvalid.get() != 0 && pins_.bready.get() != 0) free_.push_back(responses_.pop());
  // The data of a burst comes after its address, so that WREADY is low for the first of both.
  if (pins_.wvalid.get() != 0 && pins_.wready.get() != 0) accept_data();
  if (pins_.awvalid.get() != 0 && pins_.awready.get() != 0) accept_address();
}

void WritePort::accept_address() {
  Transfer& transfer = *free_.back();
  free_.pop_back();
  ++count_;
  Burst& burst = transfer.burst;
  burst.address = pins_.awaddr.get();
  burst.id = pins_.awid.get();
  burst.beats = static_cast<unsigned>(pins_.awlen.get()) + 1;
  burst.size = 1u << pins_.awsize.get();
  burst.type = static_cast<unsigned>(pins_.awburst.get());
  bool rule = false;
  transfer.problem = burst.problem(pins_.wdata.bits / 8, rule);
  if (transfer.problem != nullptr) {
    rule ? faults_.violation(transfer.problem) : faults_.unsupported(transfer.problem);
  } else {
    std::fill_n(transfer.enabled.begin(), burst.length(), false);
  }
  transfer.beat = 0;
  transfer.at = 0;
  transfer.failed = transfer.problem != nullptr;
  open_.push(&transfer);
}

void WritePort::accept_data() {
  Transfer& transfer = *open_.front();
  const Burst& burst = transfer.burst;
  const unsigned beat = transfer.beat++;
  const bool last = transfer.beat == burst.beats;
  if ((pins_.wlast.get() != 0) != last) {
    faults_.violation("WLAST is not at the beat that AWLEN says");
  }
  if (transfer.problem == nullptr) {
    const unsigned bus = pins_.wdata.bits / 8;
    const std::uint64_t begin = burst.begin(beat);
    const std::uint64_t end = burst.end(beat);
    const std::uint64_t word = begin - begin % bus;
    for (unsigned lane = 0; lane < bus; ++lane) {
      if (!pins_.wstrb.bit(lane)) continue;
      const std::uint64_t address = word + lane;
      if (address < begin || address >= end) {
        faults_.violation("WSTRB names a byte that its beat does not have");
        continue;
      }
      transfer.data[address - burst.base()] = pins_.wdata.bytes[lane];
      transfer.enabled[address - burst.base()] = true;
    }
  }
  if (!last) return;
  open_.pop();
  post({Posted::Kind::burst, &transfer, 0});
}

void WritePort::interrupt(unsigned vector) {
  // A vector that waits already stands for both, as a pending bit of MSI-X does.
  for (std::size_t place = posted_.size(); place > 0; --place) {
    const Posted& other = posted_[place - 1];
    if (other.kind == Posted::Kind::burst) break;
    if (other.kind == Posted::Kind::vector && other.value == vector) return;
  }
  post({Posted::Kind::vector, nullptr, vector});
}

void WritePort::level(bool level) {
  if (!posted_.empty() && posted_[posted_.size() - 1].kind == Posted::Kind::level) {
    posted_[posted_.size() - 1].value = level;
    return;
  }
  post({Posted::Kind::level, nullptr, level});
}

void WritePort::post(Posted posted) {
  posted_.push(posted);
  go_on();
}

void WritePort::go_on() {
  while (!waiting_ && !posted_.empty()) {
    const Posted posted = posted_.front();
    switch (posted.kind) {
      case Posted::Kind::burst:
        if (!send(*posted.transfer)) return;
        break;
      case Posted::Kind::vector:
        host_.signal(posted.value);
        break;
      case Posted::Kind::level:
        host_.set_level(posted.value != 0);
        break;
    }
    posted_.pop();
  }
}

// Sends what is left of a burst. Returns false if the function has no room.
bool WritePort::send(Transfer& transfer) {
  const unsigned length = transfer.problem == nullptr ? transfer.burst.length() : 0;
  const auto enabled = transfer.enabled.begin();
  // The function has answered the run before.
  if (transfer.at > 0) transfer.failed = !payload_.is_response_ok();
  while (!transfer.failed) {
    const auto first = std::find(enabled + transfer.at, enabled + length, true);
    if (first == enabled + length) break;
    const auto end = std::find(first, enabled + length, false);
    const auto begin = static_cast<unsigned>(first - enabled);
    const auto bytes = static_cast<unsigned>(end - first);
    transfer.at = begin + bytes;
    payload_.set_address(transfer.burst.base() + begin);
    payload_.set_data_ptr(transfer.data.data() + begin);
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    waiting_ = host_.send(payload_) == tlm::TLM_ACCEPTED;
    if (waiting_) return false;
    transfer.failed = !payload_.is_response_ok();
  }
  respond(transfer);
  return true;
}

void WritePort::respond(Transfer& transfer) {
  errors_ += transfer.failed;
  transfer.answered = vp::now();
  responses_.push(&transfer);
  host_.wake();
}

void WritePort::reset() {
  pins_.awready.set(0);
  pins_.wready.set(0);
  pins_.bvalid.set(0);
  open_.clear();
  posted_.clear();
  responses_.clear();
  waiting_ = false;
  free_.clear();
  for (const auto& transfer : transfers_) free_.push_back(transfer.get());
}

}  // namespace axi
