// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "models/ipu/register_block.h"
#include "models/pcie/endpoint/access.h"
#include "vp/time/domain.h"

namespace ipu {

/// Lets the cores interrupt the host through the queue function. Register map:
/// rtl/registers/queue.yaml.
///
///     0x000 interrupt  wo  MSI-X vector, from 0
///
/// The function ignores vectors that it does not have.
class QueueController : public RegisterBlock {
 public:
  sc_core::sc_port<pcie::InterruptIf> interrupt;

  QueueController(const sc_core::sc_module_name& name, vp::Domain& domain);

  /// Cancels the interrupts that are on their way, after a reset of the function.
  void reset();

  /// Interrupts that have reached the function.
  const std::uint64_t& interrupts() const { return interrupts_; }

 private:
  /// A write on its way from a core.
  struct Sent {
    vp::Picoseconds arrival;
    unsigned vector;
  };

  std::optional<std::uint64_t> read(std::uint64_t offset) override;
  bool write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
             vp::Picoseconds delay) override;
  void arrive();

  vp::Event arrival_;  // of the first of them
  std::deque<Sent> sent_;
  std::uint64_t interrupts_ = 0;
};

}  // namespace ipu
