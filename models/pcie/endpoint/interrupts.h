// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/pcie/config/capabilities/msi.h"
#include "models/pcie/config/capabilities/msi_x.h"
#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function_core.h"
#include "models/pcie/endpoint/requester.h"
#include "vp/ring.h"
#include "vp/statistics/statistics.h"

namespace pcie {

/// The interrupts of a function: MSI-X, MSI, and the level of its INTx pin (PCIe 5.0, 6.1). None of
/// them passes a write that device logic has begun before, and none waits for a later one.
class Interrupts {
 public:
  /// `requester` sends the messages and may be constructed later. Throws ConfigurationError if a
  /// value is impossible.
  Interrupts(FunctionCore& core, const FunctionConfig& config, Requester& requester,
             vp::Statistics& statistics);

  // These members implement InterruptModesIf.
  void signal(unsigned vector);
  InterruptMode mode() const;
  unsigned vectors() const;
  void set_intx(bool level);

  /// Deasserts the pin before a reset, and forgets the interrupts that wait behind writes.
  void release_intx();
  /// Sends a message if the visible level of the pin has changed. Must be called after a change of
  /// registers, power state or link.
  void update_intx();
  /// Clears all pending bits and the MSI-X table.
  void reset();
  /// Sends the pending interrupts that may leave now. Must be called after a write that has waited
  /// has left.
  void flush();
  /// nullptr for a function without MSI-X.
  MsiX* msi_x() { return msi_x_ ? &*msi_x_ : nullptr; }

 private:
  // What device logic has signalled while writes waited. It counts when these have left.
  struct Deferred {
    std::optional<unsigned> vector;  // nullopt for the pin
    bool level = false;              // of the pin
    std::uint64_t behind = 0;        // Requester::writes_begun() at that time
    unsigned count = 1;              // how often it was signalled
  };

  void perform_or_defer(Deferred one);
  void perform(const Deferred& one);
  bool send(unsigned vector);

  FunctionCore& core_;
  Requester& requester_;
  const unsigned pin_;  // 1 to 4, or 0 without a pin
  const unsigned msi_vectors_;
  std::optional<Msi> msi_;
  std::optional<MsiX> msi_x_;
  vp::Ring<Deferred> deferred_;
  bool intx_level_ = false;   // behind the writes that have left
  bool intx_driven_ = false;  // the level at which this function drives the pin

  std::uint64_t sent_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace pcie
