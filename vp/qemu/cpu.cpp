// SPDX-License-Identifier: Apache-2.0
#include "vp/qemu/cpu.h"

#include <algorithm>

#include "vp/qemu/instance.h"

namespace vp::qemu {
namespace {

// QEMU's translator runs on the stack of the process.
constexpr int stack_size = 8 * 1024 * 1024;

}  // namespace

Cpu::Cpu(const sc_core::sc_module_name& name, Instance& instance, unsigned index)
    : sc_module(name), socket("socket"), instance_(instance), index_(static_cast<int>(index)) {
  sc_core::sc_spawn_options options;
  options.set_stack_size(stack_size);
  sc_core::sc_spawn([this] { run(); }, "run", &options);
}

void Cpu::run() {
  const OaeQemuApi& qemu = *instance_.api_;
  for (;;) {
    instance_.domain_.run_due();
    instance_.running_ = this;
    const OaeRun reason = qemu.vcpu_run(index_, limit());
    instance_.running_ = nullptr;
    local_ = std::max(now(), static_cast<Picoseconds>(qemu.vcpu_local_time(index_)));

    // What wakes it from here on is not lost, whoever calls.
    asleep_ = reason == OAE_RUN_HALTED;

    if (instance_.accesses_ == 0) {
      // While GDB holds the machine the kernel pauses before this wait ends.
      while (!instance_.service(false)) wait(sc_core::SC_ZERO_TIME);
    } else if (reason == OAE_RUN_BUSY || reason == OAE_RUN_STOPPED) {
      wait(instance_.accesses_done_);
      continue;
    }
    if (asleep_) {
      wait(wake_);
      asleep_ = false;
      wake_time_ = never;
    } else {
      synchronise();
    }
  }
}

Picoseconds Cpu::limit() const {
  return std::min(now() + instance_.config_.max_quantum, instance_.domain_.horizon());
}

void Cpu::synchronise() {
  if (local_ > now()) wait(to_sc_time(local_ - now()));
}

bool Cpu::access(tlm::tlm_command command, std::uint64_t address, unsigned size,
                 std::uint64_t& value) {
  const OaeQemuApi& qemu = *instance_.api_;
  instance_.running_ = nullptr;
  const Picoseconds begin = local_ = qemu.vcpu_local_time(index_);
  ++instance_.accesses_;
  synchronise();
  instance_.domain_.run_due();

  payload_.set_command(command);
  payload_.set_address(address);
  payload_.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  payload_.set_data_length(size);
  payload_.set_streaming_width(size);
  payload_.set_byte_enable_ptr(nullptr);
  payload_.set_dmi_allowed(false);
  payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay;
  socket->b_transport(payload_, delay);

  local_ = now() + static_cast<Picoseconds>(delay.value());
  if (--instance_.accesses_ == 0) instance_.accesses_done_.notify();
  instance_.running_ = this;
  qemu.vcpu_stall(index_, local_ - begin);
  qemu.vcpu_set_limit(index_, limit());
  return payload_.is_response_ok();
}

void Cpu::wake(Picoseconds when) {
  if (!asleep_ || when >= wake_time_) return;
  wake_time_ = when;
  wake_.notify(to_sc_time(std::max(when - now(), Picoseconds{0})));
}

Picoseconds Cpu::floor() const {
  return asleep_ ? wake_time_ : std::max(now(), local_);
}

}  // namespace vp::qemu
