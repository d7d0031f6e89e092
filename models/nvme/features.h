// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "models/nvme/protocol.h"

namespace nvme {

/// The values of the features (NVMe 1.4, 5.21.1). A controller level reset gives them their
/// defaults, since none of them can be saved.
struct Features {
  // Word 11 of the features, as Get Features returns them.
  static constexpr Field burst{0, 3};  ///< of arbitration: 2^n commands
  static constexpr std::uint32_t unlimited_burst = 7;
  static constexpr Field power_state{0, 5};
  static constexpr Field threshold{0, 16};            ///< of the temperature, in K
  static constexpr Field sensor{16, 4};               ///< 0 for the composite temperature
  static constexpr Field under{20, 2};                ///< 0: above the threshold, 1: below it
  static constexpr Field error_recovery_time{0, 16};  ///< no effect
  static constexpr Field cache_enabled{0, 1};
  static constexpr Field coalescing_entries{0, 8};  ///< entries - 1
  static constexpr Field coalescing_time{8, 8};     ///< in 100 us, 0 for none
  static constexpr Field vector{0, 16};
  static constexpr Field vector_alone{16, 1};  ///< CD, the vector is not coalesced
  static constexpr Field no_atomicity{0, 1};   ///< no effect
  static constexpr Field warnings{0, 8};       ///< of asynchronous events
  static constexpr std::uint32_t arbitration_mask = 0xffffff07;
  static constexpr std::uint32_t coalescing_mask = 0xffff;
  static constexpr std::uint32_t all_sensors = 0xf;

  std::uint32_t arbitration = unlimited_burst;
  std::uint32_t over_temperature = 0;  ///< set by reset()
  std::uint32_t under_temperature = 0;
  std::vector<std::uint32_t> error_recovery;  ///< by namespace
  bool write_cache = false;
  std::uint32_t coalescing = 0;
  std::vector<bool> vectors_alone;
  std::uint32_t write_atomicity = 0;
  std::uint32_t async_events = 0;

  void reset(unsigned vectors, unsigned namespaces, bool has_cache,
             std::uint32_t warning_temperature) {
    *this = Features();
    over_temperature = warning_temperature;
    error_recovery.assign(namespaces, 0);
    write_cache = has_cache;
    vectors_alone.assign(vectors, false);
  }
  unsigned most_at_once() const {
    const std::uint32_t shift = burst.get(arbitration);
    return shift == unlimited_burst ? ~0u : 1u << shift;
  }
};

}  // namespace nvme
