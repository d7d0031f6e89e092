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

/// The virtual functions of a physical function. They share its identity except the device ID, and
/// its reset and initialisation times.
struct VirtualFunctionsConfig {
  unsigned count = 0;           ///< number that software can enable; 0 without SR-IOV
  std::uint16_t device = 0;     ///< device ID
  std::vector<BarConfig> bars;  ///< BARs of each virtual function
  MsiXConfig msi_x;             ///< MSI-X in these BARs; 0 vectors without MSI-X
};

struct FunctionConfig {
  Identity identity;
  std::vector<BarConfig> bars;
  MsiConfig msi;                               ///< 0 vectors without MSI
  MsiXConfig msi_x;                            ///< 0 vectors without MSI-X
  unsigned interrupt_pin = 0;                  ///< 1 to 4 for INTA to INTD, 0 without a pin
  std::optional<std::uint64_t> serial_number;  ///< EUI-64
  /// The time after power-up and after link training in which configuration requests get a retry.
  vp::Picoseconds initialisation = 0;
  vp::Picoseconds reset_time = 0;  ///< the same after a function level reset, at most 100 ms
  bool no_soft_reset = true;       ///< the return from D3hot to D0 keeps all registers
  unsigned bar_reads = 32;         ///< reads that device logic accepts at a time, at least 1
  /// The bytes of a deferrable memory write (DMWr) that device logic accepts: 64, 128, or 0 without
  /// support. A function without support does not request such writes either.
  unsigned deferrable_writes = 0;
  vp::Picoseconds deferral = 1 * vp::us;  ///< time until a deferred write is repeated, above 0
  VirtualFunctionsConfig virtual_functions;
};

}  // namespace pcie
