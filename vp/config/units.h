// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vp::config {

/// A unit of a quantity, in numbers of the smallest unit.
struct Unit {
  std::string_view name;
  std::int64_t factor;
};

/// A kind of physical value. It is kept as a whole number of its smallest unit and never rounded.
struct Quantity {
  std::string_view name;     ///< with its article: "a duration"
  std::string_view example;  ///< as a user writes it
  std::vector<Unit> units;   ///< from the smallest to the largest
  std::vector<std::pair<std::string_view, std::string_view>>
      mistaken;  ///< a wrong unit, and the unit that was meant

  /// Returns the names of the units: `ps, ns or us`.
  std::string unit_names() const;
  /// Returns the value as a user writes it, in the largest unit that needs no fraction.
  std::string print(std::int64_t value) const;
};

const Quantity& duration_quantity();          ///< ps, ns, us, ms, s; kept in picoseconds
const Quantity& size_quantity();              ///< B, KiB, MiB, GiB, TiB; kept in bytes
const Quantity& frequency_quantity();         ///< Hz, kHz, MHz, GHz; kept in hertz
const Quantity& bit_rate_quantity();          ///< b/s to Tb/s, B/s to TB/s; kept in bit/s
const Quantity& instruction_rate_quantity();  ///< IPS, kIPS, MIPS, GIPS; instructions/s

/// The result of reading a quantity: its value, or what is wrong.
struct Measured {
  std::int64_t value = 0;
  std::string found;  ///< empty if all is well
  std::string remedy;
};

/// Reads digits with an optional fraction, an optional space, and a unit. The value must be a whole
/// number of the smallest unit, below 2^63.
Measured measure(std::string_view text, const Quantity& quantity);

}  // namespace vp::config
