// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/port.h"

#include "models/pcie/link/link.h"

namespace pcie {

void Port::send(TlpPtr tlp) {
  if (link_up_) link_->half_from(*this).send(std::move(tlp));
}

bool Port::fits(const Tlp& tlp) const {
  return !link_up_ || link_->half_from(*this).fits(tlp);
}

bool Port::blocked(CreditClass of) const {
  return link_up_ && link_->half_from(*this).blocked(of);
}

void Port::drain() {
  if (link_up_) link_->half_to(*this).drain();
}

bool Port::deliver_one(const std::function<bool(const Tlp&)>& wanted) {
  return link_up_ && link_->half_to(*this).deliver_one(wanted);
}

void Port::hold_link(Reset kind) {
  if (link_ != nullptr) link_->hold(kind);
}

void Port::restore_power() {
  if (link_ != nullptr) link_->restore_power();
}

bool Port::release_link(Reset kind) {
  if (link_ != nullptr) link_->release(kind);
  return link_ != nullptr;
}

bool Port::retrain_link() {
  return link_ != nullptr && link_->retrain();
}

void Port::active_states_changed() {
  if (link_ != nullptr) link_->keep_awake();
}

unsigned Port::partner_generation() const {
  return link_ != nullptr ? link_->half_from(*this).to().port_config().generation : 0;
}

bool Port::flits() const {
  return link_ != nullptr && link_->flits();
}

}  // namespace pcie
