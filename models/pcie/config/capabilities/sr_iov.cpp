// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/sr_iov.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

// 9.3.3.12: page sizes of 4, 8, 64 and 256 KiB, 1 and 4 MiB.
constexpr std::uint32_t page_sizes = 0x553;

}  // namespace

SrIov::SrIov(ConfigSpace& space, const SrIovConfig& config, SrIov* lowest)
    : space_(space),
      offset_(space.add_extended_capability(id, 1, 0x40)),
      bars_(space, offset_ + vf_bar, config.bars),
      first_offset_(config.first_offset),
      first_offset_without_ari_(config.first_offset_without_ari) {
  if (config.functions < 1 || config.functions > 0xffff) {
    throw ConfigurationError(
        fmt::format("{} virtual functions are not 1 to 65535", config.functions));
  }
  const unsigned total = config.functions;
  space.define({offset_ + capabilities, 4,
                (lowest == nullptr ? ari_preserved : 0) |
                    (config.ten_bit_tags ? ten_bit_tags_supported : 0)});
  space.define({offset_ + control, 2, 0,
                ControlBit::vf_enable | ControlBit::vf_memory_space |
                    (lowest == nullptr ? ControlBit::ari_capable : 0) |
                    (config.ten_bit_tags ? ControlBit::ten_bit_tag_requester : 0)});
  space.define({offset_ + status, 2});
  space.define({offset_ + initial_vfs, 2, total});
  space.define({offset_ + total_vfs, 2, total});
  space.define({offset_ + num_vfs, 2, 0, 0xffff});
  space.define({offset_ + function_dependency_link, 1, config.number});
  space.define({offset_ + first_vf_offset, 2, first_offset_without_ari_});
  space.define({offset_ + vf_stride, 2, 1});
  space.define({offset_ + vf_device_id, 2, config.device});
  space.define({offset_ + supported_page_sizes, 4, page_sizes});
  space.define({offset_ + system_page_size, 4, 1, ~0u});
  space.define({offset_ + migration_state, 4});
  // 6.6.2: a reset of one function leaves the IDs of the others' virtual functions as they are.
  space.keep(Reset::function, offset_ + control, 2, ControlBit::ari_capable);
  space.keep(Reset::function, offset_ + first_vf_offset, 2, 0xffff);

  space.on_write(offset_ + control, 2, [this](std::uint32_t before) {
    constexpr std::uint32_t ari = ControlBit::ari_capable;
    const std::uint32_t after = space_.get(offset_ + control, 2);
    if (before & ControlBit::vf_enable) {
      space_.change(offset_ + control, 2, ari, before);
    } else if ((before ^ after) & ari) {
      set_ari(after & ari);
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
