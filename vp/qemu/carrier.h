// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

namespace vp::qemu {

class Cpu;

/// A SystemC process that executes vCPUs. There is one for each, and each carries one, but not
/// always the same: a vCPU that has to wait for another's progress hands its process to that one,
/// so that the two go on in turns without the kernel. Only one that is inside an access keeps its
/// process, whose stack the access is on.
class Carrier {
 public:
  explicit Carrier(Cpu& cpu);
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Until resume() is called; only in this process.
  void wait() { sc_core::wait(resumed_); }
  void resume() { resumed_.notify(); }

 private:
  void run();
  /// Exchanges vCPUs with the one that carries `next`.
  void adopt(Cpu& next);

  Cpu* cpu_;
  sc_core::sc_event resumed_;
};

}  // namespace vp::qemu
