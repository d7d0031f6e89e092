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
  void wait();
  void resume();

 private:
  void run();
  /// Waits until its vCPU, or that of another carrier that waits here, can take its turn. Adopts
  /// that one.
  void wait_for_any();
  /// Exchanges its vCPU with the carrier of `next`.
  void adopt(Cpu& next);

  Cpu* cpu_;
  bool resumed_ = false;
  bool idle_ = false;  // waits for its event in wait_for_any()
  sc_core::sc_event event_;
  Carrier* next_ = nullptr;  // was resumed while this one kept appointments
  static Carrier* keeper_;   // keeps appointments in wait_for_any()
};

}  // namespace vp::qemu
