// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/endpoint/interrupts.h"

#include <algorithm>
#include <string>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

void check_msi_x(const FunctionConfig& config) {
  const MsiXConfig& msi_x = config.msi_x;
  const std::uint64_t table = 16u * std::uint64_t{msi_x.vectors};
  const std::uint64_t pending = (msi_x.vectors + 63) / 64 * 8;
  auto inside = [&config](unsigned index, std::uint64_t end) {
    return std::any_of(config.bars.begin(), config.bars.end(),
                       [&](const BarConfig& bar) { return bar.index == index && end <= bar.size; });
  };
  if (!inside(msi_x.table_bar, msi_x.table_offset + table) ||
      !inside(msi_x.pending_bar, msi_x.pending_offset + pending)) {
    throw ConfigurationError("the MSI-X table and the pending bits must be inside a BAR");
  }
  if (msi_x.table_bar == msi_x.pending_bar && msi_x.table_offset < msi_x.pending_offset + pending &&
      msi_x.pending_offset < msi_x.table_offset + table) {
    throw ConfigurationError("the MSI-X table and the pending bits must not overlap");
  }
}

}  // namespace

Interrupts::Interrupts(FunctionCore& core, const FunctionConfig& config, Requester& requester,
                       vp::Statistics& statistics)
    : core_(core),
      requester_(requester),
      pin_(config.interrupt_pin),
      msi_vectors_(config.msi.vectors) {
  const auto send = [this](std::uint64_t address, std::uint32_t data) {
    return requester_.send_message_interrupt(address, data);
  };
  if (config.msi.vectors > 0) msi_.emplace(core.space(), config.msi, send);
  if (config.msi_x.vectors > 0) {
    check_msi_x(config);
    msi_x_.emplace(core.space(), config.msi_x, send);
  }
  const std::string prefix = std::string(core.name()) + ".";
  statistics.counter(prefix + "interrupts", sent_);
  statistics.counter(prefix + "interrupts_ignored", ignored_);
}

// Enabling both MSI and MSI-X is undefined (6.1.4); this model uses MSI-X then.
InterruptMode Interrupts::mode() const {
  if (msi_x_ && msi_x_->enabled()) return InterruptMode::msi_x;
  return msi_ && msi_->enabled() ? InterruptMode::msi : InterruptMode::intx;
}

unsigned Interrupts::vectors() const {
  switch (mode()) {
    case InterruptMode::msi_x:
      return msi_x_->config().vectors;
    case InterruptMode::msi:
      return std::min(msi_->granted(), msi_vectors_);
    case InterruptMode::intx:
      break;
  }
  return 0;
}

void Interrupts::signal(unsigned vector) {
  perform_or_defer({vector});
}

// Whether MSI or MSI-X has accepted the vector.
bool Interrupts::send(unsigned vector) {
  switch (mode()) {
    case InterruptMode::msi_x:
      return msi_x_->signal(vector);
    case InterruptMode::msi:
      return msi_->signal(vector);
    case InterruptMode::intx:
      break;
  }
  return false;
}

void Interrupts::perform(const Deferred& one) {
  if (one.vector) {
    (send(*one.vector) ? sent_ : ignored_) += one.count;
  } else {
    intx_level_ = one.level;
    update_intx();
  }
}

// What is signalled again behind the same writes is not sent again.
void Interrupts::perform_or_defer(Deferred one) {
  if (deferred_.empty() && !requester_.data_waits()) return perform(one);
  one.behind = requester_.writes_begun();
  for (std::size_t i = deferred_.size(); i > 0 && deferred_[i - 1].behind == one.behind; --i) {
    Deferred& before = deferred_[i - 1];
    if (before.vector != one.vector) continue;
    before.level = one.level;
    ++before.count;
    return;
  }
  deferred_.push(one);
}

void Interrupts::flush() {
  if (msi_) msi_->flush();
  if (msi_x_) msi_x_->flush();
  while (!deferred_.empty() && deferred_.front().behind <= requester_.writes_left()) {
    perform(deferred_.pop());
  }
}

void Interrupts::reset() {
  if (msi_) msi_->reset();
  if (msi_x_) msi_x_->reset();
}

void Interrupts::set_intx(bool level) {
  if (pin_ == 0) return;
  core_.header().set_interrupt_status(level);
  perform_or_defer({std::nullopt, level});
}

// The reset ends the writes behind which interrupts wait.
void Interrupts::release_intx() {
  deferred_.clear();
  core_.header().set_interrupt_status(false);
  perform({std::nullopt, false});
  intx_driven_ = false;
}

// 6.1.4: a function in MSI or MSI-X mode sends no INTx messages.
void Interrupts::update_intx() {
  const bool level =
      intx_level_ && core_.header().intx_enabled() && core_.d0() && mode() == InterruptMode::intx;
  if (level == intx_driven_ || !core_.uplink().up()) return;
  intx_driven_ = level;
  core_.uplink().set_pin(core_.number(), pin_, level);
}

}  // namespace pcie
