// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/pcie/config/base_address_registers.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/ids.h"

namespace pcie {

struct SrIovConfig {
  unsigned functions = 0;    ///< most virtual functions, 1 to 65535
  std::uint16_t device = 0;  ///< their device id; the vendor is the physical function's
  std::vector<BarConfig> bars;
  unsigned number = 0;        ///< of the physical function
  unsigned first_offset = 1;  ///< from its id to that of the first virtual one, where ARI is known
  unsigned first_offset_without_ari = 256;  ///< and where it is not
  bool ten_bit_tags = false;                ///< they can give tags of 10 bits
};

/// Single Root I/O Virtualization capability of a physical function (PCIe 5.0, 9.3.3).
///
///     +00 id 0x0010, version 1    +04 capabilities: VF 10-bit tag requester 2, no migration
///     +08 control: VF enable 0, VF memory space 3, ARI capable hierarchy 4 (lowest function),
///         VF 10-bit tag requester 5
///     +0a status                  +0c InitialVFs, as many as   +0e TotalVFs
///     +10 NumVFs                  +12 function dependency link: itself
///     +14 first VF offset         +16 VF stride: 1             +1a VF device id
///     +1c supported page sizes    +20 system page size         +24 VF BAR 0 to 5
///     +3c migration state: none
///
/// What software may not do, write NumVFs, the page size or ARI while VF enable is set, more than
/// TotalVFs, or a page size that is not supported, changes nothing.
class SrIov {
 public:
  /// `lowest` is that of the physical function with the lowest number, nullptr for that itself.
  /// Throws ConfigurationError if a value is impossible.
  SrIov(ConfigSpace& space, const SrIovConfig& config, SrIov* lowest);
  SrIov(const SrIov&) = delete;

  unsigned offset() const { return offset_; }
  const std::vector<BarConfig>& bars() const { return bars_.bars(); }
  /// Virtual functions that there are.
  unsigned count() const { return enabled() ? space_.get(offset_ + 0x10, 2) : 0; }
  /// Whether virtual functions give tags of 10 bits.
  bool ten_bit_tags() const { return space_.test(offset_ + 0x08, 5); }
  bool memory_enabled() const { return space_.test(offset_ + 0x08, 3); }
  /// The id of virtual function `index`, from 0, if `physical` is that of the physical one.
  Id id(Id physical, unsigned index) const { return physical + first_offset() + index; }
  /// Which virtual function has `id`, or count().
  unsigned index_of(Id physical, Id id) const;
  /// Where a BAR of virtual function `index` is.
  std::uint64_t bar_address(const BarConfig& bar, unsigned index) const {
    return bars_.address(bar) + index * aperture(bar);
  }
  /// In whose BARs an address is, if memory space is enabled, or count().
  unsigned index_at(std::uint64_t address) const;

 private:
  bool enabled() const { return space_.test(offset_ + 0x08, 0); }
  unsigned first_offset() const { return space_.get(offset_ + 0x14, 2); }
  // A BAR has whole system pages, so that no page has those of two functions.
  std::uint64_t aperture(const BarConfig& bar) const;
  void align();
  void set_ari(bool ari);

  ConfigSpace& space_;
  unsigned offset_;
  BaseAddressRegisters bars_;
  unsigned first_offset_;
  unsigned first_offset_without_ari_;
  std::vector<SrIov*> others_;  // if this is the lowest function's: those that know ARI from it
};

}  // namespace pcie
