// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace pcie {

/// The PCI-compatible configuration mechanism of x86 hosts (PCI Local Bus 3.0, 3.2.2.3.2): a dword
/// at I/O port 0xcf8 names function and register, and accesses of ports 0xcfc to 0xcff go there.
///
///     CONFIG_ADDRESS  [31] enable  [23:16] bus  [15:11] device  [10:8] function  [7:2] register
class ConfigMechanism {
 public:
  static constexpr std::uint16_t io_base = 0xcf8;
  static constexpr unsigned io_size = 8;

  std::uint32_t address() const { return address_; }
  /// Only dwords change CONFIG_ADDRESS; others are for devices of their own at these ports.
  void set_address(std::uint64_t offset, unsigned size, std::uint32_t value) {
    if (offset == 0 && size == 4) address_ = value & 0x80ff'fffc;
  }
  /// Where in ECAM an access `offset` bytes after io_base goes, if it goes anywhere.
  std::optional<std::uint64_t> ecam_offset(std::uint64_t offset, unsigned size) const {
    if (offset < 4 || offset + size > io_size || (address_ >> 31) == 0) return std::nullopt;
    return ((address_ & 0x00ff'ff00ull) << 4) | (address_ & 0xfc) | (offset - 4);
  }

 private:
  std::uint32_t address_ = 0;
};

}  // namespace pcie
