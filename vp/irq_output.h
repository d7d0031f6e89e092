// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "vp/interrupt_line.h"

namespace vp {

/// A model's interrupt output, bound to the controller's input `number`; low at first. The
/// controller hears of changes only.
class IrqOutput : public sc_core::sc_port<InterruptLineIf> {
 public:
  IrqOutput(const char* name, unsigned number)
      : sc_core::sc_port<InterruptLineIf>(name), number_(number) {}

  void set(bool level) {
    if (level == level_) return;
    level_ = level;
    (*this)->set_line(number_, level);
  }

 private:
  const unsigned number_;
  bool level_ = false;
};

}  // namespace vp
