// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vp::config {

/// A unit of a quantity, as so many of the smallest that is kept.
struct Unit {
  std::string_view name;
  std::int64_t factor;
};

/// A kind of physical value, kept in whole numbers of its smallest unit and never rounded.
struct Quantity {
  std::string_view name;     ///< with its article: "a duration"
  std::string_view example;  ///< as one writes it
  std::vector<Unit> units;   ///< from the smallest to the largest
  std::vector<std::pair<std::string_view, std::string_view>> mistaken;  ///< unit, what was meant

  /// The units' names, `ps, ns or us`.
  std::string unit_names() const;
  /// The value as one writes it, in the largest unit that needs no fraction.
  std::string print(std::int64_t value) const;
};

const Quantity& duration_quantity();          ///< ps, ns, us, ms, s; kept in picoseconds
const Quantity& size_quantity();              ///< B, KiB, MiB, GiB, TiB; kept in bytes
const Quantity& frequency_quantity();         ///< Hz, kHz, MHz, GHz; kept in hertz
const Quantity& bit_rate_quantity();          ///< b/s to Tb/s, B/s to TB/s; kept in bit/s
const Quantity& instruction_rate_quantity();  ///< IPS, kIPS, MIPS, GIPS; instructions/s

/// What became of reading a quantity: its value, or what is wrong.
struct Measured {
  std::int64_t value = 0;
  std::string found;  ///< empty if all is well
  std::string remedy;
};

/// Reads digits, perhaps with a fraction, perhaps one space, and a unit. The value must be a whole
/// number of the smallest unit, and below 2^63 of it.
Measured measure(std::string_view text, const Quantity& quantity);

}  // namespace vp::config
