// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/bar_router.h"

#include <fmt/format.h>

#include <algorithm>

namespace ipu {

BarRouter::BarRouter(const sc_core::sc_module_name& name)
    : sc_module(name), bar("bar"), out_("out") {
  bar.register_nb_transport_fw(this, &BarRouter::nb_transport_fw);
  out_.register_nb_transport_bw(this, &BarRouter::nb_transport_bw);
}

void BarRouter::connect(unsigned number, std::uint64_t offset, std::uint64_t size,
                        tlm::tlm_base_target_socket_b<>& target) {
  if (number >= bars) throw MapMistake(fmt::format("there is no BAR {}, only 0 to 5", number));
  const auto known = std::find(targets_.begin(), targets_.end(), &target);
  maps_[number].add(offset, size, static_cast<unsigned>(known - targets_.begin()));
  if (known == targets_.end()) {
    targets_.push_back(&target);
    out_.bind(target);
  }
}

tlm::tlm_sync_enum BarRouter::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const auto* access = payload.get_extension<pcie::Access>();
  if (!access) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  const std::uint64_t address = payload.get_address();
  const AddressMap::Region* region =
      access->bar < bars ? maps_[access->bar].find(address, payload.get_data_length()) : nullptr;
  if (!region) {
    ++unmapped_;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  // The target may answer within the call, so everything is recorded before.
  outstanding_.push_back({&payload, address});
  payload.set_address(address - region->base);
  const tlm::tlm_sync_enum sync =
      out_[static_cast<int>(region->port)]->nb_transport_fw(payload, phase, delay);
  if (sync == tlm::TLM_COMPLETED) complete(payload);
  return sync;
}

tlm::tlm_sync_enum BarRouter::nb_transport_bw(int, tlm::tlm_generic_payload& payload,
                                              tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  complete(payload);
  return bar->nb_transport_bw(payload, phase, delay);
}

void BarRouter::complete(tlm::tlm_generic_payload& payload) {
  const auto it = std::find_if(outstanding_.begin(), outstanding_.end(),
                               [&](const Outstanding& entry) { return entry.payload == &payload; });
  if (it == outstanding_.end()) return;
  payload.set_address(it->address);
  *it = outstanding_.back();
  outstanding_.pop_back();
}

}  // namespace ipu
