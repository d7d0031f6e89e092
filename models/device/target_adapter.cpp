// SPDX-License-Identifier: Apache-2.0
#include "models/device/target_adapter.h"

#include <algorithm>
#include <cstring>

#include "models/pcie/endpoint/access.h"

namespace device {

TargetAdapterBase::TargetAdapterBase(const sc_core::sc_module_name& name, pcie::Function& function,
                                     unsigned bar, vp::Domain& domain)
    : sc_module(name), number_(bar), bar_("bar"), done_(domain, [this] { respond(); }) {
  bar_.register_nb_transport_fw(this, &TargetAdapterBase::access);
  function.bar.bind(bar_);
  function.on_reset([this] { reset(); });
  SC_HAS_PROCESS(TargetAdapterBase);
  SC_THREAD(run);
}

tlm::tlm_sync_enum TargetAdapterBase::access(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                             sc_core::sc_time&) {
  const auto* access = payload.get_extension<pcie::Access>();
  const unsigned length = payload.get_data_length();
  if (access == nullptr || access->bar != number_ || length > longest) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  Request request;
  request.payload = &payload;
  request.command = payload.get_command();
  request.address = payload.get_address();
  request.length = length;
  if (payload.is_write()) {
    std::memcpy(request.data.data(), payload.get_data_ptr(), length);
    const unsigned enables = payload.get_byte_enable_length();
    request.holes = payload.get_byte_enable_ptr() != nullptr && enables > 0;
    for (unsigned i = 0; request.holes && i < length; ++i)
      request.enables[i] = payload.get_byte_enable_ptr()[i % enables];
  }
  waiting_.push(request);
  if (!busy_) next_.notify();
  return tlm::TLM_ACCEPTED;
}

void TargetAdapterBase::run() {
  for (;;) {
    while (busy_ || waiting_.empty()) sc_core::wait(next_);
    busy_ = true;
    current_ = waiting_.pop();
    execute();
  }
}

void TargetAdapterBase::execute() {
  payload_.set_command(current_.command);
  payload_.set_address(current_.address);
  payload_.set_data_ptr(current_.data.data());
  payload_.set_data_length(current_.length);
  payload_.set_streaming_width(current_.length);
  payload_.set_byte_enable_ptr(current_.holes ? current_.enables.data() : nullptr);
  payload_.set_byte_enable_length(current_.holes ? current_.length : 0);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  transport(payload_, delay);
  done_.after(static_cast<vp::Picoseconds>(delay.value()));
}

void TargetAdapterBase::respond() {
  tlm::tlm_generic_payload& payload = *current_.payload;
  // The function keeps the memory of a read until it is answered, even over a reset.
  if (current_.command == tlm::TLM_READ_COMMAND)
    std::memcpy(payload.get_data_ptr(), current_.data.data(), current_.length);
  busy_ = false;
  answer(payload, payload_.get_response_status());
  if (!busy_ && !waiting_.empty()) next_.notify();
}

void TargetAdapterBase::answer(tlm::tlm_generic_payload& payload, tlm::tlm_response_status status) {
  payload.set_response_status(status);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  bar_->nb_transport_bw(payload, phase, delay);
}

void TargetAdapterBase::reset() {
  // The function waits for the answers, although nobody needs them any more.
  for (std::size_t count = waiting_.size(); count > 0; --count)
    answer(*waiting_.pop().payload, tlm::TLM_GENERIC_ERROR_RESPONSE);
}

}  // namespace device
