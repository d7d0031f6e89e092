// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <vector>

#include "models/nvme/features.h"
#include "models/nvme/queues.h"
#include "models/pcie/endpoint/access.h"
#include "vp/time/domain.h"

namespace nvme {

/// The interrupts of the completion queues (NVMe 1.4, 7.5), by the mechanism that the host has
/// enabled: MSI-X, MSI or the pin. The mask (INTMS and INTMC) has no effect on MSI-X.
class Interrupts {
 public:
  using Port = sc_core::sc_port<pcie::InterruptModesIf>;

  /// `features` says how interrupts are coalesced. `queues` are all completion queues. Both are
  /// those of the controller and live as long.
  Interrupts(Port& port, unsigned vectors, const Features& features,
             const std::vector<CompletionQueue>& queues, vp::Domain& domain);

  unsigned vectors() const { return static_cast<unsigned>(vectors_.size()); }
  /// The vectors that a new queue may have, which depend on the mechanism.
  unsigned usable() const;

  std::uint32_t mask() const { return mask_; }
  void set_mask(std::uint32_t mask);

  /// An entry was added to the queue. Its interrupt may wait for other entries, unless the queue is
  /// the admin queue's.
  void announce(const CompletionQueue& queue, bool may_wait);
  /// The host has taken entries of the queue.
  void taken(const CompletionQueue& queue);

  /// Forgets everything and deasserts the pin.
  void reset();
  /// The same after a reset of the function, which has deasserted its pin.
  void reset_with_function() {
    pin_ = false;
    reset();
  }

  /// How often the function was asked for an interrupt. It may merge requests of a vector.
  const std::uint64_t& count() const { return count_; }

 private:
  struct Vector {
    Vector(Interrupts& owner, vp::Domain& domain, unsigned number);

    vp::Event timer;        // of coalescing
    unsigned entries = 0;   // since the last interrupt
    bool asserted = false;  // an entry awaits the host that it has been told of
    bool deferred = false;  // a message waits until it is unmasked
  };

  bool masked(unsigned vector) const { return vector < 32 && (mask_ >> vector & 1) != 0; }
  void fire(unsigned number);
  void signal(unsigned number);
  void update_pin();

  Port& port_;
  const Features& features_;
  const std::vector<CompletionQueue>& queues_;
  std::vector<std::unique_ptr<Vector>> vectors_;
  std::uint32_t mask_ = 0;
  bool pin_ = false;
  std::uint64_t count_ = 0;
};

}  // namespace nvme
