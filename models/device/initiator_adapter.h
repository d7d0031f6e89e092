// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/pcie/endpoint/access.h"
#include "models/pcie/endpoint/function.h"

namespace device {

/// The part of InitiatorAdapter that does not depend on the width of the socket.
class InitiatorAdapterBase : public sc_core::sc_module {
 protected:
  InitiatorAdapterBase(const sc_core::sc_module_name& name, pcie::Function& function);

  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

 private:
  static constexpr unsigned longest = 4096;  // bytes of a piece

  /// A piece of a transaction. It has its own data, since the caller may go away meanwhile.
  struct Piece : tlm::tlm_generic_payload {
    Piece() { set_extension(new pcie::Access); }  // the payload owns it
    std::array<unsigned char, longest> data;
    bool done = false;
    sc_core::sc_event answered;
  };

  Piece& take();
  void perform(Piece& piece);
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  tlm_utils::simple_initiator_socket<InitiatorAdapterBase> dma_;
  std::vector<std::unique_ptr<Piece>> pieces_;
  std::vector<Piece*> free_;
};

/// Attaches a plain TLM-2.0 initiator to the DMA of a function: a model that calls b_transport,
/// knows nothing of PCIe, and is used as it is.
///
///     InitiatorAdapter<> memory{"memory", endpoint.function(0)};
///     engine.memory.bind(memory.socket);
///
/// The address of a transaction is a host bus address. An SC_THREAD has to call b_transport, any
/// number of them at a time. The call first waits for the delay that the caller has annotated, and
/// returns without a delay: with a read when the data have arrived, with a write when the function
/// has accepted it, since writes are posted. A transaction of more than 4096 bytes is done in
/// pieces of this size, one after the other.
///
/// Responses are those of pcie::Function::dma, such as TLM_COMMAND_ERROR_RESPONSE while Bus Master
/// is disabled and TLM_GENERIC_ERROR_RESPONSE after a completion timeout or a reset. Byte enables
/// and a streaming width below the length get TLM_BYTE_ENABLE_ERROR_RESPONSE and
/// TLM_BURST_ERROR_RESPONSE. There is neither DMI nor a debug transport.
template <unsigned BUSWIDTH = 32>
class InitiatorAdapter : public InitiatorAdapterBase {
 public:
  tlm_utils::simple_target_socket<InitiatorAdapter, BUSWIDTH> socket;

  InitiatorAdapter(const sc_core::sc_module_name& name, pcie::Function& function)
      : InitiatorAdapterBase(name, function), socket("socket") {
    socket.register_b_transport(this, &InitiatorAdapter::b_transport);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    transport(payload, delay);
  }
};

}  // namespace device
