// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/register_block.h"

#include <cstring>

#include "vp/time/decoupled.h"

namespace ipu {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bus bytes are copied to words as is");

tlm::tlm_response_status carry_out(Registers& registers, unsigned width,
                                   tlm::tlm_generic_payload& payload, vp::Picoseconds delay) {
  const std::uint64_t address = payload.get_address();
  const unsigned length = payload.get_data_length();
  if (payload.get_byte_enable_ptr()) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (length == 0 || length > width || (length & (length - 1)) != 0 || address % length != 0 ||
      payload.get_streaming_width() < length) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const unsigned shift = 8 * static_cast<unsigned>(address % width);
  const std::uint64_t offset = address - address % width;
  if (payload.is_read()) {
    const std::optional<std::uint64_t> word = registers.read(offset);
    if (!word) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const std::uint64_t value = *word >> shift;
    std::memcpy(payload.get_data_ptr(), &value, length);
  } else if (payload.is_write()) {
    std::uint64_t value = 0;
    std::memcpy(&value, payload.get_data_ptr(), length);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * length);
    if (!registers.write(offset, value << shift, mask << shift, delay)) {
      return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    }
  }
  return tlm::TLM_OK_RESPONSE;
}

}  // namespace

void access(Registers& registers, unsigned width, tlm::tlm_generic_payload& payload,
            vp::Picoseconds delay) {
  payload.set_response_status(carry_out(registers, width, payload, delay));
}

RegisterBlock::RegisterBlock(const sc_core::sc_module_name& name, unsigned width)
    : sc_module(name), socket("socket"), width_(width) {
  socket.register_b_transport(this, &RegisterBlock::b_transport);
}

void RegisterBlock::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!payload.is_read()) vp::catch_up(payload, delay);
  access(*this, width_, payload, static_cast<vp::Picoseconds>(delay.value()));
  if (version_ != nullptr && payload.is_read()) vp::repeatable(payload, {version_});
}

}  // namespace ipu
