// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// Access Control Services of a port above a link (PCIe 5.0, 7.7.8 and 6.12). They decide which
/// requests of the devices below the port may enter, and which route these take to their peers.
class AccessControl {
 public:
  static constexpr std::uint16_t id = 0x000d;  ///< version 1
  static constexpr unsigned capability = 4;    ///< a bit for each service, and the vector's size
  static constexpr unsigned control = 6;       ///< enables services; all are disabled after a reset
  static constexpr unsigned egress_control_vector = 8;  ///< a bit for each port, by its number
  static constexpr unsigned vector_size_shift = 8;      ///< position of the vector's size in bits

  /// The services, as bits of the capability and control registers.
  struct ServiceBit {
    /// Refuses requesters that are not on a bus behind the port.
    static constexpr std::uint32_t source_validation = 1u << 0;
    /// Refuses requests for, or with, a translated address.
    static constexpr std::uint32_t translation_blocking = 1u << 1;
    /// Sends requests for peers to the root complex, which decides about them.
    static constexpr std::uint32_t request_redirect = 1u << 2;
    /// Sends completions for peers to the root complex, except those with RO.
    static constexpr std::uint32_t completion_redirect = 1u << 3;
    /// Sends packets that are for the port itself upstream.
    static constexpr std::uint32_t upstream_forwarding = 1u << 4;
    /// Applies the vector, whose ports are out of bounds.
    static constexpr std::uint32_t egress_control = 1u << 5;
    /// Lets requests with a translated address reach peers directly.
    static constexpr std::uint32_t direct_translated = 1u << 6;
  };

  /// Where a packet goes that a peer of this port, or this port itself, claims.
  enum class Route : std::uint8_t {
    straight,   ///< to the port that claims it
    upstream,   ///< to the root complex
    violation,  ///< nowhere, since it is an ACS violation
    none,       ///< nowhere, since a port does not return what it has received
  };

  /// Makes the capability of port `number`. The ports of a switch, or of a root complex with
  /// peer-to-peer traffic, are numbered from 1 to `ports`, at most 31, and have all services.
  /// Without peers `ports` is 0, and there are neither egress control nor direct translated
  /// requests.
  AccessControl(ConfigSpace& space, unsigned number, unsigned ports);
  AccessControl(const AccessControl&) = delete;

  unsigned offset() const { return offset_; }
  bool validates_sources() const { return enabled(ServiceBit::source_validation); }
  bool blocks_translated() const { return enabled(ServiceBit::translation_blocking); }
  /// The route of a request or completion for port `number` (6.12.3, table 6-10).
  Route route_to(unsigned number, const TlpHeader& header) const;

 private:
  bool enabled(std::uint32_t service) const { return space_.any(offset_ + control, service); }
  bool out_of_bounds(unsigned number) const {
    return ports_ != 0 && space_.any(offset_ + egress_control_vector, 1u << number);
  }

  ConfigSpace& space_;
  const unsigned number_;
  const unsigned ports_;
  const unsigned offset_;
};

}  // namespace pcie
