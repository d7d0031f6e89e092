// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/data_link/line_rate.h"
#include "vp/time/time.h"

namespace pcie {

/// A direction of the hierarchy; down leads away from the root complex.
enum class Direction : std::uint8_t { down, up };

struct LinkConfig {
  unsigned generation = 5;           ///< highest generation of the channel, 1 to 6
  unsigned lanes = 16;               ///< wired lanes
  vp::Picoseconds latency_down = 0;  ///< latency of PHY and wire
  vp::Picoseconds latency_up = 0;    ///< latency of PHY and wire
  unsigned max_payload = 256;        ///< the largest payload, on which limits of DLLPs depend
  /// Time from the end of a hot reset until the link is up. The link takes at least the latencies
  /// of both directions.
  vp::Picoseconds training = 0;
  /// Time after which a component has power that a slot gives it. Training begins then.
  vp::Picoseconds power_up = 0;
  double bit_error_rate = 0;                 ///< rate in each lane, 0 to 1e-4
  std::uint64_t seed = 1;                    ///< seed of the error sequence
  vp::Picoseconds retraining = 20 * vp::us;  ///< duration of Recovery, also if the speed changes
  /// The idle time after which a direction enters L0s, and after which the link enters L1.
  vp::Picoseconds l0s_after = 1 * vp::us;
  vp::Picoseconds l1_after = 10 * vp::us;
  DllpAccount dllps = DllpAccount::traffic;
  /// Bytes of packets that wait at each end for the wire; 0 for as many as its latency needs
  /// (buffer_for()).
  std::uint64_t transmit_queue = 0;
  /// Bytes of packets that wait at each end for an acknowledgement; 0 for as many as the
  /// way of the acknowledgement needs (buffer_for()).
  std::uint64_t retry_buffer = 0;
};

}  // namespace pcie
