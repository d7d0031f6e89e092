// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/msi.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

unsigned capability_bytes(const MsiConfig& config) {
  if (config.maskable) return 0x18;
  return config.extended_data ? 0x10 : 0xe;
}

// The number of vectors as an exponent of two, rounded up.
unsigned asked_for(unsigned vectors) {
  unsigned power = 0;
  while (1u << power < vectors) ++power;
  return power;
}

}  // namespace

Msi::Msi(ConfigSpace& space, const MsiConfig& config, Send send)
    : space_(space),
      config_(config),
      send_(std::move(send)),
      offset_(space.add_capability(id, capability_bytes(config))) {
  if (config.vectors < 1 || config.vectors > 32) {
    throw ConfigurationError(fmt::format("{} MSI vectors are not 1 to 32", config.vectors));
  }
  const std::uint32_t able = asked_for(config.vectors) << ControlBit::capable_shift |
                             ControlBit::is_64bit | (config.maskable ? ControlBit::maskable : 0) |
                             (config.extended_data ? ControlBit::extended_data_capable : 0);
  const std::uint32_t extended = config.extended_data ? ControlBit::extended_data_enable : 0;
  space.define({offset_ + message_control, 2, able,
                ControlBit::enable | ControlBit::multiple_enable | extended});
  space.define({offset_ + message_address, 4, 0, ~3u});
  space.define({offset_ + message_upper_address, 4, 0, ~0u});
  space.define({offset_ + message_data, 2, 0, 0xffff});
  if (config.extended_data) space.define({offset_ + extended_message_data, 2, 0, 0xffff});
  if (config.maskable) {
    // 7.7.1.7: there are as many bits as the function has requested vectors.
    const std::uint32_t bits = ~0u >> (32 - (1u << asked_for(config.vectors)));
    space.define({offset_ + mask_bits, 4, 0, bits});
    space.define({offset_ + pending_bits, 4});
  }
}

unsigned Msi::granted() const {
  const std::uint32_t control = space_.get(offset_ + message_control, 2);
  const unsigned power = (control & ControlBit::multiple_enable) >> ControlBit::enable_shift;
  return 1u << std::min(power, asked_for(config_.vectors));
}

std::uint32_t Msi::data() const {
  const std::uint32_t low = space_.get(offset_ + message_data, 2);
  const bool extended = space_.any(offset_ + message_control, ControlBit::extended_data_enable);
  return extended ? low | space_.get(offset_ + extended_message_data, 2) << 16 : low;
}

void Msi::reset() {
  set_pending(0);
}

bool Msi::signal(unsigned vector) {
  if (!enabled() || vector >= config_.vectors || vector >= granted()) return false;
  if (!try_send(vector)) set_pending(pending_ | 1u << vector);
  return true;
}

void Msi::flush() {
  if (pending_ == 0 || !enabled()) return;
  for (unsigned vector = 0; vector < granted(); ++vector) {
    const std::uint32_t bit = 1u << vector;
    if ((pending_ & bit) && try_send(vector)) set_pending(pending_ & ~bit);
  }
}

bool Msi::masked(unsigned vector) const {
  return config_.maskable && space_.any(offset_ + mask_bits, 1u << vector);
}

// 6.1.4.4: the vector replaces as many low bits of the data as the granted number needs.
bool Msi::try_send(unsigned vector) {
  return !masked(vector) && send_(address(), (data() & ~(granted() - 1)) | vector);
}

void Msi::set_pending(std::uint32_t pending) {
  pending_ = pending;
  if (config_.maskable) space_.set(offset_ + pending_bits, 4, pending);
}

}  // namespace pcie
