// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/access_control.h"

namespace pcie {
namespace {

using Service = AccessControl::ServiceBit;

constexpr std::uint32_t services_without_peers =
    Service::source_validation | Service::translation_blocking | Service::request_redirect |
    Service::completion_redirect | Service::upstream_forwarding;
constexpr std::uint32_t services_with_peers =
    services_without_peers | Service::egress_control | Service::direct_translated;

}  // namespace

AccessControl::AccessControl(ConfigSpace& space, unsigned number, unsigned ports)
    : space_(space),
      number_(number),
      ports_(ports),
      offset_(space.add_extended_capability(id, 1, ports != 0 ? 12 : 8)) {
  const std::uint32_t services = ports != 0 ? services_with_peers : services_without_peers;
  const unsigned bits = ports + 1;  // bit 0 is the upstream port
  space.define({offset_ + capability, 2, services | (ports != 0 ? bits << vector_size_shift : 0)});
  space.define({offset_ + control, 2, 0, services});
  if (ports == 0) return;
  // 7.7.8.4: the port's own bit is 0, and so are the bits without a port.
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 2);
  space.define({offset_ + egress_control_vector, 4, 0, all & ~(1u << number)});
}

AccessControl::Route AccessControl::route_to(unsigned number, const TlpHeader& header) const {
  if (number == number_) {
    return enabled(Service::upstream_forwarding) ? Route::upstream : Route::none;
  }
  if (header.type == TlpType::Cpl || header.type == TlpType::CplD) {
    const bool redirected = enabled(Service::completion_redirect) && !header.relaxed_ordering;
    return redirected ? Route::upstream : Route::straight;
  }
  if (enabled(Service::direct_translated) && header.address_type == AddressType::translated) {
    return Route::straight;
  }
  if (enabled(Service::egress_control) && !out_of_bounds(number)) return Route::straight;
  if (enabled(Service::request_redirect)) return Route::upstream;
  return enabled(Service::egress_control) ? Route::violation : Route::straight;
}

}  // namespace pcie
