// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "models/pcie/endpoint/function.h"

namespace device {

/// Attaches the interrupt output of a plain model, an `sc_out<bool>`, to a function.
///
///     InterruptAdapter interrupt{"interrupt", endpoint.function(0)};
///     timer.irq.bind(interrupt.line);
///
/// Each rising edge signals the vector by MSI-X or MSI, and in INTx mode the line is the function's
/// pin. Several processes of the model may drive the line.
class InterruptAdapter : public sc_core::sc_module {
 public:
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> line;

  InterruptAdapter(const sc_core::sc_module_name& name, pcie::Function& function,
                   unsigned vector = 0);

 private:
  void changed();

  pcie::Function& function_;
  const unsigned vector_;
};

}  // namespace device
