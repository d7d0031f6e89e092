// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// Access Control Services of a port above a link (PCIe 5.0, 7.7.8 and 6.12): which requests of the
/// devices below it the port lets in, and which way they go to their peers.
///
///     +0 id 0x000d, version 1
///     +4 capability: a bit for each service, and in 15:8 how many bits the vector has
///     +6 control: the same bits enable them; all are off at first
///     +8 egress control vector, with egress control: a bit for each port, by its number
///
///     0 source validation     refuses requesters that are not on a bus behind the port
///     1 translation blocking  refuses requests with a translated address, or for one
///     2 request redirect      sends requests for peers up, for the root complex to decide about
///     3 completion redirect   sends completions for peers up, but for those with RO
///     4 upstream forwarding   sends up what is for the port itself
///     5 egress control        applies the vector: its ports are out of bounds
///     6 direct translated     lets requests with a translated address go straight
class AccessControl {
 public:
  /// Where a packet goes that a port beside this one, or this one, claims.
  enum class Route : std::uint8_t {
    straight,   ///< to the port
    upstream,   ///< to the root complex
    violation,  ///< nowhere, an ACS violation
    none,       ///< nowhere: a port does not send back what it receives
  };

  /// Of port `number`. Ports of a switch, or of a root complex in which peers reach each other, are
  /// numbered from 1 to `ports`, at most 31, and have all services; with 0 there are no peers, and
  /// neither egress control nor translated requests for them.
  AccessControl(ConfigSpace& space, unsigned number, unsigned ports);
  AccessControl(const AccessControl&) = delete;

  unsigned offset() const { return offset_; }
  bool validates_sources() const { return enabled(0); }
  bool blocks_translated() const { return enabled(1); }
  /// The way of a request or completion for port `number` (6.12.3, table 6-10).
  Route route_to(unsigned number, const TlpHeader& header) const;

 private:
  static constexpr unsigned control = 6;
  static constexpr unsigned egress_vector = 8;

  bool enabled(unsigned service) const { return space_.test(offset_ + control, service); }
  bool out_of_bounds(unsigned number) const {
    return ports_ != 0 && space_.test(offset_ + egress_vector, number);
  }

  ConfigSpace& space_;
  const unsigned number_;
  const unsigned ports_;
  const unsigned offset_;
};

}  // namespace pcie
