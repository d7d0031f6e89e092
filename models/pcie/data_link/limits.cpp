// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/limits.h"

#include <algorithm>

namespace pcie {

vp::Picoseconds symbol_time(unsigned generation) {
  static constexpr vp::Picoseconds times[] = {4'000, 2'000, 1'000, 500, 250, 125};
  return times[generation - 1];
}

std::uint64_t ack_latency_limit(unsigned generation, unsigned lanes, unsigned max_payload) {
  const unsigned delay = generation == 1 ? 19 : generation == 2 ? 70 : 115;
  unsigned tenths = 10;
  if (max_payload <= 256) {
    tenths = lanes <= 4 ? 14 : lanes == 8 ? 25 : 30;
  } else if (lanes == 16) {
    tenths = 20;
  }
  return (max_payload + 28) * tenths / (10 * lanes) + delay;
}

vp::Picoseconds ack_latency_limit_time(unsigned generation, unsigned lanes, unsigned max_payload) {
  const std::uint64_t symbols = ack_latency_limit(generation, lanes, max_payload);
  return static_cast<vp::Picoseconds>(symbols) * symbol_time(generation);
}

std::uint64_t replay_limit(const ReplayTimer& timer, unsigned generation, unsigned lanes,
                           unsigned max_payload) {
  if (timer.port_generation >= 4) return timer.extended_synch ? 80'000 : 24'000;
  return 3 * ack_latency_limit(generation, lanes, max_payload);
}

vp::Picoseconds flit_ack_limit(unsigned generation, unsigned lanes) {
  const vp::Picoseconds limit = (48 + 32 / lanes) * vp::ns;
  const vp::Picoseconds flit = 256 / lanes * symbol_time(generation);
  return std::max(limit, flit);
}

}  // namespace pcie
