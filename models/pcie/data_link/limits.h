// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/time/time.h"

namespace pcie {

/// The time that a symbol takes in a lane: 10 bits of generations 1 and 2, 8 bits of the others.
vp::Picoseconds symbol_time(unsigned generation);

/// The longest time from the last symbol of a TLP to the first symbol of its ACK, in symbol times
/// (PCIe 5.0, tables 3-7 to 3-9): (payload + 28) x factor / lanes + internal delay. UpdateFCs have
/// the same limit (tables 2-46 to 2-48).
std::uint64_t ack_latency_limit(unsigned generation, unsigned lanes, unsigned max_payload);

/// The same limit as a time.
vp::Picoseconds ack_latency_limit_time(unsigned generation, unsigned lanes, unsigned max_payload);

/// What REPLAY_TIMER is limited to when a port transmits.
struct ReplayTimer {
  unsigned port_generation = 5;  ///< the highest generation that the port supports
  bool extended_synch = false;   ///< the bit of Link Control
};

/// The time without an ACK or a NAK after which the transmitter replays, in symbol times.
///
/// A port that supports 16 GT/s has the simplified limits at all rates (PCIe 5.0, 3.6.2.1): 24,000
/// to 31,000, and 80,000 to 100,000 with Extended Synch. The model takes the least value. Other
/// ports have the limits of PCIe 3.1, 3.5.2.1, which are three times those of the ACK latency.
std::uint64_t replay_limit(const ReplayTimer& timer, unsigned generation, unsigned lanes,
                           unsigned max_payload);

/// The longest time from the first bit of a received flit to the first bit of the flit that
/// acknowledges or refuses it (PCIe 6.0, 4.2.3.4.2.1). At lower speeds, where a flit takes longer
/// than that, it is the time of one flit.
vp::Picoseconds flit_ack_limit(unsigned generation, unsigned lanes);

}  // namespace pcie
