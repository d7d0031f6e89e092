// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/copy_device.h"

#include <cstring>

namespace ipu {

CopyDevice::CopyDevice(const sc_core::sc_module_name& name, vp::Domain& domain,
                       const DmaEngine::Timing& timing, std::uint64_t memory_size)
    : sc_module(name),
      bar("bar"),
      interrupt("interrupt"),
      engine("engine", domain, timing, 0),
      registers_("registers"),
      storage_(memory_size),
      memory_("memory", storage_, 0) {
  bar.register_nb_transport_fw(this, &CopyDevice::nb_transport_fw);
  registers_.bind(engine.socket);
  engine.memory.bind(memory_.socket);
  engine.irq.bind(*this);
}

// Nothing may be left for the next user of the function (PCIe 5.0, 6.6.2).
void CopyDevice::reset() {
  engine.reset();
  std::memset(storage_.bytes(), 0, storage_.size());
}

void CopyDevice::set_line(unsigned, bool level) {
  if (level) interrupt->signal(0);
}

tlm::tlm_sync_enum CopyDevice::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                               sc_core::sc_time& delay) {
  registers_->b_transport(payload, delay);
  // An access that a register exists for but does not support ends as Completer Abort.
  const tlm::tlm_response_status status = payload.get_response_status();
  if (status != tlm::TLM_OK_RESPONSE && status != tlm::TLM_ADDRESS_ERROR_RESPONSE) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
  }
  return tlm::TLM_COMPLETED;
}

}  // namespace ipu
