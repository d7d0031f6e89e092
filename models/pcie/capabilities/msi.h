// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/config_space.h"

namespace pcie {

/// MSI capability of one vector, 64-bit addresses, no mask (PCIe 5.0, 7.7.1).
///
///     +0 id 0x05   +2 control: enable 0, vectors that software grants 6:4, 64-bit 7
///     +4 address   +8 upper address   +c data
class Msi {
 public:
  explicit Msi(ConfigSpace& space) : space_(space), offset_(space.add_capability(0x05, 14)) {
    space.define({offset_ + 0x2, 2, 1u << 7, 1u << 0 | 7u << 4});
    space.define({offset_ + 0x4, 4, 0, ~3u});
    space.define({offset_ + 0x8, 4, 0, ~0u});
    space.define({offset_ + 0xc, 2, 0, 0xffff});
  }
  Msi(const Msi&) = delete;

  unsigned offset() const { return offset_; }
  bool enabled() const { return space_.test(offset_ + 0x2, 0); }
  std::uint64_t address() const {
    return space_.get(offset_ + 0x4, 4) | std::uint64_t{space_.get(offset_ + 0x8, 4)} << 32;
  }
  std::uint32_t data() const { return space_.get(offset_ + 0xc, 2); }

 private:
  ConfigSpace& space_;
  unsigned offset_;
};

}  // namespace pcie
