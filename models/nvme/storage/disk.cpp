// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/storage/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "models/nvme/storage/image_file.h"
#include "vp/images/file.h"

namespace nvme {
namespace {

constexpr std::uint64_t page_size = Overlay::page_size;
constexpr std::uint64_t piece_size = 1u << 20;  // of an export

bool is_zero(const std::vector<std::uint8_t>& bytes, std::uint64_t count) {
  return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count),
                     [](std::uint8_t byte) { return byte == 0; });
}

// Writes all bytes. Returns false, with errno set, if that fails.
bool write_all(int file, const std::uint8_t* from, std::uint64_t bytes, std::uint64_t offset) {
  while (bytes > 0) {
    const ssize_t done = ::pwrite(file, from, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      if (done == 0) errno = ENOSPC;
      return false;
    }
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
  return true;
}

}  // namespace

Disk::Disk(const DiskConfig& config)
    : config_(config), overlay_(config.overlay_memory, config.spill_folder) {
  if (config.block_size != 512 && config.block_size != 4096) {
    throw ConfigurationError(
        fmt::format("a block of {} bytes is impossible; choose 512 or 4096", config.block_size));
  }
  if (!config.image.empty()) {
    open();
    return;
  }
  if (config.write_through) {
    throw ConfigurationError("a disk without an image cannot write through; name an image file");
  }
  size_ = config.size;
  if (size_ == 0 || size_ % config.block_size != 0) {
    throw ConfigurationError(
        fmt::format("a disk without an image cannot have {} bytes; choose a multiple of {}", size_,
                    config.block_size));
  }
}

