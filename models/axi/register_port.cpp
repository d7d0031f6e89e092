// SPDX-License-Identifier: Apache-2.0
#include "models/axi/register_port.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace axi {

RegisterPort::RegisterPort(const RegisterPins& pins, Faults& faults, Answer answer)
    : pins_(pins), faults_(faults), answer_(std::move(answer)) {
  pins_.bready.set(1);
  pins_.rready.set(1);
}

tlm::tlm_sync_enum RegisterPort::push(tlm::tlm_generic_payload& payload, vp::Picoseconds arrival) {
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  if (payload.is_read()) {
    ++read_count_;
    reads_.push({&payload, arrival, write_count_});
    return tlm::TLM_ACCEPTED;
  }
  ++write_count_;
  if (writes_.size() >= most_writes) {
    held_ = &payload;
    held_since_ = arrival;
    return tlm::TLM_ACCEPTED;
  }
  writes_.push(make_write(payload, arrival));
  return tlm::TLM_COMPLETED;
}

RegisterPort::Write RegisterPort::make_write(const tlm::tlm_generic_payload& payload,
                                             vp::Picoseconds arrival) {
  Write write{arrival, payload.get_address(), payload.get_data_length(), {}};
  std::memcpy(write.data, payload.get_data_ptr(), write.length);
  return write;
}

void RegisterPort::present(vp::Picoseconds now) {
  if (!writing_ && !writes_.empty() && writes_.front().arrival < now) present_write();
  if (!reading_ && !reads_.empty() && reads_.front().arrival < now &&
      reads_.front().behind <= writes_done_) {
    present_read();
  }
}

void RegisterPort::present_write() {
  const Write& write = writes_.front();
  const std::uint64_t address = write.address + written_;
  const unsigned first = static_cast<unsigned>(address % word());
  const unsigned count = std::min(word() - first, write.length - written_);
  pins_.awaddr.set(address - first);
  std::memset(pins_.wdata.bytes, 0, word());
  std::memcpy(pins_.wdata.bytes + first, write.data + written_, count);
  // The strobes of a word of up to 8 bytes are one byte.
  *pins_.wstrb.bytes = static_cast<std::uint8_t>(((1u << count) - 1) << first);
  pins_.awvalid.set(1);
  pins_.wvalid.set(1);
  writing_ = true;
}

void RegisterPort::present_read() {
  const std::uint64_t address = reads_.front().payload->get_address() + read_;
  pins_.araddr.set(address - address % word());
  pins_.arvalid.set(1);
  reading_ = true;
}

void RegisterPort::sample(vp::Picoseconds now) {
  if (pins_.awready.get() != 0) address_accepted_ |= pins_.awvalid.get() != 0;
  if (pins_.wready.get() != 0) data_accepted_ |= pins_.wvalid.get() != 0;
  if (pins_.arready.get() != 0) read_accepted_ |= pins_.arvalid.get() != 0;
  if (pins_.bvalid.get() != 0) {
    if (writing_ && address_accepted_ && data_accepted_) {
      finish_write();
    } else {
      faults_.violation("BVALID without a write that was accepted (AXI4-Lite)");
    }
  }
  if (pins_.rvalid.get() != 0) {
    if (reading_ && read_accepted_) {
      finish_read(now);
    } else {
      faults_.violation("RVALID without a read that was accepted (AXI4-Lite)");
    }
  }
}

// Takes from the pins what the block has accepted at the edge that is over.
void RegisterPort::release() {
  if (address_accepted_) pins_.awvalid.set(0);
  if (data_accepted_) pins_.wvalid.set(0);
  if (read_accepted_) pins_.arvalid.set(0);
  if (!writing_) address_accepted_ = data_accepted_ = false;
  if (!reading_) read_accepted_ = false;
}

void RegisterPort::finish_write() {
  const Write& write = writes_.front();
  const std::uint64_t address = write.address + written_;
  const auto response = static_cast<unsigned>(pins_.bresp.get());
  if (response >= slverr) faults_.register_write(address - address % word(), response);
  written_ += std::min(word() - static_cast<unsigned>(address % word()), write.length - written_);
  writing_ = false;
  if (written_ < write.length) return;
  written_ = 0;
  writes_.pop();
  ++writes_done_;
  accept_held();
}

void RegisterPort::accept_held() {
  if (held_ == nullptr) return;
  tlm::tlm_generic_payload& payload = *std::exchange(held_, nullptr);
  writes_.push(make_write(payload, held_since_));
  answer_(payload);
}

void RegisterPort::finish_read(vp::Picoseconds now) {
  Read& read = reads_.front();
  tlm::tlm_generic_payload& payload = *read.payload;
  const std::uint64_t address = payload.get_address() + read_;
  const unsigned first = static_cast<unsigned>(address % word());
  const unsigned count = std::min(word() - first, payload.get_data_length() - read_);
  const auto response = static_cast<unsigned>(pins_.rresp.get());
  std::memcpy(payload.get_data_ptr() + read_, pins_.rdata.bytes + first, count);
  read_ += count;
  reading_ = false;
  if (response >= slverr) {
    payload.set_response_status(response == decerr ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                                   : tlm::TLM_GENERIC_ERROR_RESPONSE);
  } else if (read_ < payload.get_data_length()) {
    return;
  }
  read_latency_.sample(now - read.arrival);
  read_ = 0;
  reads_.pop();
  answer_(payload);
}

void RegisterPort::reset() {
  pins_.awvalid.set(0);
  pins_.wvalid.set(0);
  pins_.arvalid.set(0);
  writing_ = reading_ = address_accepted_ = data_accepted_ = read_accepted_ = false;
  written_ = read_ = 0;
  writes_.clear();
  writes_done_ = write_count_;
  if (held_ != nullptr) answer_(*std::exchange(held_, nullptr));
  while (!reads_.empty()) {
    tlm::tlm_generic_payload& payload = *reads_.pop().payload;
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    answer_(payload);
  }
}

}  // namespace axi
