// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/queue_memory.h"

#include <algorithm>
#include <cstring>

#include "vp/time/decoupled.h"

namespace ipu {

QueueMemory::QueueMemory(const sc_core::sc_module_name& name, std::uint64_t size,
                         const Timing& timing)
    : sc_module(name),
      host("host"),
      uncached("uncached"),
      cached("cached"),
      latency_(vp::to_sc_time(timing.latency)),
      line_fill_(vp::to_sc_time(timing.line_fill)),
      bytes_(size),
      lines_(size / line_size) {
  host.register_nb_transport_fw(this, &QueueMemory::nb_transport_fw);
  uncached.register_b_transport(this, &QueueMemory::access_uncached);
  uncached.register_transport_dbg(this, &QueueMemory::transport_dbg);
  cached.register_b_transport(this, &QueueMemory::access_cached);
  cached.register_transport_dbg(this, &QueueMemory::transport_dbg);
}

// Nothing may be left for the next user of the function (PCIe 5.0, 6.6.2).
void QueueMemory::reset() {
  std::fill(bytes_.begin(), bytes_.end(), 0);
  for (Line& line : lines_) line = {false, line.version + 1};
}

template <typename Act>
void QueueMemory::for_lines(const tlm::tlm_generic_payload& payload, std::uint64_t length,
                            Act act) {
  const std::uint64_t address = payload.get_address();
  for (std::uint64_t n = address / line_size; n <= (address + length - 1) / line_size; ++n) {
    act(lines_[n]);
  }
}

void QueueMemory::copy(tlm::tlm_generic_payload& payload, std::uint64_t length) {
  std::uint8_t* const at = bytes_.data() + payload.get_address();
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), at, length);
  if (payload.is_write()) {
    for_lines(payload, length, [](Line& line) { ++line.version; });
    std::memcpy(at, payload.get_data_ptr(), length);
  }
}

// Returns whether the access was carried out.
bool QueueMemory::access_of_core(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  if (!payload.is_read()) vp::catch_up(payload, delay);
  if (address >= bytes_.size() || length > bytes_.size() - address) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else if (payload.get_byte_enable_ptr()) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (length == 0 || length > line_size || payload.get_streaming_width() < length) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else {
    ++core_accesses_;
    copy(payload, length);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
  }
  return false;
}

void QueueMemory::access_uncached(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  delay += latency_;
  if (access_of_core(payload, delay) && payload.is_read()) say_repeatable(payload);
}

void QueueMemory::access_cached(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!access_of_core(payload, delay)) return;
  bool hit = true;
  for_lines(payload, payload.get_data_length(), [&](Line& line) {
    if (line.held) return;
    hit = false;
    line.held = true;
    ++line_fills_;
    delay += line_fill_;
  });
  if (hit && payload.is_read()) say_repeatable(payload);
}

void QueueMemory::say_repeatable(tlm::tlm_generic_payload& payload) {
  const std::uint64_t first = payload.get_address() / line_size;
  const std::uint64_t last = (payload.get_address() + payload.get_data_length() - 1) / line_size;
  if (first != last) return;
  vp::repeatable(payload, {&lines_[first].version});
  vp::repeats_count(payload, core_accesses_);
}

unsigned QueueMemory::transport_dbg(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  if (address >= bytes_.size() || payload.get_data_length() == 0) return 0;
  const std::uint64_t length =
      std::min<std::uint64_t>(payload.get_data_length(), bytes_.size() - address);
  copy(payload, length);
  return static_cast<unsigned>(length);
}

tlm::tlm_sync_enum QueueMemory::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                sc_core::sc_time&) {
  const std::uint64_t address = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  if (address >= bytes_.size() || length > bytes_.size() - address) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  if (length == 0 || payload.get_byte_enable_ptr()) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  ++(payload.is_read() ? host_reads_ : host_writes_);
  copy(payload, length);
  if (payload.is_write()) {
    for_lines(payload, length, [](Line& line) { line.held = false; });
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return tlm::TLM_COMPLETED;
}

}  // namespace ipu
