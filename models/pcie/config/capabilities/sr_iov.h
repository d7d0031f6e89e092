// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/pcie/config/base_address_registers.h"
#include "models/pcie/config/config_space.h"
#include "models/pcie/protocol/ids.h"

namespace pcie {

struct SrIovConfig {
  unsigned functions = 0;    ///< number of virtual functions, 1 to 65535
  std::uint16_t device = 0;  ///< their device ID; the vendor ID is the physical function's
  std::vector<BarConfig> bars;
  unsigned number = 0;        ///< number of the physical function
  unsigned first_offset = 1;  ///< distance from its ID to the first virtual function's, with ARI
  unsigned first_offset_without_ari = 256;  ///< the same distance without ARI
  bool ten_bit_tags = false;                ///< whether they support 10-bit tags
};

/// Single Root I/O Virtualization capability of a physical function (PCIe 5.0, 9.3.3), without
/// migration.
///
/// These writes have no effect: a write of NumVFs, the page size or ARI while VF Enable is set, of
/// a NumVFs above TotalVFs, and of a page size that is not supported.
class SrIov {
 public:
  static constexpr std::uint16_t id = 0x0010;  ///< version 1
  static constexpr unsigned capabilities = 0x04;
  static constexpr unsigned control = 0x08;
  static constexpr unsigned status = 0x0a;
  static constexpr unsigned initial_vfs = 0x0c;
  static constexpr unsigned total_vfs = 0x0e;
  static constexpr unsigned num_vfs = 0x10;
  static constexpr unsigned function_dependency_link = 0x12;
  static constexpr unsigned first_vf_offset = 0x14;
  static constexpr unsigned vf_stride = 0x16;
  static constexpr unsigned vf_device_id = 0x1a;
  static constexpr unsigned supported_page_sizes = 0x1c;
  static constexpr unsigned system_page_size = 0x20;
  static constexpr unsigned vf_bar = 0x24;  ///< VF BAR 0, which 1 to 5 follow
  static constexpr unsigned migration_state = 0x3c;

  /// SR-IOV Capabilities: ARI Capable Hierarchy Preserved, only in the lowest function.
  static constexpr std::uint32_t ari_preserved = 1u << 1;
  /// SR-IOV Capabilities: VF 10-Bit Tag Requester Supported.
  static constexpr std::uint32_t ten_bit_tags_supported = 1u << 2;
  /// Bits of SR-IOV Control.
  struct ControlBit {
    static constexpr std::uint32_t vf_enable = 1u << 0;
    static constexpr std::uint32_t vf_memory_space = 1u << 3;
    static constexpr std::uint32_t ari_capable = 1u << 4;  ///< only in the lowest function
    static constexpr std::uint32_t ten_bit_tag_requester = 1u << 5;
  };

  /// `lowest` is the capability of the lowest-numbered physical function, or nullptr if this is it.
  /// Throws ConfigurationError if a value is impossible.
  SrIov(ConfigSpace& space, const SrIovConfig& config, SrIov* lowest);
  SrIov(const SrIov&) = delete;

  unsigned offset() const { return offset_; }
  const std::vector<BarConfig>& bars() const { return bars_.bars(); }
  /// The number of virtual functions that are enabled.
  unsigned count() const { return enabled() ? space_.get(offset_ + num_vfs, 2) : 0; }
  /// Whether virtual functions may use 10-bit tags.
  bool ten_bit_tags() const {
    return space_.any(offset_ + control, ControlBit::ten_bit_tag_requester);
  }
  bool memory_enabled() const { return space_.any(offset_ + control, ControlBit::vf_memory_space); }
  /// The ID of virtual function `index`, from 0. `physical` is the ID of the physical function.
  Id id_of(Id physical, unsigned index) const { return physical + first_offset() + index; }
  /// The index of the virtual function with `id`, or count().
  unsigned index_of(Id physical, Id id) const;
  /// The address of a BAR of virtual function `index`.
  std::uint64_t bar_address(const BarConfig& bar, unsigned index) const {
    return bars_.address(bar) + index * aperture(bar);
  }
  /// The index of the virtual function in whose BARs the address is, or count(). Without VF memory
  /// space it is count().
  unsigned index_at(std::uint64_t address) const;

 private:
  bool enabled() const { return space_.any(offset_ + control, ControlBit::vf_enable); }
  unsigned first_offset() const { return space_.get(offset_ + first_vf_offset, 2); }
  // A BAR occupies whole system pages, so that no page is shared by two functions.
  std::uint64_t aperture(const BarConfig& bar) const;
  void align();
  void set_ari(bool ari);

  ConfigSpace& space_;
  unsigned offset_;
  BaseAddressRegisters bars_;
  unsigned first_offset_;
  unsigned first_offset_without_ari_;
  std::vector<SrIov*> others_;  // in the lowest function: the capabilities that follow its ARI bit
};

}  // namespace pcie
