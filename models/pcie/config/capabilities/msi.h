// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "models/pcie/config/config_space.h"

namespace pcie {

struct MsiConfig {
  unsigned vectors = 0;        ///< 1 to 32; 0 for a function without MSI
  bool maskable = true;        ///< each vector has a mask and a pending bit
  bool extended_data = false;  ///< messages may have 32 bits of data
};

/// MSI capability with 64-bit addresses (PCIe 5.0, 7.7.1 and 6.1.4).
///
///     +0 id 0x05   +2 control: enable 0, vectors asked for 3:1 and granted 6:4 as powers of two,
///                     64-bit 7, maskable 8, extended data possible 9 and enabled 10
///     +4 address   +8 upper address   +c data   +e extended data
///     +10 masks    +14 pending        a bit each vector
class Msi {
 public:
  /// Sends a message; may decline (Bus Master is off), and the vector then stays pending.
  using Send = std::function<bool(std::uint64_t address, std::uint32_t data)>;

  /// One vector without a mask, of which the owner sends the message.
  explicit Msi(ConfigSpace& space) : Msi(space, {1, false, false}, nullptr) {}
  /// Throws ConfigurationError if a value is impossible.
  Msi(ConfigSpace& space, const MsiConfig& config, Send send);
  Msi(const Msi&) = delete;

  unsigned offset() const { return offset_; }
  bool enabled() const { return space_.test(offset_ + 0x2, 0); }
  /// What software grants, 1 to 32 and no more than was asked for.
  unsigned granted() const;
  std::uint64_t address() const {
    return space_.get(offset_ + 0x4, 4) | std::uint64_t{space_.get(offset_ + 0x8, 4)} << 32;
  }
  /// Of vector 0.
  std::uint32_t data() const;

  /// Nothing is pending.
  void reset();

  /// Sends `vector`, or leaves it pending while it cannot be sent. False if MSI is disabled, or
  /// there is no such vector, or software has not granted it.
  bool signal(unsigned vector);
  /// Sends what is pending and can be sent now; to be called after software's writes.
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
