// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

namespace vp {

/// A level-sensitive interrupt input, numbered as its controller numbers it.
struct InterruptLineIf : virtual sc_core::sc_interface {
  virtual void set_line(unsigned number, bool level) = 0;
};

}  // namespace vp
