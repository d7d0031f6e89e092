// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <vector>

namespace pcie {

/// The kinds of reset (PCIe 5.0, 6.6), the strongest first: a cold reset, which is a fundamental
/// one after a loss of power, any other fundamental reset (PERST#), a hot reset through the link,
/// and a reset of the function alone (FLR or return from D3hot).
enum class Reset : std::uint8_t { cold, fundamental, hot, function };

/// One register of configuration space: its reset value and what software may do with each bit.
/// Bits that are neither writable nor cleared by writes are read-only.
struct Register {
  unsigned offset;  ///< a multiple of `bytes`
  unsigned bytes;   ///< 1, 2 or 4
  std::uint32_t reset = 0;
  std::uint32_t writable = 0;      ///< RW
  std::uint32_t write_clears = 0;  ///< RW1C
  std::uint32_t sticky = 0;        ///< kept by every reset except a fundamental one (7.4)
};

/// The 4 KiB of configuration registers of a function. Registers that are not defined read zero and
/// ignore writes.
///
///     0x000  header, type 0 or type 1
///     0x040  standard capabilities, chained from the pointer at 0x34
///     0x100  extended capabilities, chained from here
class ConfigSpace {
 public:
  static constexpr unsigned size = 4096;
  static constexpr unsigned first_capability = 0x40;
  static constexpr unsigned first_extended_capability = 0x100;

  ConfigSpace();

  /// Software's access to `bytes` (1 to 4) bytes within one DW. An access beyond the space or
  /// across a DW reads zero and writes nothing.
  std::uint32_t read(unsigned offset, unsigned bytes) const;
  void write(unsigned offset, unsigned bytes, std::uint32_t value);

  /// The model's access, which ignores all masks; it must lie within one DW.
  std::uint32_t get(unsigned offset, unsigned bytes) const {
    return words_[offset / 4] >> 8 * (offset & 3) & low_bytes(bytes);
  }
  void set(unsigned offset, unsigned bytes, std::uint32_t value);
  /// Sets the bits of `mask` to those of `value`.
  void change(unsigned offset, unsigned bytes, std::uint32_t mask, std::uint32_t value) {
    set(offset, bytes, (get(offset, bytes) & ~mask) | (value & mask));
  }
  /// Whether any bit of `mask` is set in the register at `offset`.
  bool any(unsigned offset, std::uint32_t mask) const {
    return words_[offset / 4] >> 8 * (offset & 3) & mask;
  }

  /// Throws ConfigurationError if the register is not aligned or if one of its bytes is already
  /// defined.
  void define(const Register& entry);
  /// Makes a reset of kind `strongest` or a weaker one keep the bits of `mask`.
  void keep(Reset strongest, unsigned offset, unsigned bytes, std::uint32_t mask);

  /// Adds a capability of `bytes` bytes, with its header, to the end of its chain. Returns its
  /// offset, which is aligned to a DW. Throws ConfigurationError if there is no room.
  unsigned add_capability(std::uint8_t id, unsigned bytes);
  unsigned add_extended_capability(std::uint16_t id, unsigned version, unsigned bytes);

  /// Calls `action(before)` after software has written to any byte of a register, with the
  /// register's value before the write.
  using Action = std::function<void(std::uint32_t before)>;
  void on_write(unsigned offset, unsigned bytes, Action action);

  /// Sets all registers to their reset values, except the bits that the reset keeps.
  void reset(Reset kind = Reset::fundamental);

 private:
  using Words = std::array<std::uint32_t, size / 4>;
  struct Observer {
    unsigned offset;
    unsigned bytes;
    Action action;
  };

  static constexpr std::uint32_t low_bytes(unsigned bytes) {
    return bytes >= 4 ? ~0u : (1u << 8 * bytes) - 1;
  }
  void set_reset(unsigned offset, unsigned bytes, std::uint32_t value);

  Words words_{};
  Words resets_{};
  Words writable_{};
  Words write_clears_{};
  Words kept_by_hot_{};       // sticky bits
  Words kept_by_function_{};  // sticky bits and those of the link or the device
  std::bitset<size> defined_;
  std::vector<Observer> observers_;
  unsigned last_capability_ = 0;  // the last capability in the chain; 0 if there is none
  unsigned next_free_ = first_capability;
  unsigned last_extended_ = 0;
  unsigned next_extended_free_ = first_extended_capability;
};

}  // namespace pcie
