// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>

#include "models/ipu/dma_engine.h"
#include "models/ipu/memory.h"
#include "models/pcie/endpoint/access.h"
#include "vp/interrupt_line.h"
#include "vp/time/domain.h"

namespace ipu {

/// The device behind a virtual function: a DMA engine that its host drives, and memory at address 0
/// that only this engine reaches. At the end of a copy it sends MSI-X vector 0, if the interrupt is
/// enabled.
///
///     BAR 0, 0x000: registers of the engine (rtl/registers/dma.yaml)
class CopyDevice : public sc_core::sc_module, private vp::InterruptLineIf {
 public:
  /// Addresses are offsets in the BAR. Protocol: models/pcie/endpoint/access.h; reads complete at
  /// once.
  tlm_utils::passthrough_target_socket<CopyDevice> bar;
  sc_core::sc_port<pcie::InterruptIf> interrupt;
  /// The engine. Its socket `host` is bound to the function's `dma`.
  DmaEngine engine;

  /// `memory_size` in bytes.
  CopyDevice(const sc_core::sc_module_name& name, vp::Domain& domain,
             const DmaEngine::Timing& timing, std::uint64_t memory_size);

  /// Clears the memory and resets the engine. The function, which was reset, has ended the engine's
  /// reads.
  void reset();

 private:
  void set_line(unsigned number, bool level) override;
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);

  tlm_utils::simple_initiator_socket<CopyDevice> registers_;
  PlainStorage storage_;
  Memory memory_;
};

}  // namespace ipu
