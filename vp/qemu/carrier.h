// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

namespace vp::qemu {

class Cpu;

/// A SystemC process that executes vCPUs. There are as many processes as vCPUs, and each process
/// carries one vCPU, but not always the same: a vCPU that has to wait for the progress of another
/// one hands its process to that one, so that the two take turns without the kernel. A vCPU that is
/// inside an access keeps its process, since the access is on the stack of that process.
class Carrier {
 public:
  explicit Carrier(Cpu& cpu);
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  /// Waits until resume() is called. May be called only in this process.
  void wait() { sc_core::wait(resumed_); }
  void resume() { resumed_.notify(); }

 private:
  void run();
  /// Exchanges its vCPU with the carrier of `next`.
  void adopt(Cpu& next);

  Cpu* cpu_;
  sc_core::sc_event resumed_;
};

}  // namespace vp::qemu
