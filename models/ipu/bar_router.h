// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/passthrough_target_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/ipu/address_map.h"
#include "models/pcie/endpoint/access.h"

namespace ipu {

/// Passes a function's BAR requests to the block at that BAR and offset. The block sees an address
/// relative to its region.
///
///     router.connect(0, 0x0000, 0x4000, oae.host);
///     router.connect(0, 0x4000, 0x1000, mailbox.host);
///     router.connect(2, 0x0000, 8 * 4 * KiB, oae.host);
///     function.bar.bind(router.bar);
///
/// Protocol on both sides: models/pcie/endpoint/access.h. A request that does not lie completely in
/// a region completes at once with TLM_ADDRESS_ERROR_RESPONSE. A request without a pcie::Access
/// completes with TLM_GENERIC_ERROR_RESPONSE. Passing takes no time.
class BarRouter : public sc_core::sc_module {
 public:
  tlm_utils::passthrough_target_socket<BarRouter> bar;

  explicit BarRouter(const sc_core::sc_module_name& name);

  /// Adds a region to the map: `size` bytes from `offset` on in BAR `number` (0 to 5; for a 64-bit
  /// BAR the lower number). A target may have several regions. Throws MapMistake.
  void connect(unsigned number, std::uint64_t offset, std::uint64_t size,
               tlm::tlm_base_target_socket_b<>& target);

  /// Requests that hit no region.
  const std::uint64_t& unmapped() const { return unmapped_; }

 private:
  static constexpr unsigned bars = 6;

  /// A request on its way. Its address in the BAR is restored when it completes.
  struct Outstanding {
    const tlm::tlm_generic_payload* payload;
    std::uint64_t address;
  };

  void complete(tlm::tlm_generic_payload& payload);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(int port, tlm::tlm_generic_payload& payload,
                                     tlm::tlm_phase& phase, sc_core::sc_time& delay);

  tlm_utils::multi_passthrough_initiator_socket<BarRouter> out_;
  std::vector<const void*> targets_;  // indexed by port of out_
  std::array<AddressMap, bars> maps_;
  std::vector<Outstanding> outstanding_;
  std::uint64_t unmapped_ = 0;
};

}  // namespace ipu
