// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/ipu/address_map.h"
#include "vp/time/time.h"

namespace ipu {

/// The IPU's network on chip. Passes blocking transactions of any number of initiators to the
/// target that the address map names. The target sees an address relative to its region.
///
///     noc.connect(OAE_IPU_CONSOLE_BASE, OAE_IPU_CONSOLE_SIZE, console.socket);
///     noc.connect(OAE_IPU_DRAM_BASE, 128 * MiB, dram.socket);
///     core.socket.bind(noc.in);
///
/// A transaction takes `hop` on its way to the target and again on its way back, added to its
/// delay annotation (0 ps or more). A transaction that does not lie completely in a region ends
/// with TLM_ADDRESS_ERROR_RESPONSE. The target judges a malformed payload.
class Noc : public sc_core::sc_module {
 public:
  /// The initiators bind here; there may be several.
  tlm_utils::multi_passthrough_target_socket<Noc> in;

  enum class Timing { exact, decoupled };
  /// A target that is `beside_cores`, such as a cache, is reached without a hop.
  enum class Place { on_network, beside_cores };

  Noc(const sc_core::sc_module_name& name, vp::Picoseconds hop);

  /// Adds a region to the address map; a target may have several. Accesses that are ahead of the
  /// kernel's time (vp::Decoupled) reach only targets that are connected as `decoupled`. For other
  /// targets the kernel's time catches up first. Throws MapMistake.
  void connect(std::uint64_t base, std::uint64_t size, tlm::tlm_base_target_socket_b<>& target,
               Timing timing = Timing::exact, Place place = Place::on_network);

  const std::uint64_t& transactions() const { return transactions_; }
  /// Transactions that hit no region.
  const std::uint64_t& unmapped() const { return unmapped_; }

 private:
  void b_transport(int initiator, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned transport_dbg(int initiator, tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(int initiator, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(int port, sc_dt::uint64 start, sc_dt::uint64 end);

  tlm_utils::multi_passthrough_initiator_socket<Noc> out_;
  struct Target {
    const void* socket;
    Timing timing;
    sc_core::sc_time hop;
  };
  std::vector<Target> targets_;  // indexed by port of out_
  std::vector<AddressMap::Region> connections_;
  AddressMap map_;
  const sc_core::sc_time hop_;
  std::uint64_t transactions_ = 0;
  std::uint64_t unmapped_ = 0;
};

}  // namespace ipu
