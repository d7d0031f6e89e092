// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

#include "vp/time/time.h"

namespace vp {

/// An initiator that may be ahead of the kernel's time, as an extension of its payloads.
///
/// Its b_transport call is made for the kernel's time plus the delay annotation, which lies before
/// the horizon of its domain: nothing that is not known now happens there in between (temporal
/// decoupling, IEEE 1666-2011, 9.2.1, but exact). A target that can work ahead adds to the delay;
/// one that has to act at the access's own time calls catch_up() first.
class Decoupled : public tlm::tlm_extension<Decoupled> {
 public:
  /// Waits until the kernel's time is that of the access.
  virtual void catch_up() = 0;
  /// Whether the answer too may lie ahead, since nobody else accesses its domain meanwhile.
  virtual bool may_stay_ahead() const = 0;

  // The initiator and its payload live as long as each other.
  tlm::tlm_extension_base* clone() const override { return nullptr; }
  void copy_from(const tlm::tlm_extension_base&) override {}
  void free() override {}
};

inline bool may_stay_ahead(const tlm::tlm_generic_payload& payload) {
  const auto* initiator = payload.get_extension<Decoupled>();
  return initiator != nullptr && initiator->may_stay_ahead();
}

inline void catch_up(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* initiator = payload.get_extension<Decoupled>();
  if (initiator == nullptr) return;
  const sc_core::sc_time before = sc_core::sc_time_stamp();
  initiator->catch_up();
  delay -= sc_core::sc_time_stamp() - before;
}

}  // namespace vp
