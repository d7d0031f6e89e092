// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tlm>

#include "vp/time/time.h"

namespace vp {

/// What a target may say of its answer to a read: that the same read at any later time has the same
/// answer, and no effect but that counters grow, until a version changes.
struct Repeatable {
  const std::uint64_t* version = nullptr;  ///< lives as long as the target; nullptr: not repeatable
  /// The target's clock in ps, or 0: the read has arrived at `arrival`, and is answered at
  /// `answered` or, without a clock, as long after as the delay says.
  Picoseconds clock = 0;
  Picoseconds arrival = 0;
  Picoseconds answered = 0;
  struct Count {
    std::uint64_t* counter;
    std::uint64_t amount;
  };
  Count counts[4] = {};  ///< those that it adds to
};

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

  /// Set by the target of a read that answers ahead of the kernel's time.
  Repeatable repeatable;

  // The initiator and its payload live as long as each other.
  tlm::tlm_extension_base* clone() const override { return nullptr; }
  void copy_from(const tlm::tlm_extension_base&) override {}
  void free() override {}
};

inline bool may_stay_ahead(const tlm::tlm_generic_payload& payload) {
  const auto* initiator = payload.get_extension<Decoupled>();
  return initiator != nullptr && initiator->may_stay_ahead();
}

inline void repeatable(tlm::tlm_generic_payload& payload, const Repeatable& answer) {
  if (auto* initiator = payload.get_extension<Decoupled>()) initiator->repeatable = answer;
}

/// Called on the return path by each component that has also counted the read.
inline void repeats_count(tlm::tlm_generic_payload& payload, std::uint64_t& counter) {
  auto* initiator = payload.get_extension<Decoupled>();
  if (initiator == nullptr || initiator->repeatable.version == nullptr) return;
  for (Repeatable::Count& count : initiator->repeatable.counts) {
    if (count.counter != nullptr) continue;
    count = {&counter, 1};
    return;
  }
  initiator->repeatable.version = nullptr;  // more than can be kept
}

inline void catch_up(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  auto* initiator = payload.get_extension<Decoupled>();
  if (initiator == nullptr) return;
  const sc_core::sc_time before = sc_core::sc_time_stamp();
  initiator->catch_up();
  delay -= sc_core::sc_time_stamp() - before;
}

}  // namespace vp
