// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/memory.h"

#include <algorithm>
#include <cstring>

namespace ipu {

void PlainStorage::read(std::uint64_t offset, std::uint8_t* bytes, std::uint64_t length) {
  std::memcpy(bytes, bytes_.data() + offset, length);
}

void PlainStorage::write(std::uint64_t offset, const std::uint8_t* bytes, std::uint64_t length) {
  std::memcpy(bytes_.data() + offset, bytes, length);
}

Memory::Memory(const sc_core::sc_module_name& name, Storage& storage, vp::Picoseconds latency)
    : sc_module(name), socket("socket"), storage_(storage), latency_(vp::to_sc_time(latency)) {
  socket.register_b_transport(this, &Memory::b_transport);
  socket.register_transport_dbg(this, &Memory::transport_dbg);
  socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr);
}

tlm::tlm_response_status Memory::access(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  const std::uint64_t size = storage_.size();
  if (offset >= size || length > size - offset) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr()) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (payload.get_streaming_width() < length) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.is_read()) storage_.read(offset, payload.get_data_ptr(), length);
  if (payload.is_write()) storage_.write(offset, payload.get_data_ptr(), length);
  return tlm::TLM_OK_RESPONSE;
}

void Memory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  delay += latency_;
  payload.set_response_status(access(payload));
  payload.set_dmi_allowed(payload.is_response_ok() && storage_.bytes() != nullptr);
}

// A debugger gets the bytes that exist, up to the end of the memory.
unsigned Memory::transport_dbg(tlm::tlm_generic_payload& payload) {
  const std::uint64_t offset = payload.get_address();
  const std::uint64_t size = storage_.size();
  if (offset >= size) return 0;
  const std::uint64_t length = std::min<std::uint64_t>(payload.get_data_length(), size - offset);
  if (payload.is_read()) storage_.read(offset, payload.get_data_ptr(), length);
  if (payload.is_write()) storage_.write(offset, payload.get_data_ptr(), length);
  return static_cast<unsigned>(length);
}

bool Memory::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const std::uint64_t size = storage_.size();
  dmi.allow_none();
  if (size == 0 || payload.get_address() >= size) {
    dmi.set_start_address(size);
    return false;
  }
  dmi.set_start_address(0);
  dmi.set_end_address(size - 1);
  if (!storage_.bytes()) return false;
  if (payload.is_write() && !storage_.direct_writes()) return false;
  dmi.set_dmi_ptr(storage_.bytes());
  dmi.set_read_latency(latency_);
  dmi.set_write_latency(latency_);
  if (storage_.direct_writes()) {
    dmi.allow_read_write();
  } else {
    dmi.allow_read();
  }
  return true;
}

}  // namespace ipu
