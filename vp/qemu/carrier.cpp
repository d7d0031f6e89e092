// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/carrier.h"

#include <utility>

#include "vp/qemu/cpu.h"

namespace vp::qemu {
namespace {

// QEMU's translator runs on the stack of the process.
constexpr int stack_size = 8 * 1024 * 1024;

}  // namespace

Carrier::Carrier(Cpu& cpu) : cpu_(&cpu) {
  sc_core::sc_spawn_options options;
  options.set_stack_size(stack_size);
  sc_core::sc_spawn([this] { run(); }, "carrier", &options);
}

void Carrier::run() {
  while (cpu_->execute()) {
    if (cpu_->ready()) continue;
    if (Cpu* next = Cpu::able_to_go_on()) {
      adopt(*next);
      continue;
    }
    do wait();
    while (!cpu_->ready());
  }
}

void Carrier::adopt(Cpu& next) {
  Carrier& other = *next.carrier_;
  std::swap(cpu_, other.cpu_);
  cpu_->carrier_ = this;
  other.cpu_->carrier_ = &other;
}

}  // namespace vp::qemu