void Disk::open() {
  try {
    image_ = open_image(config_.image, config_.block_size, config_.write_through);
  } catch (const vp::images::Mistake& mistake) {
    throw ConfigurationError(fmt::format("the disk image '{}': {}; {}", config_.image,
                                         mistake.what(), mistake.remedy()));
  }
  struct stat status {};
  ::fstat(image_, &status);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

Disk::~Disk() {
  if (image_ >= 0) ::close(image_);
}

// The next functions reach what is durable.

void Disk::read_image(std::uint64_t offset, std::uint64_t bytes, std::uint8_t* into) const {
  if (image_ < 0) {
    std::memset(into, 0, bytes);
    return;
  }
  while (bytes > 0) {
    const ssize_t done = ::pread(image_, into, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      throw MediaError(fmt::format("the disk image '{}' cannot be read at byte {}: {}",
                                   config_.image, offset,
                                   done == 0 ? "it has become shorter" : std::strerror(errno)));
    }
    into += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

void Disk::write_image(std::uint64_t offset, std::uint64_t bytes, const std::uint8_t* from) {
  if (write_all(image_, from, bytes, offset)) return;
  throw MediaError(fmt::format("the disk image '{}' cannot be written at byte {}: {}",
                               config_.image, offset, std::strerror(errno)));
}

void Disk::read_durable(std::uint64_t offset, std::uint64_t bytes, std::uint8_t* into) const {
  if (config_.write_through) return read_image(offset, bytes, into);
  Overlay::Page page;
  for (std::uint64_t piece; bytes > 0; offset += piece, into += piece, bytes -= piece) {
    const std::uint64_t within = offset % page_size;
    piece = std::min(bytes, page_size - within);
    if (overlay_.read(offset / page_size, page.data())) {
      std::memcpy(into, page.data() + within, piece);
    } else {
      read_image(offset, piece, into);
    }
  }
}

void Disk::write_durable(std::uint64_t offset, std::uint64_t bytes, const std::uint8_t* from) {
  if (config_.write_through) return write_image(offset, bytes, from);
  Overlay::Page page;
  for (std::uint64_t piece; bytes > 0; offset += piece, from += piece, bytes -= piece) {
    const std::uint64_t within = offset % page_size;
    piece = std::min(bytes, page_size - within);
    if (piece == page_size) {
      overlay_.write(offset / page_size, from);
      continue;
    }
    // The last page of a disk may be incomplete.
    const std::uint64_t begin = offset - within;
    page.fill(0);
    read_durable(begin, std::min(page_size, size_ - begin), page.data());
    std::memcpy(page.data() + within, from, piece);
    overlay_.write(offset / page_size, page.data());
  }
}

void Disk::zero_durable(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t end = offset + bytes;
  if (config_.write_through) {
    const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (::fallocate(image_, hole, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) {
      return;
    }
    const std::vector<std::uint8_t> zeros(std::min(bytes, piece_size));
    for (std::uint64_t piece; offset < end; offset += piece) {
      piece = std::min(end - offset, piece_size);
      write_image(offset, piece, zeros.data());
    }
    return;
  }
  const std::array<std::uint8_t, 2 * page_size> zeros{};  // for less than two pages
  const std::uint64_t first = (offset + page_size - 1) / page_size * page_size;
  // What is behind the end of the disk belongs to no block.
  const std::uint64_t last =
      end == size_ ? (end + page_size - 1) / page_size * page_size : end / page_size * page_size;
  if (first >= last) return write_durable(offset, bytes, zeros.data());
  if (first > offset) write_durable(offset, first - offset, zeros.data());
  if (last < end) write_durable(last, end - last, zeros.data());
  overlay_.clear(first / page_size, last / page_size);
}

// The next functions add the cache.

void Disk::read(std::uint64_t block, std::uint64_t count, std::uint8_t* into) const {
  const std::uint64_t bytes = config_.block_size;
  read_durable(block * bytes, count * bytes, into);
  if (cache_.empty()) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto found = cache_.find(block + i);
    if (found != cache_.end()) std::memcpy(into + i * bytes, found->second.data.data(), bytes);
  }
}

void Disk::write(std::uint64_t block, std::uint64_t count, const std::uint8_t* from) {
  write_durable(block * config_.block_size, count * config_.block_size, from);
  forget(block, count);
}

std::uint64_t Disk::write_volatile(std::uint64_t block, std::uint64_t count,
                                   const std::uint8_t* from) {
  const std::uint64_t bytes = config_.block_size;
  std::uint64_t written = 0;
  for (std::uint64_t i = 0; i < count; ++i, from += bytes) {
    const auto [entry, is_new] = cache_.try_emplace(block + i);
    entry->second.data.assign(from, from + bytes);
    if (!is_new) continue;
    entry->second.age = next_age_;
    ages_.emplace(next_age_++, block + i);
    while (volatile_bytes() > config_.cache) {
      write_back(ages_.begin()->second);
      written += bytes;
    }
  }
  return written;
}

void Disk::clear(std::uint64_t block, std::uint64_t count) {
  zero_durable(block * config_.block_size, count * config_.block_size);
  forget(block, count);
}

std::uint64_t Disk::flush(std::uint64_t block, std::uint64_t count) {
  std::uint64_t written = 0;
  for (std::uint64_t at = block; at < block + count; ++at) {
    if (cache_.count(at) == 0) continue;
    write_back(at);
    written += config_.block_size;
  }
  return written;
}

std::uint64_t Disk::flush() {
  const std::uint64_t written = volatile_bytes();
  while (!ages_.empty()) write_back(ages_.begin()->second);
  return written;
}

std::uint64_t Disk::lose_power(std::mt19937_64& random) {
  std::uint64_t lost = 0;
  while (!ages_.empty()) {
    const std::uint64_t block = ages_.begin()->second;
    bool kept = random() & 1;
    try {
      if (kept) write_back(block);
    } catch (const std::runtime_error&) {  // MediaError or SpillError
      kept = false;
    }
    if (kept) continue;
    forget(block, 1);
    ++lost;
  }
  return lost;
}

void Disk::forget(std::uint64_t block, std::uint64_t count) {
  if (count > cache_.size()) {  // a large range, as when a disk is trimmed
    for (auto entry = cache_.begin(); entry != cache_.end();) {
      const bool inside = entry->first >= block && entry->first - block < count;
      if (inside) ages_.erase(entry->second.age);
      entry = inside ? cache_.erase(entry) : std::next(entry);
    }
    return;
  }
  for (std::uint64_t at = block; at < block + count; ++at) {
    const auto entry = cache_.find(at);
    if (entry == cache_.end()) continue;
    ages_.erase(entry->second.age);
    cache_.erase(entry);
  }
}

void Disk::write_back(std::uint64_t block) {
  write_durable(block * config_.block_size, config_.block_size, cache_.at(block).data.data());
  forget(block, 1);
  ++written_back_;
}

// The pieces of an export that may hold something else than zeros, by their numbers. A blank disk
// of terabytes must not take hours.
std::set<std::uint64_t> Disk::pieces_with_data() const {
  std::set<std::uint64_t> pieces;
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t piece = begin / piece_size; piece * piece_size < end; ++piece) {
      pieces.insert(pieces.end(), piece);
    }
  };
  const off_t size = static_cast<off_t>(size_);
  for (off_t begin = 0; image_ >= 0 && begin < size;) {
    begin = ::lseek(image_, begin, SEEK_DATA);
    if (begin < 0 && errno == ENXIO) break;  // a hole up to the end
    off_t end = begin < 0 ? -1 : ::lseek(image_, begin, SEEK_HOLE);
    if (end < 0) {  // the file system does not tell
      begin = 0;
      end = size;
    }
    add(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(std::min(end, size)));
    begin = end;
  }
  overlay_.each([&](std::uint64_t page) { add(page * page_size, page * page_size + 1); });
  for (const auto& [block, cached] : cache_) {
    add(block * config_.block_size, block * config_.block_size + 1);
  }
  return pieces;
}

void Disk::write_to(int file) const {
  const auto fail = [] {
    throw MediaError(
        fmt::format("the contents of the disk cannot be written: {}", std::strerror(errno)));
  };
  if (::ftruncate(file, static_cast<off_t>(size_)) != 0) fail();
  std::vector<std::uint8_t> piece(piece_size);
  for (const std::uint64_t number : pieces_with_data()) {
    const std::uint64_t offset = number * piece_size;
    const std::uint64_t bytes = std::min(piece_size, size_ - offset);
    read(offset / config_.block_size, bytes / config_.block_size, piece.data());
    if (!is_zero(piece, bytes) && !write_all(file, piece.data(), bytes, offset)) fail();
  }
}

}  // namespace nvme
