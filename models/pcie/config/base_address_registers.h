// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/pcie/config/config_space.h"

namespace pcie {

struct BarConfig {
  unsigned index = 0;         ///< 0 to 5; a 64-bit BAR also occupies the next index
  std::uint64_t size = 0;     ///< bytes, a power of two of at least 128; at most 2 GiB if 32-bit
  bool is_64bit = false;      ///< whether addresses above 4 GiB are possible
  bool prefetchable = false;  ///< whether the range is prefetchable

  static constexpr BarConfig memory_32(unsigned index, std::uint64_t size) { return {index, size}; }
  static constexpr BarConfig memory_64(unsigned index, std::uint64_t size) {
    BarConfig bar = memory_32(index, size);
    bar.is_64bit = true;
    return bar;
  }
  static constexpr BarConfig prefetchable_64(unsigned index, std::uint64_t size) {
    BarConfig bar = memory_64(index, size);
    bar.prefetchable = true;
    return bar;
  }
};

/// Six base address registers, either those of a type 0 header (PCIe 5.0, 7.5.1.2.1) or those of an
/// SR-IOV capability for virtual functions (9.3.3.14).
class BaseAddressRegisters {
 public:
  /// BAR 0 is at `offset`. Throws ConfigurationError if a BAR is impossible or if two BARs overlap.
  BaseAddressRegisters(ConfigSpace& space, unsigned offset, const std::vector<BarConfig>& bars);
  BaseAddressRegisters(const BaseAddressRegisters&) = delete;

  const std::vector<BarConfig>& bars() const { return bars_; }
  /// The address to which software has set a BAR.
  std::uint64_t address(const BarConfig& bar) const;
  /// Clears the address bits of a BAR below `alignment`, a power of two of at least its size.
  void align(const BarConfig& bar, std::uint64_t alignment);

 private:
  ConfigSpace& space_;
  unsigned offset_;
  std::vector<BarConfig> bars_;
};

}  // namespace pcie
