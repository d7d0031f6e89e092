// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/noc.h"

#include <algorithm>

#include "vp/time/decoupled.h"

namespace ipu {

Noc::Noc(const sc_core::sc_module_name& name, vp::Picoseconds hop)
    : sc_module(name), in("in"), out_("out"), hop_(vp::to_sc_time(hop)) {
  in.register_b_transport(this, &Noc::b_transport);
  in.register_transport_dbg(this, &Noc::transport_dbg);
  in.register_get_direct_mem_ptr(this, &Noc::get_direct_mem_ptr);
  out_.register_invalidate_direct_mem_ptr(this, &Noc::invalidate_direct_mem_ptr);
}

void Noc::connect(std::uint64_t base, std::uint64_t size, tlm::tlm_base_target_socket_b<>& target,
                  Timing timing, Place place) {
  const auto known = std::find_if(targets_.begin(), targets_.end(),
                                  [&](const Target& one) { return one.socket == &target; });
  const auto port = static_cast<unsigned>(known - targets_.begin());
  map_.add(base, size, port);
  connections_.push_back({base, size, port});
  if (known == targets_.end()) {
    targets_.push_back(
        {&target, timing, place == Place::on_network ? hop_ : sc_core::SC_ZERO_TIME});
    out_.bind(target);
  }
}

void Noc::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  ++transactions_;
  const std::uint64_t address = payload.get_address();
  if (const auto* region = map_.find(address, payload.get_data_length())) {
    const Target& target = targets_[region->port];
    if (target.timing == Timing::exact) vp::catch_up(payload, delay);
    delay += target.hop;
    payload.set_address(address - region->base);
    out_[static_cast<int>(region->port)]->b_transport(payload, delay);
    payload.set_address(address);
    vp::repeats_count(payload, transactions_);
    delay += target.hop;
  } else {
    delay += 2 * hop_;
    ++unmapped_;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

unsigned Noc::transport_dbg(int, tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  const auto* region = map_.find(address, payload.get_data_length());
  if (!region) return 0;
  payload.set_address(address - region->base);
  const unsigned bytes = out_[static_cast<int>(region->port)]->transport_dbg(payload);
  payload.set_address(address);
  return bytes;
}

bool Noc::get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = payload.get_address();
  const auto* region = map_.find(address, payload.get_data_length());
  if (!region) {
    dmi.allow_none();
    dmi.set_start_address(address);
    dmi.set_end_address(address);
    return false;
  }
  payload.set_address(address - region->base);
  const bool granted = out_[static_cast<int>(region->port)]->get_direct_mem_ptr(payload, dmi);
  payload.set_address(address);
  // Addresses beyond the region cannot be reached here, whatever the target grants.
  const std::uint64_t last = region->size - 1;
  dmi.set_start_address(region->base + std::min<std::uint64_t>(dmi.get_start_address(), last));
  dmi.set_end_address(region->base + std::min<std::uint64_t>(dmi.get_end_address(), last));
  const sc_core::sc_time hops = 2 * targets_[region->port].hop;
  dmi.set_read_latency(dmi.get_read_latency() + hops);
  dmi.set_write_latency(dmi.get_write_latency() + hops);
  return granted;
}

void Noc::invalidate_direct_mem_ptr(int port, sc_dt::uint64 start, sc_dt::uint64 end) {
  for (const AddressMap::Region& region : connections_) {
    if (region.port != static_cast<unsigned>(port) || start >= region.size) continue;
    const std::uint64_t last = std::min<std::uint64_t>(end, region.size - 1);
    for (unsigned i = 0; i < in.size(); ++i) {
      in[static_cast<int>(i)]->invalidate_direct_mem_ptr(region.base + start, region.base + last);
    }
  }
}

}  // namespace ipu
