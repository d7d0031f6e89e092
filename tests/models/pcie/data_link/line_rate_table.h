// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>

#include "vp/time/time.h"

namespace pcie {

/// A rate as the time that some bytes take.
struct TimeOfBytes {
  std::uint64_t picoseconds, bytes;

  double gigabits_per_second() const {
    return 8000.0 * static_cast<double>(bytes) / static_cast<double>(picoseconds);
  }
  /// The time of so many bytes, rounded up.
  vp::Picoseconds time_of(std::uint64_t count) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<vp::Picoseconds>((Wide{count} * picoseconds + bytes - 1) / bytes);
  }
};

/// The time that bytes take on a link, as line_rate_table.py works it out apart from the model.
struct ExpectedRate {
  unsigned generation, lanes, max_payload;
  TimeOfBytes own;  ///< without DLLPs
  /// By the account of Neugebauer et al. (SIGCOMM 2018), which has no flit mode; 0 for that.
  TimeOfBytes published;
};

inline constexpr ExpectedRate expected_rates[] = {
#include "tests/models/pcie/data_link/line_rate_table.inc"
};

inline const ExpectedRate& expected_rate(unsigned generation, unsigned lanes,
                                         unsigned max_payload = 256) {
  for (const ExpectedRate& row : expected_rates) {
    if (row.generation == generation && row.lanes == lanes && row.max_payload == max_payload) {
      return row;
    }
  }
  throw std::out_of_range("line_rate_table.inc has no such link");
}

}  // namespace pcie
