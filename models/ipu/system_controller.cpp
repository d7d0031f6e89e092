// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/system_controller.h"

#include "oae_registers.h"
#include "vp/log/log.h"

namespace ipu {
namespace {

constexpr unsigned most = OAE_SYSTEM_LINK_PEER_COUNT;
static_assert(OAE_SYSTEM_LINK_PORTS_COUNT == most);

/// Returns the number of the link whose register in `array` is at `offset`, or `most` if there is
/// none.
unsigned link_of(std::uint64_t offset, std::uint64_t array) {
  const std::uint64_t n = (offset - array) / 8;
  return offset < array || n >= most ? most : static_cast<unsigned>(n);
}

}  // namespace

static_assert(static_cast<int>(SystemController::HaltReason::shutdown) == OAE_HALT_REASON_SHUTDOWN);
static_assert(static_cast<int>(SystemController::HaltReason::fault) == OAE_HALT_REASON_FAULT);

SystemController::SystemController(const sc_core::sc_module_name& name, const Machine& machine,
                                   Halt halt)
    : RegisterBlock(name, 8), machine_(machine), halt_(std::move(halt)) {}

std::optional<std::uint64_t> SystemController::read(std::uint64_t offset) {
  switch (offset) {
    case OAE_SYSTEM_ID:
      return OAE_PUT(OAE_SYSTEM_ID_CORES, machine_.cores) |
             OAE_PUT(OAE_SYSTEM_ID_LINKS, machine_.links.size()) |
             OAE_PUT(OAE_SYSTEM_ID_CELL, machine_.cell);
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
    case OAE_SYSTEM_QUEUE_MEMORY:
      return machine_.queue_memory;
    default:
      break;
  }
  const Link none{};
  if (const unsigned n = link_of(offset, OAE_SYSTEM_LINK_PEER_AT(0)); n < most) {
    const Link& link = n < machine_.links.size() ? machine_.links[n] : none;
    return OAE_PUT(OAE_SYSTEM_LINK_PEER_CELL, link.peer) |
           OAE_PUT(OAE_SYSTEM_LINK_PEER_BRIDGED, link.bridged) |
           OAE_PUT(OAE_SYSTEM_LINK_PEER_RELAYED, link.relayed);
  }
  if (const unsigned n = link_of(offset, OAE_SYSTEM_LINK_PORTS_AT(0)); n < most) {
    return (n < machine_.links.size() ? machine_.links[n] : none).ports;
  }
  return std::nullopt;
}

bool SystemController::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                             vp::Picoseconds) {
  if (!read(offset)) return false;
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
