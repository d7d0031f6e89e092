// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/msi.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned control = 0x2, extended_data = 0xe, masks = 0x10, pending_bits = 0x14;
constexpr unsigned extended_data_enable = 10;

unsigned capability_bytes(const MsiConfig& config) {
  if (config.maskable) return 0x18;
  return config.extended_data ? 0x10 : 0xe;
}

// The power of two, as 3 bits, that holds all vectors.
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
      offset_(space.add_capability(0x05, capability_bytes(config))) {
  if (config.vectors < 1 || config.vectors > 32) {
    throw ConfigurationError(fmt::format("{} MSI vectors: 1 to 32", config.vectors));
  }
  const std::uint32_t able = asked_for(config.vectors) << 1 | 1u << 7 |
                             (config.maskable ? 1u << 8 : 0) | (config.extended_data ? 1u << 9 : 0);
  const std::uint32_t extended = config.extended_data ? 1u << extended_data_enable : 0;
  space.define({offset_ + control, 2, able, 1u << 0 | 7u << 4 | extended});
  space.define({offset_ + 0x4, 4, 0, ~3u});
  space.define({offset_ + 0x8, 4, 0, ~0u});
  space.define({offset_ + 0xc, 2, 0, 0xffff});
  if (config.extended_data) space.define({offset_ + extended_data, 2, 0, 0xffff});
  if (config.maskable) {
    // 7.7.1.7: as many bits as vectors were asked for.
    const std::uint32_t bits = ~0u >> (32 - (1u << asked_for(config.vectors)));
    space.define({offset_ + masks, 4, 0, bits});
    space.define({offset_ + pending_bits, 4});
  }
}

unsigned Msi::granted() const {
  const unsigned power = space_.get(offset_ + control, 2) >> 4 & 7;
  return 1u << std::min(power, asked_for(config_.vectors));
}

std::uint32_t Msi::data() const {
  const std::uint32_t low = space_.get(offset_ + 0xc, 2);
  const bool extended = space_.test(offset_ + control, extended_data_enable);
  return extended ? low | space_.get(offset_ + extended_data, 2) << 16 : low;
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
  return config_.maskable && (space_.get(offset_ + masks, 4) >> vector & 1);
}

// 6.1.4.4: the vector takes the place of as many low bits as vectors are granted.
bool Msi::try_send(unsigned vector) {
  return !masked(vector) && send_(address(), (data() & ~(granted() - 1)) | vector);
}

void Msi::set_pending(std::uint32_t pending) {
  pending_ = pending;
  if (config_.maskable) space_.set(offset_ + pending_bits, 4, pending);
}

}  // namespace pcie
