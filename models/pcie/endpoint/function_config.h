// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/pcie/config/base_address_registers.h"
#include "models/pcie/config/capabilities/msi.h"
#include "models/pcie/config/capabilities/msi_x.h"
#include "models/pcie/config/header.h"
#include "vp/time/time.h"

namespace pcie {

/// The virtual functions of a physical one. They have its identity but for the device id, and its
/// reset and initialisation times.
struct VirtualFunctionsConfig {
  unsigned count = 0;           ///< most that software can enable; 0: no SR-IOV
  std::uint16_t device = 0;     ///< device id
  std::vector<BarConfig> bars;  ///< of each
  MsiXConfig msi_x;             ///< in these BARs; 0 vectors: none
};

struct FunctionConfig {
  Identity identity;
  std::vector<BarConfig> bars;
  MsiConfig msi;                               ///< 0 vectors: none
  MsiXConfig msi_x;                            ///< 0 vectors: none
  unsigned interrupt_pin = 0;                  ///< 1 to 4 for INTA to INTD, 0 for none
  std::optional<std::uint64_t> serial_number;  ///< EUI-64
  vp::Picoseconds initialisation = 0;          ///< answers configuration with a retry so long, from
                                               ///< power-up and from the training of the link on
  vp::Picoseconds reset_time = 0;  ///< and so long after a reset of its own, up to 100 ms
  bool no_soft_reset = true;       ///< the return from D3hot to D0 keeps all registers
  unsigned bar_reads = 32;         ///< reads that device logic works on at a time
  /// Deferrable memory writes (DMWr): bytes that device logic takes at a time, 64 or 128; 0: none,
  /// nor does it ask for any.
  unsigned deferrable_writes = 0;
  vp::Picoseconds deferral = 1 * vp::us;  ///< after which it sends again what was deferred; above 0
  VirtualFunctionsConfig virtual_functions;
};

}  // namespace pcie
