// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <vector>

namespace pcie {

/// What resets a function (PCIe 5.0, 6.6), the strongest first: power or PERST#, its link, or
/// itself alone by an FLR or its return from D3hot.
enum class Reset : std::uint8_t { fundamental, hot, function };

/// One register of configuration space: its reset value and what software may do to each bit.
/// Bits in neither mask are read-only.
struct Register {
  unsigned offset;  ///< a multiple of `bytes`
  unsigned bytes;   ///< 1, 2 or 4
  std::uint32_t reset = 0;
  std::uint32_t writable = 0;      ///< RW
  std::uint32_t write_clears = 0;  ///< RW1C
  std::uint32_t sticky = 0;        ///< kept by every reset but a fundamental one (7.4)
};

/// The 4 KiB of configuration registers of a function. What was not defined reads zero and ignores
/// writes.
///
///     0x000  header, type 0 or type 1
///     0x040  standard capabilities, chained from the pointer at 0x34
///     0x100  extended capabilities, chained from here
class ConfigSpace {
 public:
  static constexpr unsigned size = 4096;

  ConfigSpace();

  /// Software's access: `bytes` 1 to 4 within one DW. Beyond the space, or across a DW, reads are
  /// zero and writes ignored.
  std::uint32_t read(unsigned offset, unsigned bytes) const;
  void write(unsigned offset, unsigned bytes, std::uint32_t value);

  /// The model's access, past all masks; within one DW.
  std::uint32_t get(unsigned offset, unsigned bytes) const;
  void set(unsigned offset, unsigned bytes, std::uint32_t value);
  bool test(unsigned offset, unsigned bit) const {
    return words_[offset / 4] >> (8 * (offset & 3) + bit) & 1;
  }

  /// Throws ConfigurationError if the register is not aligned or any of its bytes is defined.
  void define(const Register& entry);
  /// A reset leaves the bits of `mask` as they are, if it is `strongest` or a weaker one.
  void keep(Reset strongest, unsigned offset, unsigned bytes, std::uint32_t mask);

  /// Place a capability of `bytes` bytes, header included, at the end of its chain, aligned to a
  /// DW, and return its offset. Throws ConfigurationError if there is no room.
  unsigned add_capability(std::uint8_t id, unsigned bytes);
  unsigned add_extended_capability(std::uint16_t id, unsigned version, unsigned bytes);

  /// Calls `action(before)` after software has written to any byte of a register, with the
  /// register's value before the write.
  using Action = std::function<void(std::uint32_t before)>;
  void on_write(unsigned offset, unsigned bytes, Action action);

  /// All registers to their reset values, but for what the reset keeps.
  void reset(Reset kind = Reset::fundamental);

 private:
  using Words = std::array<std::uint32_t, size / 4>;
  struct Observer {
    unsigned offset;
    unsigned bytes;
    Action action;
  };

  void set_reset(unsigned offset, unsigned bytes, std::uint32_t value);

  Words words_{};
  Words resets_{};
  Words writable_{};
  Words write_clears_{};
  Words kept_by_hot_{};       // sticky bits
  Words kept_by_function_{};  // and those that are the link's or the device's
  std::bitset<size> defined_;
  std::vector<Observer> observers_;
  unsigned last_capability_ = 0;  // whose next pointer ends the chain; 0: none yet
  unsigned next_free_ = 0x40;
  unsigned last_extended_ = 0;
  unsigned next_extended_free_ = 0x100;
};

}  // namespace pcie
