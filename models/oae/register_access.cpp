// SPDX-License-Identifier: Apache-2.0
#include "models/oae/register_access.h"

#include <cstring>
#include <utility>

namespace oae {

std::uint64_t enabled_bytes(const tlm::tlm_generic_payload& payload) {
  const unsigned length = payload.get_data_length();
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - length);
  const std::uint8_t* enables = payload.get_byte_enable_ptr();
  const unsigned period = payload.get_byte_enable_length();
  if (enables == nullptr || period == 0) return all;
  std::uint64_t bytes = 0;
  for (unsigned i = 0; i < length; ++i) {
    if (enables[i % period] == TLM_BYTE_ENABLED) bytes |= std::uint64_t{1} << i;
  }
  return bytes;
}

void copy_enabled(std::uint8_t* to, const std::uint8_t* from, unsigned length,
                  std::uint64_t enable) {
  if (enable == ~std::uint64_t{0} >> (64 - length)) {
    std::memcpy(to, from, length);
    return;
  }
  for (unsigned i = 0; i < length; ++i) {
    if (enable >> i & 1) to[i] = from[i];
  }
}

tlm::tlm_response_status check(const tlm::tlm_generic_payload& payload, unsigned boundary,
                               std::uint64_t size) {
  const unsigned length = payload.get_data_length();
  if (payload.get_address() >= size) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (length == 0 || payload.get_streaming_width() < length ||
      payload.get_address() % boundary + length > boundary) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  return tlm::TLM_OK_RESPONSE;
}

RegisterAccess::RegisterAccess(const tlm::tlm_generic_payload& payload, vp::Picoseconds at)
    : arrival(at),
      write(payload.is_write()),
      address(static_cast<std::uint32_t>(payload.get_address())) {
  const unsigned first = address % 8;
  const unsigned length = payload.get_data_length();
  strobe = static_cast<unsigned>(enabled_bytes(payload) << first);
  auto* word = reinterpret_cast<std::uint8_t*>(&data);
  if (write) std::memcpy(word + first, payload.get_data_ptr(), length);
}

void RegisterAccess::answer(tlm::tlm_generic_payload& payload) const {
  if (error) payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  if (write) return;
  const auto* word = reinterpret_cast<const std::uint8_t*>(&data) + address % 8;
  copy_enabled(payload.get_data_ptr(), word, payload.get_data_length(), enabled_bytes(payload));
}

void RegisterAccesses::finish() {
  if (!responds_) return;
  RegisterAccess& access = *std::exchange(access_, nullptr);
  access.done = true;
  if (access.waiting != nullptr) access.waiting->wake();
}

void RegisterAccesses::abandon(AxiPins& slave) {
  withdraw(slave);
  const auto end = [](RegisterAccess& access) {
    access.done = access.error = true;
    if (access.waiting != nullptr) access.waiting->wake();
  };
  if (access_ != nullptr) end(*std::exchange(access_, nullptr));
  while (!waiting_.empty()) end(*waiting_.pop());
}

void RegisterAccesses::wait_for(RegisterAccess& access) {
  if (wakeups_.empty()) wakeups_.push_back(std::make_unique<vp::Wakeup>());
  std::unique_ptr<vp::Wakeup> wakeup = std::move(wakeups_.back());
  wakeups_.pop_back();
  access.waiting = wakeup.get();
  while (!access.done) wakeup->wait();
  wakeups_.push_back(std::move(wakeup));
}

}  // namespace oae
