// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/sr_iov.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned control = 0x08;
constexpr unsigned num_vfs = 0x10;
constexpr unsigned first_vf_offset = 0x14;
constexpr unsigned system_page_size = 0x20;
constexpr unsigned vf_bar = 0x24;

constexpr std::uint32_t vf_enable = 1u << 0;
constexpr std::uint32_t vf_memory_space = 1u << 3;
constexpr std::uint32_t ari_capable = 1u << 4;
constexpr std::uint32_t ten_bit_tag_requester = 1u << 5;
constexpr std::uint32_t ten_bit_tags_supported = 1u << 2;  // of the capabilities

// 9.3.3.12: 4, 8, 64 and 256 KiB, 1 and 4 MiB.
constexpr std::uint32_t page_sizes = 0x553;

}  // namespace

SrIov::SrIov(ConfigSpace& space, const SrIovConfig& config, SrIov* lowest)
    : space_(space),
      offset_(space.add_extended_capability(0x0010, 1, 0x40)),
      bars_(space, offset_ + vf_bar, config.bars),
      first_offset_(config.first_offset),
      first_offset_without_ari_(config.first_offset_without_ari) {
  if (config.functions < 1 || config.functions > 0xffff) {
    throw ConfigurationError(
        fmt::format("{} virtual functions: 1 to 65535 are possible", config.functions));
  }
  const unsigned total = config.functions;
  space.define({offset_ + 0x04, 4, config.ten_bit_tags ? ten_bit_tags_supported : 0});
  space.define({offset_ + control, 2, 0,
                vf_enable | vf_memory_space | (lowest == nullptr ? ari_capable : 0) |
                    (config.ten_bit_tags ? ten_bit_tag_requester : 0)});
  space.define({offset_ + 0x0a, 2});
  space.define({offset_ + 0x0c, 2, total});
  space.define({offset_ + 0x0e, 2, total});
  space.define({offset_ + num_vfs, 2, 0, 0xffff});
  space.define({offset_ + 0x12, 1, config.number});
  space.define({offset_ + first_vf_offset, 2, first_offset_without_ari_});
  space.define({offset_ + 0x16, 2, 1});
  space.define({offset_ + 0x1a, 2, config.device});
  space.define({offset_ + 0x1c, 4, page_sizes});
  space.define({offset_ + system_page_size, 4, 1, ~0u});
  space.define({offset_ + 0x3c, 4});

  space.on_write(offset_ + control, 2, [this](std::uint32_t before) {
    const std::uint32_t after = space_.get(offset_ + control, 2);
    if (before & vf_enable) {
      space_.set(offset_ + control, 2, (after & ~ari_capable) | (before & ari_capable));
    } else if ((before ^ after) & ari_capable) {
      set_ari(after & ari_capable);
    }
  });
  space.on_write(offset_ + num_vfs, 2, [this, total](std::uint32_t before) {
    if (enabled() || space_.get(offset_ + num_vfs, 2) > total) {
      space_.set(offset_ + num_vfs, 2, before);
    }
  });
  space.on_write(offset_ + system_page_size, 4, [this](std::uint32_t before) {
    const std::uint32_t size = space_.get(offset_ + system_page_size, 4);
    const bool possible = (size & page_sizes) == size && size != 0 && (size & (size - 1)) == 0;
    if (enabled() || !possible) space_.set(offset_ + system_page_size, 4, before);
    align();
  });
  space.on_write(offset_ + vf_bar, 24, [this](std::uint32_t) { align(); });
  if (lowest != nullptr) lowest->others_.push_back(this);
}

unsigned SrIov::index_of(Id physical, Id id) const {
  const unsigned distance = static_cast<Id>(id - physical);
  const unsigned found = distance - first_offset();
  return distance >= first_offset() ? std::min(found, count()) : count();
}

unsigned SrIov::index_at(std::uint64_t address) const {
  if (!memory_enabled()) return count();
  for (const BarConfig& bar : bars_.bars()) {
    const std::uint64_t index = (address - bars_.address(bar)) / aperture(bar);
    if (index < count()) return static_cast<unsigned>(index);
  }
  return count();
}

std::uint64_t SrIov::aperture(const BarConfig& bar) const {
  return std::max(bar.size, std::uint64_t{space_.get(offset_ + system_page_size, 4)} << 12);
}

void SrIov::align() {
  for (const BarConfig& bar : bars_.bars()) bars_.align(bar, aperture(bar));
}

void SrIov::set_ari(bool ari) {
  space_.set(offset_ + first_vf_offset, 2, ari ? first_offset_ : first_offset_without_ari_);
  for (SrIov* other : others_) other->set_ari(ari);
}

}  // namespace pcie
