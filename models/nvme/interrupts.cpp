// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/interrupts.h"

#include <algorithm>

namespace nvme {
namespace {

constexpr vp::Picoseconds coalescing_unit = 100 * vp::us;

}  // namespace

Interrupts::Vector::Vector(Interrupts& owner, vp::Domain& domain, unsigned number)
    : timer(domain, [&owner, number] { owner.fire(number); }) {}

Interrupts::Interrupts(Port& port, unsigned vectors, const Features& features,
                       const std::vector<CompletionQueue>& queues, vp::Domain& domain)
    : port_(port), features_(features), queues_(queues) {
  for (unsigned i = 0; i < vectors; ++i) {
    vectors_.push_back(std::make_unique<Vector>(*this, domain, i));
  }
}

unsigned Interrupts::usable() const {
  return std::min(vectors(), std::max(1u, port_->interrupt_vectors()));
}

void Interrupts::set_mask(std::uint32_t mask) {
  mask_ = mask;
  for (unsigned number = 0; number < vectors_.size(); ++number) {
    if (!vectors_[number]->deferred || masked(number)) continue;
    vectors_[number]->deferred = false;
    signal(number);
  }
  update_pin();
}

// 5.21.1.8: the time and the number of entries are what software has asked for.
void Interrupts::announce(const CompletionQueue& queue, bool may_wait) {
  if (!queue.interrupts) return;
  Vector& vector = *vectors_[queue.vector];
  const std::uint32_t time = Features::coalescing_time.get(features_.coalescing);
  const std::uint32_t entries = Features::coalescing_entries.get(features_.coalescing) + 1;
  ++vector.entries;
  if (!may_wait || features_.vectors_alone[queue.vector] || time == 0 ||
      vector.entries >= entries) {
    return fire(queue.vector);
  }
  if (!vector.timer.pending()) vector.timer.after(time * coalescing_unit);
}

void Interrupts::fire(unsigned number) {
  Vector& vector = *vectors_[number];
  vector.timer.cancel();
  vector.entries = 0;
  vector.asserted = true;
  switch (port_->interrupt_mode()) {
    case pcie::InterruptMode::intx:
      return update_pin();
    case pcie::InterruptMode::msi:
      vector.deferred = masked(number);
      if (!vector.deferred) signal(number);
      return;
    case pcie::InterruptMode::msi_x:
      return signal(number);
  }
}

void Interrupts::signal(unsigned number) {
  ++count_;
  port_->signal(number);
}

// A vector is quiet once no queue of it has an entry.
void Interrupts::taken(const CompletionQueue& queue) {
  if (!queue.interrupts || queue.used() > 0) return;
  for (const CompletionQueue& other : queues_) {
    if (other.exists() && other.interrupts && other.vector == queue.vector && other.used() > 0) {
      return;
    }
  }
  Vector& vector = *vectors_[queue.vector];
  vector.timer.cancel();
  vector.entries = 0;
  vector.asserted = vector.deferred = false;
  update_pin();
}

// 7.5.1.1: the pin is asserted while entries await the host that it has been told of.
void Interrupts::update_pin() {
  bool level = false;
  if (port_->interrupt_mode() == pcie::InterruptMode::intx) {
    for (unsigned number = 0; number < vectors_.size(); ++number) {
      level |= vectors_[number]->asserted && !masked(number);
    }
  }
  if (level == pin_) return;
  pin_ = level;
  if (level) ++count_;
  port_->set_intx(level);
}

void Interrupts::reset() {
  mask_ = 0;
  for (const auto& vector : vectors_) {
    vector->timer.cancel();
    vector->entries = 0;
    vector->asserted = vector->deferred = false;
  }
  if (!pin_) return;
  pin_ = false;
  port_->set_intx(false);
}

}  // namespace nvme
