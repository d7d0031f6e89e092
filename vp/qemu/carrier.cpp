// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/carrier.h"

#include <utility>

#include "vp/qemu/cpu.h"
#include "vp/time/agenda.h"

namespace vp::qemu {
namespace {

// QEMU's translator runs on the stack of the process.
constexpr int stack_size = 8 * 1024 * 1024;

}  // namespace

Carrier* Carrier::keeper_ = nullptr;

Carrier::Carrier(Cpu& cpu) : cpu_(&cpu) {
  sc_core::sc_spawn_options options;
  options.set_stack_size(stack_size);
  sc_core::sc_spawn([this] { run(); }, "carrier", &options);
}

void Carrier::run() {
  Agenda::get().admit();
  while (cpu_->execute()) {
    if (cpu_->ready()) continue;
    if (Cpu* next = Cpu::able_to_go_on()) {
      adopt(*next);
      continue;
    }
    do wait_for_any();
    while (!cpu_->ready());
  }
  Agenda::get().dismiss();
}

void Carrier::wait() {
  resumed_ = false;
  Agenda& agenda = Agenda::get();
  agenda.forget_others();  // the models that handle the access have run
  agenda.keep_until(resumed_);
  agenda.rearm();
  while (!resumed_) sc_core::wait(event_);
}

void Carrier::wait_for_any() {
  resumed_ = false;
  keeper_ = this;
  Agenda::get().keep_until(resumed_);
  keeper_ = nullptr;
  if (Carrier* next = std::exchange(next_, nullptr)) return adopt(*next->cpu_);
  if (resumed_) return;
  Agenda::get().rearm();
  idle_ = true;
  while (!resumed_) sc_core::wait(event_);
  idle_ = false;
}

void Carrier::resume() {
  if (keeper_ != nullptr && idle_) {
    keeper_->next_ = this;
    keeper_->resumed_ = true;
    return;
  }
  resumed_ = true;
  if (keeper_ != this) event_.notify();
}

void Carrier::adopt(Cpu& next) {
  Carrier& other = *next.carrier_;
  std::swap(cpu_, other.cpu_);
  cpu_->carrier_ = this;
  other.cpu_->carrier_ = &other;
}

}  // namespace vp::qemu
