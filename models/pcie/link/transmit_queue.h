// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vp/ring.h"
#include "vp/time/time.h"

namespace pcie {

/// The packets at the end of a link that are on their way to the wire. When a packet enters the
/// queue, the time is known at which it enters the wire.
class TransmitQueue {
 public:
  /// `size` is in bytes on the wire. An empty queue has room for any packet.
  explicit TransmitQueue(std::uint64_t size) : size_(size) {}

  /// Whether there is room for a packet at that time.
  bool has_room(vp::Picoseconds now, unsigned bytes) {
    remove(now);
    return used_ == 0 || used_ + bytes <= size_;
  }
  /// When the next packet leaves after that time, or `never` if the queue is empty.
  vp::Picoseconds next_leaves(vp::Picoseconds now) {
    remove(now);
    return packets_.empty() ? vp::never : packets_.front().leaves;
  }
  /// When the first packet leaves that does so after `when`, which may be in the future, or
  /// `never`.
  vp::Picoseconds leaves_after(vp::Picoseconds when) const {
    for (std::size_t i = 0; i < packets_.size(); ++i) {
      if (packets_[i].leaves > when) return packets_[i].leaves;
    }
    return vp::never;
  }

  void push(vp::Picoseconds leaves, unsigned bytes) {
    used_ += bytes;
    packets_.push({leaves, bytes});
  }
  void clear() {
    packets_.clear();
    used_ = 0;
  }

 private:
  struct Packet {
    vp::Picoseconds leaves = 0;
    unsigned bytes = 0;
  };

  void remove(vp::Picoseconds now) {
    while (!packets_.empty() && packets_.front().leaves <= now) used_ -= packets_.pop().bytes;
  }

  const std::uint64_t size_;
  vp::Ring<Packet> packets_;
  std::uint64_t used_ = 0;
};

}  // namespace pcie
