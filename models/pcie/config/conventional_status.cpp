// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/conventional_status.h"

#include "models/pcie/config/header_registers.h"

namespace pcie {
namespace {

using Bit = HeaderRegisters::StatusBit;

}  // namespace

void ConventionalStatus::set(Side side, std::uint32_t bits) {
  const unsigned at =
      side == Side::primary ? HeaderRegisters::status : Type1Registers::secondary_status;
  space_.change(at, 2, bits, bits);
}

bool ConventionalStatus::responds_to_parity_errors(Side side) const {
  if (side == Side::primary) {
    return commands_.any(HeaderRegisters::command,
                         HeaderRegisters::CommandBit::parity_error_response);
  }
  return space_.any(Type1Registers::bridge_control,
                    Type1Registers::BridgeControlBit::parity_error_response);
}

// 7.5.1.1.4: Status shows every completion that its side receives. 7.5.1.3.7: Secondary Status
// shows only those of the function's own requests.
void ConventionalStatus::received(Side side, const Tlp& tlp) {
  if (tlp.header.poisoned) {
    detected_parity_error(side);
    if (tlp.is_completion() && responds_to_parity_errors(side)) {
      set(side, Bit::master_data_parity_error);
    }
  }
  if (tlp.is_completion() && side == Side::primary) completed(side, tlp.header.status);
}

void ConventionalStatus::completed(Side side, Status status) {
  if (status == Status::completer_abort) set(side, Bit::received_target_abort);
  if (status == Status::unsupported_request) set(side, Bit::received_master_abort);
}

void ConventionalStatus::sent(Side side, const Tlp& tlp) {
  if (tlp.header.poisoned && !tlp.is_completion() && responds_to_parity_errors(side)) {
    set(side, Bit::master_data_parity_error);
  }
}

void ConventionalStatus::detected_parity_error(Side side) {
  set(side, Bit::detected_parity_error);
}

void ConventionalStatus::signaled_target_abort(Side side) {
  set(side, Bit::signaled_target_abort);
}

void ConventionalStatus::signaled_system_error() {
  set(Side::primary, Bit::signaled_system_error);
}

}  // namespace pcie
