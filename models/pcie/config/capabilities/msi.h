// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config/config_space.h"

namespace pcie {

struct MsiConfig {
  unsigned vectors = 0;        ///< 1 to 32, or 0 for a function without MSI
  bool maskable = true;        ///< whether each vector has a mask bit and a pending bit
  bool extended_data = false;  ///< whether messages can have 32 bits of data

  /// One vector without a mask.
  static constexpr MsiConfig single() {
    MsiConfig config;
    config.vectors = 1;
    config.maskable = false;
    return config;
  }
};

/// MSI capability with 64-bit addresses (PCIe 5.0, 7.7.1 and 6.1.4).
class Msi {
 public:
  static constexpr std::uint8_t id = 0x05;
  static constexpr unsigned message_control = 0x02;
  static constexpr unsigned message_address = 0x04;
  static constexpr unsigned message_upper_address = 0x08;
  static constexpr unsigned message_data = 0x0c;
  static constexpr unsigned extended_message_data = 0x0e;
  static constexpr unsigned mask_bits = 0x10;     ///< one bit for each vector
  static constexpr unsigned pending_bits = 0x14;  ///< one bit for each vector

  /// Bits of Message Control. The numbers of vectors are exponents of two.
  struct ControlBit {
    static constexpr std::uint32_t enable = 1u << 0;
    static constexpr unsigned capable_shift = 1;  ///< vectors that the function requests, 3:1
    static constexpr unsigned enable_shift = 4;   ///< vectors that software grants, 6:4
    static constexpr std::uint32_t multiple_enable = 7u << enable_shift;
    static constexpr std::uint32_t is_64bit = 1u << 7;
    static constexpr std::uint32_t maskable = 1u << 8;
    static constexpr std::uint32_t extended_data_capable = 1u << 9;
    static constexpr std::uint32_t extended_data_enable = 1u << 10;
  };

  /// Sends a message. Returns false if it cannot, for example while Bus Master is disabled; the
  /// vector then stays pending.
  using Send = std::function<bool(std::uint64_t address, std::uint32_t data)>;

  /// Makes a capability with one vector and without a mask; the owner sends its message.
  explicit Msi(ConfigSpace& space) : Msi(space, MsiConfig::single(), nullptr) {}
  /// Throws ConfigurationError if a value is impossible.
  Msi(ConfigSpace& space, const MsiConfig& config, Send send);
  Msi(const Msi&) = delete;

  unsigned offset() const { return offset_; }
  bool enabled() const { return space_.any(offset_ + message_control, ControlBit::enable); }
  /// The number of vectors that software grants, at most the number that the function requests.
  unsigned granted() const;
  std::uint64_t address() const {
    return space_.get(offset_ + message_address, 4) |
           std::uint64_t{space_.get(offset_ + message_upper_address, 4)} << 32;
  }
  /// The data of vector 0.
  std::uint32_t data() const;

  /// Clears all pending bits.
  void reset();

  /// Sends `vector`, or makes it pending if it cannot be sent now. Returns false if MSI is
  /// disabled, or if the vector does not exist or was not granted.
  bool signal(unsigned vector);
  /// Sends the pending vectors that can be sent now; must be called after writes of software.
  void flush();

 private:
  bool masked(unsigned vector) const;
  bool try_send(unsigned vector);
  void set_pending(std::uint32_t pending);

  ConfigSpace& space_;
  MsiConfig config_;
  Send send_;
  unsigned offset_;
  std::uint32_t pending_ = 0;
};

}  // namespace pcie
