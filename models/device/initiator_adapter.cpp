// SPDX-License-Identifier: Apache-2.0
#include "models/device/initiator_adapter.h"

#include <algorithm>
#include <cstring>

namespace device {

InitiatorAdapterBase::InitiatorAdapterBase(const sc_core::sc_module_name& name,
                                           pcie::Function& function)
    : sc_module(name), dma_("dma") {
  dma_.register_nb_transport_bw(this, &InitiatorAdapterBase::response);
  dma_.bind(function.dma);
}

void InitiatorAdapterBase::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (delay != sc_core::SC_ZERO_TIME) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  const unsigned length = payload.get_data_length();
  if (!payload.is_read() && !payload.is_write())
    return payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  if (payload.get_byte_enable_ptr() != nullptr)
    return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  if (length == 0 || payload.get_streaming_width() < length)
    return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);

  Piece& piece = take();
  for (unsigned at = 0; at < length;) {
    const unsigned bytes = std::min(length - at, longest);
    piece.set_command(payload.get_command());
    piece.set_address(payload.get_address() + at);
    piece.set_data_length(bytes);
    if (payload.is_write()) std::memcpy(piece.data.data(), payload.get_data_ptr() + at, bytes);
    perform(piece);
    payload.set_response_status(piece.get_response_status());
    if (piece.is_response_error()) break;
    if (payload.is_read()) std::memcpy(payload.get_data_ptr() + at, piece.data.data(), bytes);
    at += bytes;
  }
  free_.push_back(&piece);
}

InitiatorAdapterBase::Piece& InitiatorAdapterBase::take() {
  if (free_.empty()) {
    pieces_.push_back(std::make_unique<Piece>());
    free_.push_back(pieces_.back().get());
  }
  Piece& piece = *free_.back();
  free_.pop_back();
  return piece;
}

void InitiatorAdapterBase::perform(Piece& piece) {
  piece.set_data_ptr(piece.data.data());
  piece.set_streaming_width(piece.get_data_length());
  piece.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  piece.done = false;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay;
  if (dma_->nb_transport_fw(piece, phase, delay) == tlm::TLM_COMPLETED) return;
  while (!piece.done) sc_core::wait(piece.answered);
}

tlm::tlm_sync_enum InitiatorAdapterBase::response(tlm::tlm_generic_payload& payload,
                                                  tlm::tlm_phase& phase, sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  Piece& piece = static_cast<Piece&>(payload);
  piece.done = true;
  piece.answered.notify();
  return tlm::TLM_COMPLETED;
}

}  // namespace device
