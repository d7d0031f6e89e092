// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "tests/rtl/link/wire.h"

namespace window {

/// Both wires between two ends of a link, and the carriers on them
class Cable {
 public:
  /// `delay` is that of each wire in clocks, at least 1.
  explicit Cable(unsigned delay)
      : forth(delay), back(delay), carrier_forth_(delay, false), carrier_back_(delay, false) {}

  /// Takes what the ends send in a clock, and gives them what arrives.
  template <typename Here, typename There>
  void clock(Here& here, There& there) {
    carrier_forth_.push_back(here.carrier() && forth.whole());
    carrier_back_.push_back(there.carrier() && back.whole());
    forth.push(here.sent());
    back.push(there.sent());
    there.receive(forth.pop(), carrier_forth_.front() && forth.whole());
    here.receive(back.pop(), carrier_back_.front() && back.whole());
    carrier_forth_.pop_front();
    carrier_back_.pop_front();
  }
  bool idle() const { return forth.idle() && back.idle(); }
  unsigned delay() const { return static_cast<unsigned>(carrier_forth_.size()); }

  Wire forth;
  Wire back;

 private:
  std::deque<bool> carrier_forth_;
  std::deque<bool> carrier_back_;
};

}  // namespace window
