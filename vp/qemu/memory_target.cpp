// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/memory_target.h"

#include <fmt/format.h>

#include <utility>

#include "vp/qemu/instance.h"
#include "vp/time/agenda.h"

namespace vp::qemu {

MemoryTarget::MemoryTarget(const sc_core::sc_module_name& name, Instance& instance)
    : sc_module(name), socket("socket"), instance_(instance) {
  socket.register_b_transport(this, &MemoryTarget::b_transport);
  socket.register_transport_dbg(this, &MemoryTarget::transport_dbg);
}

void MemoryTarget::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  catch_up(delay);
  if (payload.get_byte_enable_ptr() != nullptr) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (payload.get_streaming_width() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else {
    payload.set_response_status(access(payload) ? tlm::TLM_OK_RESPONSE
                                                : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

// The access is for the time that the delay names, and the machine must not see it earlier.
void MemoryTarget::catch_up(sc_core::sc_time& delay) {
  if (delay == sc_core::SC_ZERO_TIME) return;
  if (sc_core::sc_get_curr_process_kind() == sc_core::SC_METHOD_PROC_ || Agenda::get().keeping()) {
    throw BrokenPromise(
        fmt::format("{} accesses {} for a time that is {} ahead, but a method cannot wait for it",
                    Agenda::get().actor(), name(), delay.to_string()));
  }
  wait(std::exchange(delay, sc_core::SC_ZERO_TIME));
}

bool MemoryTarget::access(tlm::tlm_generic_payload& payload) {
  if (payload.is_write()) {
    return instance_.write_memory(payload.get_address(), payload.get_data_ptr(),
                                  payload.get_data_length());
  }
  return !payload.is_read() || instance_.read_memory(payload.get_address(), payload.get_data_ptr(),
                                                     payload.get_data_length());
}

unsigned MemoryTarget::transport_dbg(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  unsigned char* const data = payload.get_data_ptr();
  const unsigned length = payload.get_data_length();
  const bool done = payload.is_write()  ? instance_.debug_write(address, data, length)
                    : payload.is_read() ? instance_.debug_read(address, data, length)
                                        : true;
  return done ? length : 0;
}

}  // namespace vp::qemu
