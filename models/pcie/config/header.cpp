// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/header.h"

#include <fmt/format.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr std::uint32_t all_commands = 1u << Header::memory_space | 1u << Header::bus_master |
                                       1u << Header::parity_error_response |
                                       1u << Header::serr_enable | 1u << Header::interrupt_disable;

Identity virtual_identity(Identity physical) {
  physical.vendor = 0xffff;
  physical.device = 0xffff;
  return physical;
}

}  // namespace

Header::Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
               unsigned pin)
    : Header(space, identity, type, multi_function, pin, {all_commands, true}) {}

Header::Header(ConfigSpace& space, const Identity& identity, std::uint8_t type, bool multi_function,
               unsigned pin, const Writable& writable)
    : space_(space) {
  if (identity.class_code > 0xffffff) {
    throw ConfigurationError(fmt::format("class code {:#x} has 24 bits", identity.class_code));
  }
  if (pin > 4) throw ConfigurationError(fmt::format("interrupt pin {}: 0 to 4", pin));
  space.define({vendor, 2, identity.vendor});
  space.define({device, 2, identity.device});
  space.define({command, 2, 0, writable.command});
  // Master data parity, signalled and received target and master abort, system and parity error.
  space.define({status, 2, space.get(status, 2), 0, 0xf900});
  space.define({revision, 1, identity.revision});
  space.define({class_code, 1, identity.class_code & 0xff});
  space.define({class_code + 1, 2, identity.class_code >> 8});
  space.define({cache_line_size, 1, 0, writable.lines ? 0xffu : 0});
  space.define({header_type, 1, type | (multi_function ? 0x80u : 0)});
  space.define({interrupt_line, 1, 0, writable.lines ? 0xffu : 0});
  space.define({interrupt_pin, 1, pin});
}

void Header::set_interrupt_status(bool pending) {
  const std::uint32_t others = space_.get(status, 2) & ~interrupt_status;
  space_.set(status, 2, others | (pending ? interrupt_status : 0));
}

Type0Header::Type0Header(ConfigSpace& space, const Identity& identity, bool multi_function,
                         unsigned pin, const std::vector<BarConfig>& bars)
    : EndpointHeader(space, identity, 0, multi_function, pin), bars_(space, 0x10, bars) {
  space.define({0x2c, 2, identity.subsystem_vendor});
  space.define({0x2e, 2, identity.subsystem});
}

VirtualHeader::VirtualHeader(ConfigSpace& space, const Identity& identity, const SrIov& sr_iov,
                             unsigned index)
    : EndpointHeader(space, virtual_identity(identity), 0, false, 0, {1u << bus_master, false}),
      sr_iov_(sr_iov),
      index_(index) {
  space.define({0x2c, 2, identity.subsystem_vendor});
  space.define({0x2e, 2, identity.subsystem});
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
