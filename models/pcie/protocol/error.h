// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcie {

/// The errors of PCIe. The value is the bit in the Uncorrectable Error Status register, or from 32
/// on 32 plus the bit in the Correctable Error Status register (PCIe 5.0, 7.8.4.2 and 7.8.4.5).
enum class Error : std::uint8_t {
  data_link_protocol = 4,
  surprise_down = 5,
  poisoned_tlp = 12,
  completion_timeout = 14,
  completer_abort = 15,
  unexpected_completion = 16,
  receiver_overflow = 17,
  malformed_tlp = 18,
  ecrc = 19,
  unsupported_request = 20,
  acs_violation = 21,
  atomic_egress_blocked = 24,
  poisoned_egress_blocked = 26,
  receiver_error = 32 + 0,
  bad_tlp = 32 + 6,
  bad_dllp = 32 + 7,
  replay_rollover = 32 + 8,
  replay_timeout = 32 + 12,
};
inline constexpr Error all_errors[] = {
    Error::data_link_protocol,
    Error::surprise_down,
    Error::poisoned_tlp,
    Error::completion_timeout,
    Error::completer_abort,
    Error::unexpected_completion,
    Error::receiver_overflow,
    Error::malformed_tlp,
    Error::ecrc,
    Error::unsupported_request,
    Error::acs_violation,
    Error::atomic_egress_blocked,
    Error::poisoned_egress_blocked,
    Error::receiver_error,
    Error::bad_tlp,
    Error::bad_dllp,
    Error::replay_rollover,
    Error::replay_timeout,
};

constexpr bool is_correctable(Error error) {
  return static_cast<unsigned>(error) >= 32;
}
/// The error's bit in its status register.
constexpr std::uint32_t bit_of(Error error) {
  return 1u << (static_cast<unsigned>(error) & 31);
}
/// Whether the error belongs to a TLP, whose header is logged. The other errors belong to symbols,
/// DLLPs, or packets that did not arrive.
constexpr bool has_tlp(Error error) {
  switch (error) {
    case Error::poisoned_tlp:
    case Error::completer_abort:
    case Error::unexpected_completion:
    case Error::malformed_tlp:
    case Error::ecrc:
    case Error::unsupported_request:
    case Error::acs_violation:
    case Error::atomic_egress_blocked:
    case Error::poisoned_egress_blocked:
      return true;
    default:
      return false;
  }
}

/// Whether a port detects the error in a packet that is about to leave it.
constexpr bool is_of_egress(Error error) {
  return error == Error::atomic_egress_blocked || error == Error::poisoned_egress_blocked;
}

/// The error's name, spelt like its enumerator.
const char* to_string(Error error);
/// The error of that name, or nothing if there is none.
std::optional<Error> error_of(std::string_view name);

}  // namespace pcie
