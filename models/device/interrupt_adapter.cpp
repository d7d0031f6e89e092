// SPDX-License-Identifier: Apache-2.0
#include "models/device/interrupt_adapter.h"

namespace device {

InterruptAdapter::InterruptAdapter(const sc_core::sc_module_name& name, pcie::Function& function,
                                   unsigned vector)
    : sc_module(name), line("line"), function_(function), vector_(vector) {
  SC_HAS_PROCESS(InterruptAdapter);
  SC_METHOD(changed);
  sensitive << line;
  dont_initialize();
}

void InterruptAdapter::changed() {
  function_.set_intx(line.read());
  if (line.read() && function_.interrupt_mode() != pcie::InterruptMode::intx)
    function_.signal(vector_);
}

}  // namespace device
