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

/// How a function interrupts: MSI-X, MSI, and the level of its INTx pin (PCIe 5.0, 6.1).
class Interrupts {
 public:
  /// Sends a message interrupt, or returns false while none can leave; flush() follows.
  using Send = std::function<bool(std::uint64_t address, std::uint32_t data)>;

  /// Throws ConfigurationError if a value is impossible.
  Interrupts(FunctionCore& core, const FunctionConfig& config, Send send,
             vp::Statistics& statistics);

  // As InterruptModesIf says.
  void signal(unsigned vector);
  InterruptMode mode() const;
  unsigned vectors() const;
  void set_intx(bool level);

  /// Takes the pin back before a reset, and its level with it.
  void release_intx();
  /// Tells of the pin's level, where registers, power state or link may have changed what of it is
  /// to be seen.
  void update_intx();
  /// Forgets what is pending, and the table.
  void reset();
  /// Sends what is pending and may leave.
  void flush();
  /// nullptr for a function without MSI-X.
  MsiX* msi_x() { return msi_x_ ? &*msi_x_ : nullptr; }

 private:
  FunctionCore& core_;
  const unsigned pin_;  // 1 to 4, or 0
  const unsigned msi_vectors_;
  std::optional<Msi> msi_;
  std::optional<MsiX> msi_x_;
  bool intx_level_ = false;
  bool intx_told_ = false;

  std::uint64_t sent_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace pcie
