// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/pcie/data_link/line_rate.h"
#include "models/pcie/link/link_config.h"
#include "models/pcie/link/port.h"

namespace pcie {

/// The speed and the width of a link, and whether it is in flit mode.
///
/// The speed is the lowest of the channel's, both ports' and the upstream port's target speed. The
/// width uses only the lanes from either end of the link up to the first failed lane.
///
/// Ports of generation 6 support flit mode. Two of them negotiate it when their link trains from
/// Detect, whatever the channel is capable of, unless the upstream component's port has disabled it
/// (PCIe 6.0, 4.2.7.3.2). Recovery does not change it. Without flit mode, 32 GT/s are the highest
/// speed.
class LinkMode {
 public:
  LinkMode(const LinkConfig& config, const PortConfig& upstream, const PortConfig& downstream);

  /// The current mode, or during Recovery the mode that follows it.
  unsigned generation() const { return generation_; }
  unsigned lanes() const { return lanes_; }
  const LineRate& rate() const { return rate_; }

  /// Whether the link is in flit mode, at any speed.
  bool flits() const { return flits_; }
  /// The time that the shortest packet takes on the wire at the highest speed and width.
  vp::Picoseconds shortest_packet() const;

  /// Trains from Detect: negotiates flit mode, which `flits_disabled` prevents, and chooses.
  void train(unsigned generation, bool flits_disabled);
  /// Chooses a speed of at most `generation`, and the width that the good lanes permit.
  void choose(unsigned generation);

  /// Announces that the lane will fail. Returns false, and announces nothing, if the link does not
  /// have that lane or could not work without it and all lanes that were announced before.
  bool announce_loss(unsigned lane);
  /// Marks the lane as failed, which must have been announced. Returns whether the possible width
  /// has changed; choose() applies it.
  bool lose(unsigned lane);

 private:
  LineRate rate_of(unsigned generation, unsigned lanes, bool flits) const;
  static unsigned usable_lanes(unsigned lanes, std::uint32_t failed);

  const unsigned most_generation_;  // highest generation of the channel and both ports
  const unsigned most_lanes_;
  const unsigned max_payload_;
  const DllpAccount dllps_;
  const bool supports_flits_;  // whether both ports do
  const LineRate best_rate_;
  unsigned generation_;
  unsigned lanes_;
  LineRate rate_;
  bool flits_;
  std::uint32_t failed_ = 0;     // failed lanes, one bit for each
  std::uint32_t announced_ = 0;  // those that have failed or will
};

}  // namespace pcie
