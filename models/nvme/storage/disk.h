// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/nvme/storage/overlay.h"

namespace nvme {

/// A value is impossible, or a file cannot be used. The text names the file and a remedy.
struct ConfigurationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The image file could not be read or written while the disk was in use.
struct MediaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct DiskConfig {
  /// The file with the first contents, whose size is a multiple of the block size. Empty for a disk
  /// of zeros.
  std::string image;
  std::uint64_t size = 0;     ///< bytes of a disk without an image, a multiple of the block size
  unsigned block_size = 512;  ///< bytes of a logical block, 512 or 4096
  /// Whether what becomes durable is written to the image. Such a disk must not be used after a
  /// fork, since parent and child would share its image.
  bool write_through = false;
  std::uint64_t overlay_memory = 256u << 20;  ///< bytes of the overlay that are kept in memory
  std::string spill_folder;  ///< for the rest of the overlay; empty for the temporary folder
  std::uint64_t cache = 0;   ///< bytes of the volatile write cache, 0 without one
};

/// The contents of a namespace: an image, the pages that differ from it, and the blocks that only
/// the volatile write cache holds.
///
/// The image is opened for reading and never changes, unless the disk writes through. All members
/// that reach the image or the overlay throw MediaError or SpillError if the machine that runs the
/// simulation fails. Ranges must lie inside the disk.
class Disk {
 public:
  /// Throws ConfigurationError for an impossible value, and for an image that is missing, cannot be
  /// read, is no regular file, is empty or has another size than whole blocks.
  explicit Disk(const DiskConfig& config);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  std::uint64_t blocks() const { return size_ / config_.block_size; }
  unsigned block_size() const { return config_.block_size; }
  std::uint64_t cache_bytes() const { return config_.cache; }
  bool writes_through() const { return config_.write_through; }

  void read(std::uint64_t block, std::uint64_t count, std::uint8_t* into) const;
  /// The blocks are durable on return.
  void write(std::uint64_t block, std::uint64_t count, const std::uint8_t* from);
  /// The blocks enter the write cache. If it is full, the oldest ones are written back. Returns the
  /// bytes written back.
  std::uint64_t write_volatile(std::uint64_t block, std::uint64_t count, const std::uint8_t* from);
  /// The blocks read as zeros, which is durable on return.
  void clear(std::uint64_t block, std::uint64_t count);

  /// Writes back the cached blocks of a range, or all of them. Returns the bytes written back.
  std::uint64_t flush(std::uint64_t block, std::uint64_t count);
  std::uint64_t flush();
  std::uint64_t volatile_bytes() const { return cache_.size() * config_.block_size; }

  /// The cache loses its contents. Each of its blocks, whole, has reached the medium before or is
  /// lost, as `random` says. Returns the number of blocks that are lost.
  std::uint64_t lose_power(std::mt19937_64& random);

  /// Writes the present contents, with those of the cache, to an empty file that is open for
  /// writing. Blocks of zeros become holes. Throws MediaError if the image cannot be read, or if
  /// the file cannot be written.
  void write_to(int file) const;

  const std::uint64_t& written_back() const { return written_back_; }
  const Overlay& overlay() const { return overlay_; }

 private:
  struct Cached {
    std::uint64_t age;  // its place in ages_
    std::vector<std::uint8_t> data;
  };

  void open();
  void read_image(std::uint64_t offset, std::uint64_t bytes, std::uint8_t* into) const;
  void write_image(std::uint64_t offset, std::uint64_t bytes, const std::uint8_t* from);
  void read_durable(std::uint64_t offset, std::uint64_t bytes, std::uint8_t* into) const;
  void write_durable(std::uint64_t offset, std::uint64_t bytes, const std::uint8_t* from);
  void zero_durable(std::uint64_t offset, std::uint64_t bytes);
  void forget(std::uint64_t block, std::uint64_t count);
  std::set<std::uint64_t> pieces_with_data() const;
  void write_back(std::uint64_t block);

  const DiskConfig config_;
  int image_ = -1;
  std::uint64_t size_ = 0;
  Overlay overlay_;
  std::unordered_map<std::uint64_t, Cached> cache_;  // by block
  std::map<std::uint64_t, std::uint64_t> ages_;      // the blocks of the cache, oldest first
  std::uint64_t next_age_ = 0;
  std::uint64_t written_back_ = 0;  // blocks
};

}  // namespace nvme
