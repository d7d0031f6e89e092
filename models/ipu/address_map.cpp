// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/address_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace ipu {
namespace {

std::uint64_t last(const AddressMap::Region& region) {
  return region.base + (region.size - 1);
}

}  // namespace

void AddressMap::add(std::uint64_t base, std::uint64_t size, unsigned port) {
  const Region region{base, size, port};
  if (size == 0) throw MapMistake(fmt::format("region at {:#x} is empty", base));
  if (last(region) < base) {
    throw MapMistake(fmt::format("region at {:#x} of {:#x} bytes runs past the end", base, size));
  }
  const auto next = std::lower_bound(
      regions_.begin(), regions_.end(), base,
      [](const Region& other, std::uint64_t address) { return last(other) < address; });
  if (next != regions_.end() && next->base <= last(region)) {
    throw MapMistake(fmt::format("region {:#x} to {:#x} overlaps {:#x} to {:#x}", base,
                                 last(region), next->base, last(*next)));
  }
  regions_.insert(next, region);
}

const AddressMap::Region* AddressMap::find(std::uint64_t address, std::uint64_t length) const {
  const auto after = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](std::uint64_t wanted, const Region& region) { return wanted < region.base; });
  if (after == regions_.begin()) return nullptr;
  const Region& region = *std::prev(after);
  const std::uint64_t offset = address - region.base;
  if (offset >= region.size || std::max<std::uint64_t>(length, 1) > region.size - offset) {
    return nullptr;
  }
  return &region;
}

}  // namespace ipu
