// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/system_controller.h"

#include "oae_registers.h"
#include "vp/log/log.h"

namespace ipu {

static_assert(static_cast<int>(SystemController::HaltReason::shutdown) == OAE_HALT_REASON_SHUTDOWN);
static_assert(static_cast<int>(SystemController::HaltReason::fault) == OAE_HALT_REASON_FAULT);

SystemController::SystemController(const sc_core::sc_module_name& name, const Machine& machine,
                                   Halt halt)
    : RegisterBlock(name, 8), machine_(machine), halt_(std::move(halt)) {}

std::optional<std::uint64_t> SystemController::read(std::uint64_t offset) {
  switch (offset) {
    case OAE_SYSTEM_ID:
      return OAE_PUT(OAE_SYSTEM_ID_CORES, machine_.cores);
    case OAE_SYSTEM_SRAM_BASE:
      return machine_.sram_base;
    case OAE_SYSTEM_SRAM_SIZE:
      return machine_.sram_size;
    case OAE_SYSTEM_DRAM_BASE:
      return machine_.dram_base;
    case OAE_SYSTEM_DRAM_SIZE:
      return machine_.dram_size;
    case OAE_SYSTEM_BOOT_OPTIONS:
      return OAE_PUT(OAE_SYSTEM_BOOT_OPTIONS_POLL, machine_.poll);
    case OAE_SYSTEM_HALT:
      return 0;
    default:
      return std::nullopt;
  }
}

bool SystemController::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                             vp::Picoseconds) {
  if (offset > OAE_SYSTEM_HALT) return false;
  if (offset != OAE_SYSTEM_HALT || (mask & OAE_SYSTEM_HALT_REASON_MASK) == 0) return true;
  const std::uint64_t reason = OAE_GET(value, OAE_SYSTEM_HALT_REASON);
  if (reason == OAE_HALT_REASON_SHUTDOWN) {
    halt_(HaltReason::shutdown);
  } else if (reason == OAE_HALT_REASON_FAULT) {
    halt_(HaltReason::fault);
  } else {
    vp::log::get("ipu").warn("{}: the firmware halts for the unknown reason {}", name(), reason);
  }
  return true;
}

}  // namespace ipu
