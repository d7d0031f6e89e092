// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "models/pcie/endpoint/function.h"
#include "vp/ring.h"
#include "vp/time/domain.h"

namespace device {

/// The part of TargetAdapter that does not depend on the width of the socket.
class TargetAdapterBase : public sc_core::sc_module {
 public:
  /// Gives up the accesses that wait. One that the target is executing goes on, and its result is
  /// dropped. The function calls this at each of its resets.
  void reset();

 protected:
  TargetAdapterBase(const sc_core::sc_module_name& name, pcie::Function& function, unsigned bar,
                    vp::Domain& domain);

  virtual void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) = 0;

 private:
  // The longest deferrable write; all other accesses have up to 64 bytes.
  static constexpr unsigned longest = 128;

  /// An access of the host. A write's data are copied, since the function keeps them no longer than
  /// until its next reset.
  struct Request {
    tlm::tlm_generic_payload* payload = nullptr;
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address = 0;
    unsigned length = 0;
    bool holes = false;  // whether there are byte enables
    std::array<unsigned char, longest> data{};
    std::array<unsigned char, longest> enables{};
  };

  tlm::tlm_sync_enum access(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);
  void run();
  void execute();
  void respond();
  void answer(tlm::tlm_generic_payload& payload, tlm::tlm_response_status status);

  const unsigned number_;  // of the BAR
  tlm_utils::passthrough_target_socket<TargetAdapterBase> bar_;
  vp::Ring<Request> waiting_;
  bool busy_ = false;  // the target executes `current_`, or its annotated delay has not passed
  Request current_;
  tlm::tlm_generic_payload payload_;  // what the target gets
  sc_core::sc_event next_;
  vp::Event done_;
};

/// Attaches a plain TLM-2.0 target to a BAR of a function: a model with a b_transport, which knows
/// nothing of PCIe and is used as it is.
///
///     TargetAdapter<> registers{"registers", endpoint.function(0), domain};
///     registers.socket.bind(timer.socket);
///
/// The target gets each access of the host as a transaction of its own: TLM_READ_COMMAND or
/// TLM_WRITE_COMMAND, the offset in the BAR as the address, and 1 to 64 bytes that cross no
/// multiple of 64. The bytes that a host's access leaves out divide it, so that there are no byte
/// enables; only a deferrable write has up to 128 bytes and may have byte enables. An access of
/// another BAR is an Unsupported Request.
///
/// b_transport is called in an SC_THREAD and may wait. Accesses come one after the other, in the
/// order in which they have arrived: the next one begins when b_transport has returned and the
/// delay that it has annotated has passed. At that time a read is answered, and a write is
/// accepted; until then nothing passes that write (models/pcie/endpoint/access.h).
/// TLM_ADDRESS_ERROR_RESPONSE is an Unsupported Request, each other error and
/// TLM_INCOMPLETE_RESPONSE a Completer Abort.
///
/// A hint that DMI is possible is ignored, since an access over PCIe takes time, and the debug
/// transport is not used.
template <unsigned BUSWIDTH = 32>
class TargetAdapter : public TargetAdapterBase {
 public:
  tlm_utils::simple_initiator_socket<TargetAdapter, BUSWIDTH> socket;

  /// `bar` is the number of the BAR, 0 to 5; the lower one of a 64-bit BAR. A function can have one
  /// adapter.
  TargetAdapter(const sc_core::sc_module_name& name, pcie::Function& function, vp::Domain& domain,
                unsigned bar = 0)
      : TargetAdapterBase(name, function, bar, domain), socket("socket") {}

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    socket->b_transport(payload, delay);
  }
};

}  // namespace device
