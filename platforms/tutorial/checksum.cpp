// SPDX-License-Identifier: Apache-2.0
#include "checksum.h"

#include <cstring>

namespace {

std::uint32_t crc32(const std::vector<unsigned char>& bytes) {
  std::uint32_t crc = ~0u;
  for (const unsigned char byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

}  // namespace

Checksum::Checksum(const sc_core::sc_module_name& name, sc_core::sc_time per_byte)
    : sc_module(name), registers("registers"), memory("memory"), irq("irq"), per_byte_(per_byte) {
  registers.register_b_transport(this, &Checksum::b_transport);
  SC_HAS_PROCESS(Checksum);
  SC_THREAD(work);
}

void Checksum::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::uint64_t at = payload.get_address();
  if (at % 4 != 0 || at / 4 >= count || payload.get_data_length() != 4)
    return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  std::uint32_t value = values_[at / 4];
  if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), &value, 4);
  } else {
    std::memcpy(&value, payload.get_data_ptr(), 4);
    write(static_cast<unsigned>(at / 4), value);
  }
  delay += sc_core::sc_time(10, sc_core::SC_NS);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void Checksum::write(unsigned number, std::uint32_t value) {
  if (number == status) return set_status(values_[status] & busy);
  if (values_[status] & busy || number == result) return;
  if (number != start) {
    values_[number] = value;
  } else if (values_[length] == 0 || values_[length] > longest) {
    set_status(failed);
  } else {
    set_status(busy);
    started_.notify();
  }
}

void Checksum::work() {
  for (;;) {
    while (!(values_[status] & busy)) wait(started_);
    const unsigned resets = resets_;
    bytes_.resize(values_[length]);
    const bool arrived = fetch();
    wait(per_byte_ * static_cast<double>(bytes_.size()));
    if (resets != resets_) continue;
    if (arrived) values_[result] = crc32(bytes_);
    set_status(arrived ? done : failed);
  }
}

bool Checksum::fetch() {
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(std::uint64_t{values_[upper_address]} << 32 | values_[address]);
  payload.set_data_ptr(bytes_.data());
  payload.set_data_length(static_cast<unsigned>(bytes_.size()));
  payload.set_streaming_width(static_cast<unsigned>(bytes_.size()));
  sc_core::sc_time delay;
  memory->b_transport(payload, delay);
  wait(delay);
  return payload.is_response_ok();
}

void Checksum::set_status(std::uint32_t value) {
  values_[status] = value;
  irq.write((value & (done | failed)) != 0);
}

void Checksum::reset() {
  ++resets_;
  for (std::uint32_t& value : values_) value = 0;
  set_status(0);
}
