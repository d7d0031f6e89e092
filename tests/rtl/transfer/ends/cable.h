// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tests/rtl/transfer/ends/end.h"
#include "tests/rtl/transfer/ends/wire.h"

/// Two ends and the wires between them, on one clock.
class LinkCable {
 public:
  /// `delay` is the delay of each wire in slices.
  explicit LinkCable(unsigned delay) : to_b(delay), to_a(delay) {}

  /// The low phase of a clock. A wire that is held moves no slice.
  void settle(std::uint64_t now, bool to_b_goes = true, bool to_a_goes = true);
  void rise();
  /// Whether a clock at `now` would change nothing: the ends' clocks may stop (oae_link.sv), and
  /// nothing is on the wires.
  bool quiet(std::uint64_t now) const;

  static constexpr unsigned slices = sizeof(Voae_link::tx_data) / 8;  ///< per clock
  LinkEnd a;
  LinkEnd b;
  LinkWire to_b;
  LinkWire to_a;

 private:
  bool a_sends_ = false;  // in the previous clock
  bool b_sends_ = false;
  bool a_hears_ = false;  // whether the other side is there
  bool b_hears_ = false;
};
