// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// The sides of a bridge: the primary side is towards the host, and the secondary side away from
/// it. A function of an endpoint has a primary side only.
enum class Side : std::uint8_t { primary, secondary };

/// The errors of PCI Express as software for conventional PCI sees them: in Status, which belongs
/// to the primary side, and in Secondary Status of a bridge (PCIe 5.0, 6.2.7.1, 6.2.8.1, 7.5.1.1.4,
/// 7.5.1.3.7).
class ConventionalStatus {
 public:
  /// `commands` is the space whose Command applies. A virtual function passes that of its physical
  /// function.
  ConventionalStatus(ConfigSpace& space, const ConfigSpace& commands)
      : space_(space), commands_(commands) {}
  ConventionalStatus(const ConventionalStatus&) = delete;

  /// That side has received a packet, which may belong to others.
  void received(Side side, const Tlp& tlp);
  /// That side has received a completion of a request that the function itself has made.
  void completed(Side side, Status status);
  /// That side sends a packet.
  void sent(Side side, const Tlp& tlp);
  /// That side has received a poisoned packet.
  void detected_parity_error(Side side);
  /// The function ends a request that came from that side as a Completer Abort.
  void signaled_target_abort(Side side);
  /// The function sends ERR_NONFATAL or ERR_FATAL while SERR# Enable is set.
  void signaled_system_error();

 private:
  void set(Side side, std::uint32_t bits);
  /// Whether Parity Error Response permits Master Data Parity Error.
  bool responds_to_parity_errors(Side side) const;

  ConfigSpace& space_;
  const ConfigSpace& commands_;
};

}  // namespace pcie
