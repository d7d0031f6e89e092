// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/header.h"

#include <fmt/format.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr std::uint32_t all_commands =
    Header::CommandBit::memory_space | Header::CommandBit::bus_master |
    Header::CommandBit::parity_error_response | Header::CommandBit::serr_enable |
    Header::CommandBit::interrupt_disable;

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
    throw ConfigurationError(
        fmt::format("class code {:#x} has more than 24 bits", identity.class_code));
  }
  if (pin > 4) throw ConfigurationError(fmt::format("interrupt pin {} is not 0 to 4", pin));
  space.define({vendor_id, 2, identity.vendor});
  space.define({device_id, 2, identity.device});
  space.define({command, 2, 0, writable.command});
  space.define({status, 2, space.get(status, 2), 0, StatusBit::errors});
  space.define({revision_id, 1, identity.revision});
  space.define({class_code, 1, identity.class_code & 0xff});
  space.define({class_code + 1, 2, identity.class_code >> 8});
  space.define({cache_line_size, 1, 0, writable.lines ? 0xffu : 0});
  space.define({header_type, 1, type | (multi_function ? HeaderRegisters::multi_function : 0)});
  space.define({interrupt_line, 1, 0, writable.lines ? 0xffu : 0});
  space.define({interrupt_pin, 1, pin});
}

void Header::set_interrupt_status(bool pending) {
  space_.change(status, 2, StatusBit::interrupt, pending ? StatusBit::interrupt : 0);
}

Type0Header::Type0Header(ConfigSpace& space, const Identity& identity, bool multi_function,
                         unsigned pin, const std::vector<BarConfig>& bars)
    : EndpointHeader(space, identity, 0, multi_function, pin), bars_(space, bar(0), bars) {
  space.define({subsystem_vendor_id, 2, identity.subsystem_vendor});
  space.define({subsystem_id, 2, identity.subsystem});
}

VirtualHeader::VirtualHeader(ConfigSpace& space, const Identity& identity, const SrIov& sr_iov,
                             unsigned index)
    : EndpointHeader(space, virtual_identity(identity), 0, false, 0,
                     {CommandBit::bus_master, false}),
      sr_iov_(sr_iov),
      index_(index) {
  space.define({Type0Registers::subsystem_vendor_id, 2, identity.subsystem_vendor});
  space.define({Type0Registers::subsystem_id, 2, identity.subsystem});
}

Type1Header::Type1Header(ConfigSpace& space, const Identity& identity, unsigned pin)
    : Header(space, identity, 1, false, pin) {
  space.define({primary_bus_number, 1, 0, 0xff});
  space.define({secondary_bus_number, 1, 0, 0xff});
  space.define({subordinate_bus_number, 1, 0, 0xff});
  space.define({secondary_status, 2, 0, 0, StatusBit::errors});
  space.define({memory_base, 2, 0, window_address});
  space.define({memory_limit, 2, 0, window_address});
  space.define({prefetchable_memory_base, 2, window_is_64bit, window_address});
  space.define({prefetchable_memory_limit, 2, window_is_64bit, window_address});
  space.define({prefetchable_base_upper, 4, 0, ~0u});
  space.define({prefetchable_limit_upper, 4, 0, ~0u});
  space.define({bridge_control, 2, 0,
                BridgeControlBit::parity_error_response | BridgeControlBit::serr_enable |
                    BridgeControlBit::secondary_bus_reset});
}

bool Type1Header::claims(std::uint64_t address) const {
  if (!memory_enabled()) return false;
  const auto low = [this](unsigned offset) {
    return std::uint64_t{space_.get(offset, 2) & window_address} << 16;
  };
  const auto high = [this](unsigned offset) { return std::uint64_t{space_.get(offset, 4)} << 32; };
  constexpr std::uint64_t last = 0xfffff;  // a limit includes its last 1 MiB
  if (low(memory_base) <= address && address <= (low(memory_limit) | last)) return true;
  const std::uint64_t base = high(prefetchable_base_upper) | low(prefetchable_memory_base);
  const std::uint64_t limit = high(prefetchable_limit_upper) | low(prefetchable_memory_limit);
  return base <= address && address <= (limit | last);
}

}  // namespace pcie
