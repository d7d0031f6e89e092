// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/header.h"

#include <fmt/format.h>

#include "models/pcie/errors.h"

namespace pcie {

Header::Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
               unsigned pin)
    : space_(space) {
  if (identity.class_code > 0xffffff) {
    throw ConfigurationError(fmt::format("class code {:#x} has 24 bits", identity.class_code));
  }
  if (pin > 4) throw ConfigurationError(fmt::format("interrupt pin {}: 0 to 4", pin));
  space.define({vendor, 2, identity.vendor});
  space.define({device, 2, identity.device});
  space.define({command, 2, 0,
                1u << memory_space | 1u << bus_master | 1u << parity_error_response |
                    1u << serr_enable | 1u << interrupt_disable});
  // Master data parity, signalled and received target and master abort, system and parity error.
  space.define({status, 2, space.get(status, 2), 0, 0xf900});
  space.define({revision, 1, identity.revision});
  space.define({class_code, 1, identity.class_code & 0xff});
  space.define({class_code + 1, 2, identity.class_code >> 8});
  space.define({cache_line_size, 1, 0, 0xff});
  space.define({header_type, 1, type | (multi_function ? 0x80u : 0)});
  space.define({interrupt_line, 1, 0, 0xff});
  space.define({interrupt_pin, 1, pin});
}

void Header::set_interrupt_status(bool pending) {
  const std::uint32_t others = space_.get(status, 2) & ~interrupt_status;
  space_.set(status, 2, others | (pending ? interrupt_status : 0));
}

Type0Header::Type0Header(ConfigSpace& space, const Identity& identity, bool multi_function,
                         unsigned pin, const std::vector<BarConfig>& bars)
    : Header(space, identity, 0, multi_function, pin), bars_(bars) {
  space.define({0x2c, 2, identity.subsystem_vendor});
  space.define({0x2e, 2, identity.subsystem});
  for (const BarConfig& bar : bars_) {
    const unsigned last = bar.is_64bit ? 4 : 5;
    const bool power_of_two = (bar.size & (bar.size - 1)) == 0;
    const std::uint64_t largest = bar.is_64bit ? std::uint64_t{1} << 62 : std::uint64_t{1} << 31;
    if (bar.index > last || !power_of_two || bar.size < 128 || bar.size > largest) {
      throw ConfigurationError(fmt::format("BAR {} of {:#x} bytes", bar.index, bar.size));
    }
    const unsigned offset = 0x10 + 4 * bar.index;
    const std::uint64_t address_bits = ~(bar.size - 1);
    const std::uint32_t type = (bar.is_64bit ? 4u : 0u) | (bar.prefetchable ? 8u : 0u);
    space.define({offset, 4, type, static_cast<std::uint32_t>(address_bits)});
    if (bar.is_64bit) {
      space.define({offset + 4, 4, 0, static_cast<std::uint32_t>(address_bits >> 32)});
    }
  }
}

std::uint64_t Type0Header::bar_address(const BarConfig& bar) const {
  const unsigned offset = 0x10 + 4 * bar.index;
  const std::uint64_t low = space_.get(offset, 4) & ~0xfu;
  return bar.is_64bit ? low | std::uint64_t{space_.get(offset + 4, 4)} << 32 : low;
}

Type1Header::Type1Header(ConfigSpace& space, const Identity& identity, unsigned pin)
    : Header(space, identity, 1, false, pin) {
  space.define({0x18, 1, 0, 0xff});
  space.define({0x19, 1, 0, 0xff});
  space.define({0x1a, 1, 0, 0xff});
  space.define({0x1e, 2, 0, 0, 0xf900});
  space.define({0x20, 2, 0, 0xfff0});
  space.define({0x22, 2, 0, 0xfff0});
  space.define({0x24, 2, 1, 0xfff0});
  space.define({0x26, 2, 1, 0xfff0});
  space.define({0x28, 4, 0, ~0u});
  space.define({0x2c, 4, 0, ~0u});
  space.define({bridge_control, 2, 0, 0x0003 | 1u << secondary_bus_reset});
}

bool Type1Header::claims(std::uint64_t address) const {
  if (!memory_enabled()) return false;
  const std::uint64_t base = std::uint64_t{space_.get(0x20, 2) & 0xfff0} << 16;
  const std::uint64_t limit = std::uint64_t{space_.get(0x22, 2) & 0xfff0} << 16 | 0xfffff;
  if (base <= address && address <= limit) return true;
  const std::uint64_t pref_base =
      std::uint64_t{space_.get(0x28, 4)} << 32 | std::uint64_t{space_.get(0x24, 2) & 0xfff0} << 16;
  const std::uint64_t pref_limit = std::uint64_t{space_.get(0x2c, 4)} << 32 |
                                   std::uint64_t{space_.get(0x26, 2) & 0xfff0} << 16 | 0xfffff;
  return pref_base <= address && address <= pref_limit;
}

}  // namespace pcie
