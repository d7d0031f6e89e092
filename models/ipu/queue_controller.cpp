// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/queue_controller.h"

#include <algorithm>

#include "oae_registers.h"

namespace ipu {

QueueController::QueueController(const sc_core::sc_module_name& name, vp::Domain& domain)
    : RegisterBlock(name, 8), interrupt("interrupt"), arrival_(domain, [this] { arrive(); }) {}

void QueueController::reset() {
  arrival_.cancel();
  sent_.clear();
}

std::optional<std::uint64_t> QueueController::read(std::uint64_t offset) {
  return offset == OAE_QUEUE_INTERRUPT ? std::optional<std::uint64_t>(0) : std::nullopt;
}

bool QueueController::write(std::uint64_t offset, std::uint64_t value, std::uint64_t mask,
                            vp::Picoseconds delay) {
  if (offset != OAE_QUEUE_INTERRUPT) return false;
  if ((mask & OAE_QUEUE_INTERRUPT_VECTOR_MASK) == 0) return true;
  const Sent sent{vp::now() + delay,
                  static_cast<unsigned>(OAE_GET(value, OAE_QUEUE_INTERRUPT_VECTOR))};
  const auto later = std::upper_bound(
      sent_.begin(), sent_.end(), sent,
      [](const Sent& one, const Sent& other) { return one.arrival < other.arrival; });
  sent_.insert(later, sent);
  arrival_.at(sent_.front().arrival);
  return true;
}

void QueueController::arrive() {
  while (!sent_.empty() && sent_.front().arrival <= vp::now()) {
    const unsigned vector = sent_.front().vector;
    sent_.pop_front();
    ++interrupts_;
    interrupt->signal(vector);
  }
  if (!sent_.empty()) arrival_.at(sent_.front().arrival);
}

}  // namespace ipu
