// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/error.h"

namespace pcie {

const char* to_string(Error error) {
  switch (error) {
    case Error::data_link_protocol:
      return "data_link_protocol";
    case Error::surprise_down:
      return "surprise_down";
    case Error::poisoned_tlp:
      return "poisoned_tlp";
    case Error::completion_timeout:
      return "completion_timeout";
    case Error::completer_abort:
      return "completer_abort";
    case Error::unexpected_completion:
      return "unexpected_completion";
    case Error::receiver_overflow:
      return "receiver_overflow";
    case Error::malformed_tlp:
      return "malformed_tlp";
    case Error::ecrc:
      return "ecrc";
    case Error::unsupported_request:
      return "unsupported_request";
    case Error::acs_violation:
      return "acs_violation";
    case Error::atomic_egress_blocked:
      return "atomic_egress_blocked";
    case Error::poisoned_egress_blocked:
      return "poisoned_egress_blocked";
    case Error::receiver_error:
      return "receiver_error";
    case Error::bad_tlp:
      return "bad_tlp";
    case Error::bad_dllp:
      return "bad_dllp";
    case Error::replay_rollover:
      return "replay_rollover";
    case Error::replay_timeout:
      return "replay_timeout";
  }
  return "?";
}

std::optional<Error> error_of(std::string_view name) {
  for (const Error error : all_errors) {
    if (name == to_string(error)) return error;
  }
  return {};
}

}  // namespace pcie
