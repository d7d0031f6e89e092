// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/host/cache_line.h"

namespace host {

/// Write-combining buffers of one processor: stores to a line of 64 bytes gather until it is full.
///
///     buffer:  line address | written bytes 63:0 | data
///
/// A full line becomes one write. A line that is evicted or drained before it is full is written in
/// chunks of 8 bytes (Intel SDM volume 3, 12.3.1), where each gapless run of written bytes is one
/// write. If a line needs a buffer and none is free, the buffer that was begun first is evicted.
class CombiningBuffers {
 public:
  /// Receives a write of `bytes` bytes to `address`.
  using Write =
      std::function<void(std::uint64_t address, const std::uint8_t* data, unsigned bytes)>;

  /// `count` is 1 or more.
  CombiningBuffers(unsigned count, Write write);

  bool empty() const { return used_ == 0; }
  /// Stores 1 to 64 bytes within a line.
  void store(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  /// Writes out what the buffers hold of the line of `address`.
  void evict(std::uint64_t address);
  /// Writes out all lines, in the order in which they were begun.
  void drain();
  /// Drops everything without writing it.
  void clear() { used_ = 0; }

 private:
  struct Buffer {
    std::uint64_t line;
    std::uint64_t written;
    LineData data;
  };

  unsigned find(std::uint64_t line) const;
  void evict_buffer(unsigned index);
  void write_out(const Buffer& buffer);

  std::vector<Buffer> buffers_;  // the first used_ are in use, in the order they were begun
  unsigned used_ = 0;
  const Write write_;
};

}  // namespace host
