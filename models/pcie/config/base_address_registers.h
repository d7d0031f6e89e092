// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/pcie/config/config_space.h"

namespace pcie {

struct BarConfig {
  unsigned index = 0;      ///< 0 to 5; a 64-bit BAR takes the next one too
  std::uint64_t size = 0;  ///< bytes, a power of two from 128; up to 2 GiB if 32-bit
  bool is_64bit = false;
  bool prefetchable = false;
};

/// Six base address registers: those of a type 0 header (PCIe 5.0, 7.5.1.2.1), or those that an
/// SR-IOV capability has for virtual functions (9.3.3.14).
class BaseAddressRegisters {
 public:
  /// BAR 0 is at `offset`. Throws ConfigurationError if a BAR is impossible or two overlap.
  BaseAddressRegisters(ConfigSpace& space, unsigned offset, const std::vector<BarConfig>& bars);
  BaseAddressRegisters(const BaseAddressRegisters&) = delete;

  const std::vector<BarConfig>& bars() const { return bars_; }
  /// The address that software has given to a BAR.
  std::uint64_t address(const BarConfig& bar) const;
  /// Clears the address bits of a BAR below `alignment`, a power of two from its size on.
  void align(const BarConfig& bar, std::uint64_t alignment);

 private:
  ConfigSpace& space_;
  unsigned offset_;
  std::vector<BarConfig> bars_;
};

}  // namespace pcie
