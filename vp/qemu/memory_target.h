// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

namespace vp::qemu {

class Instance;

/// The physical memory of an embedded machine, as what stands outside its processors reaches it:
/// RAM, and the addresses at which writes are interrupts. An access takes no time. With a delay it
/// first waits until the time that the delay names, which only a thread can do. An address without
/// memory ends as TLM_ADDRESS_ERROR_RESPONSE.
class MemoryTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<MemoryTarget> socket;

  MemoryTarget(const sc_core::sc_module_name& name, Instance& instance);

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  void catch_up(sc_core::sc_time& delay);
  bool access(tlm::tlm_generic_payload& payload);

  Instance& instance_;
};

}  // namespace vp::qemu
