// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "vp/ring.h"
#include "vp/time/time.h"

namespace pcie {

/// The packets that a transmitter keeps until they are acknowledged (PCIe 5.0, 3.6.2.1). A packet
/// does not enter the wire before there is room for it. A packet that is larger than the buffer
/// needs all of it.
class RetryBuffer {
 public:
  /// `size` is in bytes on the wire.
  explicit RetryBuffer(std::uint64_t size) : size_(size) {}

  /// Returns the earliest time, `ready` or later, at which there is room for `bytes` more, or
  /// `never` if that depends on packets whose acknowledgement is not known. The packets that are
  /// acknowledged until then leave.
  vp::Picoseconds room(vp::Picoseconds ready, unsigned bytes) {
    while (!known_.empty() && (known_.front().acknowledged <= ready || used_ + bytes > size_)) {
      const Packets first = known_.pop();
      ready = std::max(ready, first.acknowledged);
      used_ -= first.bytes;
    }
    return used_ + bytes <= size_ || used_ == 0 ? ready : vp::never;
  }
  /// Keeps a packet until that time, which is no earlier than that of the packet before, or until
  /// acknowledge() if the time is `never`.
  void keep(unsigned bytes, vp::Picoseconds acknowledged) {
    used_ += bytes;
    if (acknowledged == vp::never) {
      unknown_ += bytes;
    } else {
      known_.push({acknowledged, bytes});
    }
  }
  /// All packets that are kept without a time are acknowledged then.
  void acknowledge(vp::Picoseconds when) {
    if (unknown_ > 0) known_.push({when, unknown_});
    unknown_ = 0;
  }
  void clear() {
    known_.clear();
    used_ = unknown_ = 0;
  }

 private:
  struct Packets {
    vp::Picoseconds acknowledged = 0;
    std::uint64_t bytes = 0;
  };

  const std::uint64_t size_;
  vp::Ring<Packets> known_;
  std::uint64_t used_ = 0;
  std::uint64_t unknown_ = 0;  // bytes of packets whose acknowledgement is not known
};

}  // namespace pcie
