// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/pcie/config/config_space.h"

namespace pcie {

struct MsiXConfig {
  unsigned vectors = 0;  ///< 1 to 2048, or 0 for a function without MSI-X
  unsigned table_bar = 0;
  std::uint64_t table_offset = 0;  ///< a multiple of 8
  unsigned pending_bar = 0;
  std::uint64_t pending_offset = 0;  ///< a multiple of 8
};

/// MSI-X capability with its table and pending bits (PCIe 5.0, 7.7.2 and 6.1.4).
class MsiX {
 public:
  static constexpr std::uint8_t id = 0x11;
  static constexpr unsigned message_control = 0x02;
  static constexpr unsigned table = 0x04;              ///< offset of the table | BAR
  static constexpr unsigned pending_bit_array = 0x08;  ///< offset of the pending bits | BAR

  /// Bits of Message Control.
  struct ControlBit {
    static constexpr std::uint32_t table_size = 0x7ff;  ///< vectors - 1
    static constexpr std::uint32_t function_mask = 1u << 14;
    static constexpr std::uint32_t enable = 1u << 15;
  };
  /// Offsets in an entry of the table, and the bit of Vector Control.
  struct Entry {
    static constexpr unsigned address = 0x0;
    static constexpr unsigned upper_address = 0x4;
    static constexpr unsigned data = 0x8;
    static constexpr unsigned vector_control = 0xc;
    static constexpr std::uint8_t masked = 1u << 0;
  };

  /// Sends a message. Returns false if it cannot, for example while Bus Master is disabled; the
  /// vector then stays pending.
  using Send = std::function<bool(std::uint64_t address, std::uint32_t data)>;

  /// Throws ConfigurationError if a value is impossible.
  MsiX(ConfigSpace& space, const MsiXConfig& config, Send send);
  MsiX(const MsiX&) = delete;

  const MsiXConfig& config() const { return config_; }
  unsigned offset() const { return offset_; }
  std::uint64_t table_bytes() const { return entry_bytes * std::uint64_t{config_.vectors}; }
  std::uint64_t pending_bytes() const { return (config_.vectors + 63) / 64 * 8; }
  bool enabled() const { return space_.any(offset_ + message_control, ControlBit::enable); }

  /// Masks every vector and clears its message and its pending bit (7.7.2.2).
  void reset();

  /// Software's access to the table and the pending bits, of any size. Reads beyond the end are
  /// zero.
  void read_table(std::uint64_t offset, std::uint8_t* data, unsigned bytes) const;
  void write_table(std::uint64_t offset, const std::uint8_t* data, unsigned bytes);
  void read_pending(std::uint64_t offset, std::uint8_t* data, unsigned bytes) const;

  /// Sends `vector`, or makes it pending if it cannot be sent now. Returns false if MSI-X is
  /// disabled or the vector does not exist.
  bool signal(unsigned vector);
  /// Sends the pending vectors that can be sent now.
  void flush();

 private:
  static constexpr unsigned entry_bytes = 16;

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
