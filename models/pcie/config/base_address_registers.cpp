// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/base_address_registers.h"

#include <fmt/format.h>

#include "models/pcie/config/header_registers.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {

BaseAddressRegisters::BaseAddressRegisters(ConfigSpace& space, unsigned offset,
                                           const std::vector<BarConfig>& bars)
    : space_(space), offset_(offset), bars_(bars) {
  for (const BarConfig& bar : bars_) {
    const unsigned last = bar.is_64bit ? 4 : 5;
    const bool power_of_two = (bar.size & (bar.size - 1)) == 0;
    const std::uint64_t largest = bar.is_64bit ? std::uint64_t{1} << 62 : std::uint64_t{1} << 31;
    if (bar.index > last || !power_of_two || bar.size < 128 || bar.size > largest) {
      throw ConfigurationError(
          fmt::format("BAR {} of {:#x} bytes is impossible", bar.index, bar.size));
    }
    const unsigned at = offset + 4 * bar.index;
    const std::uint64_t address_bits = ~(bar.size - 1);
    const std::uint32_t type =
        (bar.is_64bit ? BarBit::is_64bit : 0) | (bar.prefetchable ? BarBit::prefetchable : 0);
    space.define({at, 4, type, static_cast<std::uint32_t>(address_bits)});
    if (bar.is_64bit) {
      space.define({at + 4, 4, 0, static_cast<std::uint32_t>(address_bits >> 32)});
    }
  }
}

std::uint64_t BaseAddressRegisters::address(const BarConfig& bar) const {
  const unsigned at = offset_ + 4 * bar.index;
  const std::uint64_t low = space_.get(at, 4) & ~BarBit::flags;
  return bar.is_64bit ? low | std::uint64_t{space_.get(at + 4, 4)} << 32 : low;
}

void BaseAddressRegisters::align(const BarConfig& bar, std::uint64_t alignment) {
  const unsigned at = offset_ + 4 * bar.index;
  const std::uint64_t cleared = (alignment - 1) & ~std::uint64_t{BarBit::flags};
  space_.set(at, 4, space_.get(at, 4) & ~static_cast<std::uint32_t>(cleared));
  if (bar.is_64bit) {
    space_.set(at + 4, 4, space_.get(at + 4, 4) & ~static_cast<std::uint32_t>(cleared >> 32));
  }
}

}  // namespace pcie
