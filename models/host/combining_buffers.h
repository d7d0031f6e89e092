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
/// A full line is one write. What is evicted or drained before it is full goes in chunks of 8 bytes
/// (Intel SDM volume 3, 12.3.1), the written bytes of each chunk without a gap as one write. When
/// a line needs a buffer and there is none, the one begun first is evicted.
class CombiningBuffers {
 public:
  /// Takes `bytes` bytes for `address`.
  using Write =
      std::function<void(std::uint64_t address, const std::uint8_t* data, unsigned bytes)>;

  /// `count` from 1 up.
  CombiningBuffers(unsigned count, Write write);

  bool empty() const { return used_ == 0; }
  /// Takes 1 to 64 bytes within a line.
  void store(std::uint64_t address, const std::uint8_t* data, unsigned bytes);
  /// Writes out what there is of the line of `address`.
  void evict(std::uint64_t address);
  /// Writes all out, lines in the order they were begun.
  void drain();
  /// Drops all.
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

  std::vector<Buffer> buffers_;  // the first used_, in the order they were begun
  unsigned used_ = 0;
  const Write write_;
};

}  // namespace host
