// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "models/pcie/config/capabilities/msi.h"
#include "models/pcie/config/capabilities/msi_x.h"
#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function_core.h"
#include "vp/statistics/statistics.h"

namespace pcie {

/// The interrupts of a function: MSI-X, MSI, and the level of its INTx pin (PCIe 5.0, 6.1).
class Interrupts {
 public:
  /// Sends a message interrupt. Returns false if it cannot leave now; flush() follows later.
  using Send = std::function<bool(std::uint64_t address, std::uint32_t data)>;

  /// Throws ConfigurationError if a value is impossible.
  Interrupts(FunctionCore& core, const FunctionConfig& config, Send send,
             vp::Statistics& statistics);

  // These members implement InterruptModesIf.
  void signal(unsigned vector);
  InterruptMode mode() const;
  unsigned vectors() const;
  void set_intx(bool level);

  /// Deasserts the pin before a reset.
  void release_intx();
  /// Sends a message if the visible level of the pin has changed. Must be called after a change of
  /// registers, power state or link.
  void update_intx();
  /// Clears all pending bits and the MSI-X table.
  void reset();
  /// Sends the pending interrupts that may leave now.
  void flush();
  /// nullptr for a function without MSI-X.
  MsiX* msi_x() { return msi_x_ ? &*msi_x_ : nullptr; }

 private:
  FunctionCore& core_;
  const unsigned pin_;  // 1 to 4, or 0 without a pin
  const unsigned msi_vectors_;
  std::optional<Msi> msi_;
  std::optional<MsiX> msi_x_;
  bool intx_level_ = false;
  bool intx_sent_ = false;  // the level that the last message has announced

  std::uint64_t sent_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace pcie
