// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/memory_target.h"

#include "vp/qemu/instance.h"

namespace vp::qemu {

MemoryTarget::MemoryTarget(const sc_core::sc_module_name& name, Instance& instance)
    : sc_module(name), socket("socket"), instance_(instance) {
  socket.register_b_transport(this, &MemoryTarget::b_transport);
  socket.register_transport_dbg(this, &MemoryTarget::transport_dbg);
}

void MemoryTarget::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (payload.get_streaming_width() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else {
    payload.set_response_status(access(payload) ? tlm::TLM_OK_RESPONSE
                                                : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

unsigned MemoryTarget::transport_dbg(tlm::tlm_generic_payload& payload) {
  return access(payload) ? payload.get_data_length() : 0;
}

bool MemoryTarget::access(tlm::tlm_generic_payload& payload) {
  if (payload.is_write()) {
    return instance_.write_memory(payload.get_address(), payload.get_data_ptr(),
                                  payload.get_data_length());
  }
  return !payload.is_read() || instance_.read_memory(payload.get_address(), payload.get_data_ptr(),
                                                     payload.get_data_length());
}

}  // namespace vp::qemu
