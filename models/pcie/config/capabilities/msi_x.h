// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/pcie/config/config_space.h"

namespace pcie {

struct MsiXConfig {
  unsigned vectors = 0;  ///< 1 to 2048; 0 for a function without MSI-X
  unsigned table_bar = 0;
  std::uint64_t table_offset = 0;  ///< a multiple of 8
  unsigned pending_bar = 0;
  std::uint64_t pending_offset = 0;  ///< a multiple of 8
};

/// MSI-X capability with its table and pending bits (PCIe 5.0, 7.7.2 and 6.1.4).
///
///     +0 id 0x11   +2 control: vectors - 1 10:0, function mask 14, enable 15
///     +4 table offset | BAR   +8 pending offset | BAR
///
///     table entry:  +0 address  +4 upper address  +8 data  +c control: mask 0
class MsiX {
 public:
  /// Sends a message; may decline (Bus Master is off), and the vector then stays pending.
  using Send = std::function<bool(std::uint64_t address, std::uint32_t data)>;

  /// Throws ConfigurationError if a value is impossible.
  MsiX(ConfigSpace& space, const MsiXConfig& config, Send send);
  MsiX(const MsiX&) = delete;

  const MsiXConfig& config() const { return config_; }
  unsigned offset() const { return offset_; }
  std::uint64_t table_bytes() const { return 16u * config_.vectors; }
  std::uint64_t pending_bytes() const { return (config_.vectors + 63) / 64 * 8; }
  bool enabled() const { return space_.test(offset_ + 2, 15); }

  /// Every vector masked and its message forgotten, nothing pending (7.7.2.2).
  void reset();

  /// Software's access to table and pending bits, of any size; beyond the end reads are zero.
  void read_table(std::uint64_t offset, std::uint8_t* data, unsigned bytes) const;
  void write_table(std::uint64_t offset, const std::uint8_t* data, unsigned bytes);
  void read_pending(std::uint64_t offset, std::uint8_t* data, unsigned bytes) const;

  /// Sends `vector`, or leaves it pending while it cannot be sent. False if MSI-X is disabled or
  /// there is no such vector.
  bool signal(unsigned vector);
  /// Sends what is pending and can be sent now.
  void flush();

 private:
  static constexpr unsigned entry_bytes = 16;
  static constexpr unsigned control_byte = 12;

  bool masked(unsigned vector) const;
  bool try_send(unsigned vector);
  std::uint32_t entry_word(unsigned vector, unsigned byte) const;

  ConfigSpace& space_;
  MsiXConfig config_;
  Send send_;
  unsigned offset_;
  std::vector<std::uint8_t> table_;
  std::vector<std::uint8_t> pending_;
  unsigned pending_count_ = 0;
};

}  // namespace pcie
