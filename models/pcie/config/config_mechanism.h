// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace pcie {

/// The PCI-compatible configuration mechanism of x86 hosts (PCI Local Bus 3.0, 3.2.2.3.2). A dword
/// at I/O port 0xcf8 selects a function and a register, which ports 0xcfc to 0xcff then access.
///
///     CONFIG_ADDRESS  [31] enable  [23:16] bus  [15:11] device  [10:8] function  [7:2] register
class ConfigMechanism {
 public:
  static constexpr std::uint16_t io_base = 0xcf8;
  static constexpr unsigned io_size = 8;

  std::uint32_t address() const { return address_; }
  /// Only dword writes change CONFIG_ADDRESS. Other accesses belong to other devices at these
  /// ports.
  void set_address(std::uint64_t offset, unsigned size, std::uint32_t value) {
    if (offset == 0 && size == 4) address_ = value & 0x80ff'fffc;
  }
  /// The ECAM offset of an access `offset` bytes after io_base, or nothing if it selects none.
  std::optional<std::uint64_t> ecam_offset(std::uint64_t offset, unsigned size) const {
    if (offset < 4 || offset + size > io_size || (address_ >> 31) == 0) return std::nullopt;
    return ((address_ & 0x00ff'ff00ull) << 4) | (address_ & 0xfc) | (offset - 4);
  }

 private:
  std::uint32_t address_ = 0;
};

}  // namespace pcie
