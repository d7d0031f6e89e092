// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/pcie/config_space.h"

namespace pcie {

/// Access Control Services of a root port (PCIe 5.0, 7.7.8 and 6.12).
///
///     +0 id 0x000d, version 1
///     +4 capability, and +6 control: source validation 0, translation blocking 1, redirection of
///        peers' requests 2 and completions 3, upstream forwarding 4
///
/// Source validation acts. The others ask for what is so in any case: there are no translated
/// requests, and the root complex takes none from one device to another, whatever their way.
class AccessControl {
 public:
  explicit AccessControl(ConfigSpace& space)
      : space_(space), offset_(space.add_extended_capability(0x000d, 1, 8)) {
    space.define({offset_ + 4, 2, services});
    space.define({offset_ + 6, 2, 0, services});
  }
  AccessControl(const AccessControl&) = delete;

  unsigned offset() const { return offset_; }
  /// A request whose requester is not on a bus behind the port is an ACS violation.
  bool validates_sources() const { return space_.test(offset_ + 6, 0); }

 private:
  static constexpr std::uint32_t services = 0x1f;

  ConfigSpace& space_;
  unsigned offset_;
};

}  // namespace pcie
