// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
  /// When the packet has left the wire that is on it at `when`, which may be in the future, or
  /// `when` if there is none.
  vp::Picoseconds end_of_packet(vp::Picoseconds when) const {
    vp::Picoseconds end = last_end_;
    for (std::size_t i = 0; i < packets_.size() && packets_[i].leaves <= when; ++i) {
      end = packets_[i].end;
    }
    return std::max(end, when);
  }

  /// Adds a packet that enters the wire at `leaves` and occupies it until `end`.
  void push(vp::Picoseconds leaves, vp::Picoseconds end, unsigned bytes) {
    used_ += bytes;
    packets_.push({leaves, end, bytes});
  }
  void clear() {
    packets_.clear();
    used_ = 0;
    last_end_ = 0;
  }

 private:
  struct Packet {
    vp::Picoseconds leaves = 0;
    vp::Picoseconds end = 0;
    unsigned bytes = 0;
  };

  void remove(vp::Picoseconds now) {
    while (!packets_.empty() && packets_.front().leaves <= now) {
      const Packet packet = packets_.pop();
      used_ -= packet.bytes;
      last_end_ = packet.end;
    }
  }

  const std::uint64_t size_;
  vp::Ring<Packet> packets_;
  std::uint64_t used_ = 0;
  vp::Picoseconds last_end_ = 0;  // of the last packet that has left the queue
};

}  // namespace pcie
