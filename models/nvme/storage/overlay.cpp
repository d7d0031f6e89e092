// SPDX-License-Identifier: Apache-2.0
#include "models/nvme/storage/overlay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

namespace nvme {
namespace {

// How often this process or one that it descends from was forked. Parent and child both count.
std::uint64_t forks = 0;

void count_forks() {
  static const bool counting = [] {
    ::pthread_atfork(
        nullptr, [] { ++forks; }, [] { ++forks; });
    return true;
  }();
  static_cast<void>(counting);
}

bool is_zero(const std::uint8_t* page) {
  return page[0] == 0 && std::memcmp(page, page + 1, Overlay::page_size - 1) == 0;
}

// Opens a file without a name in `folder`. Returns -1 if that is impossible.
int open_unnamed(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder + "/nvme-XXXXXX";  // the file system has no O_TMPFILE
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

Overlay::Overlay(std::uint64_t most_in_memory, std::string folder)
    : most_pages_(most_in_memory / page_size),
      folder_(folder.empty() ? std::filesystem::temp_directory_path().string() : std::move(folder)),
      forks_(forks) {
  count_forks();
}

Overlay::~Overlay() {
  for (const File& file : files_) ::close(file.descriptor);
}

void Overlay::fail(const std::string& what) const {
  throw SpillError(
      fmt::format("a temporary file of a disk in the folder '{}' {}: {}; free space there, name "
                  "another folder, or allow the disk more memory",
                  folder_, what, std::strerror(errno)));
}

bool Overlay::read(std::uint64_t page, std::uint8_t* into) const {
  const auto found = places_.find(page);
  if (found == places_.end()) {
    if (!is_clear(page)) return false;
    std::memset(into, 0, page_size);
    return true;
  }
  const Place& place = found->second;
  if (place.file == 0) {
    std::memcpy(into, memory_[place.slot]->data(), page_size);
    return true;
  }
  const auto offset = static_cast<off_t>(place.slot * page_size);
  const ssize_t done = ::pread(files_[place.file - 1].descriptor, into, page_size, offset);
  if (done != static_cast<ssize_t>(page_size)) fail("cannot be read");
  return true;
}

void Overlay::write(std::uint64_t page, const std::uint8_t* from) {
  if (is_zero(from)) return clear(page, page + 1);
  const auto found = places_.find(page);
  const bool reusable =
      found != places_.end() &&
      (found->second.file == 0 || (found->second.file == files_.size() && forks_ == forks));
  const Place place = reusable ? found->second : allocate();
  if (place.file == 0) {
    std::memcpy(memory_[place.slot]->data(), from, page_size);
  } else {
    const auto offset = static_cast<off_t>(place.slot * page_size);
    const ssize_t done = ::pwrite(files_[place.file - 1].descriptor, from, page_size, offset);
    if (done != static_cast<ssize_t>(page_size)) {
      if (done >= 0) errno = ENOSPC;
      if (!reusable) files_.back().free.push_back(place.slot);
      fail("cannot be written");
    }
    ++spilled_;
  }
  places_[page] = place;
}

void Overlay::clear(std::uint64_t first, std::uint64_t end) {
  if (first >= end) return;
  if (end - first <= places_.size()) {
    for (std::uint64_t page = first; page < end; ++page) drop(page);
  } else {
    std::vector<std::uint64_t> inside;
    for (const auto& [page, place] : places_) {
      if (page >= first && page < end) inside.push_back(page);
    }
    std::sort(inside.begin(), inside.end());
    for (const std::uint64_t page : inside) drop(page);
  }
  // The new range absorbs those that it touches.
  auto range = cleared_.upper_bound(first);
  if (range != cleared_.begin() && std::prev(range)->second >= first) --range;
  while (range != cleared_.end() && range->first <= end) {
    first = std::min(first, range->first);
    end = std::max(end, range->second);
    range = cleared_.erase(range);
  }
  cleared_[first] = end;
}

bool Overlay::is_clear(std::uint64_t page) const {
  const auto after = cleared_.upper_bound(page);
  return after != cleared_.begin() && page < std::prev(after)->second;
}

void Overlay::drop(std::uint64_t page) {
  const auto found = places_.find(page);
  if (found == places_.end()) return;
  const Place place = found->second;
  places_.erase(found);
  if (place.file == 0) {
    free_.push_back(place.slot);
  } else if (place.file == files_.size() && forks_ == forks) {
    files_.back().free.push_back(place.slot);
  }
}

Overlay::Place Overlay::allocate() {
  if (free_.empty() && memory_.size() < most_pages_) {
    memory_.push_back(std::make_unique<Page>());
    return {0, memory_.size() - 1};
  }
  if (!free_.empty()) {
    const std::uint64_t slot = free_.back();
    free_.pop_back();
    return {0, slot};
  }
  File& file = writable_file();
  std::uint64_t slot = file.slots;
  if (file.free.empty()) {
    ++file.slots;
  } else {
    slot = file.free.back();
    file.free.pop_back();
  }
  return {static_cast<std::uint32_t>(files_.size()), slot};
}

Overlay::File& Overlay::writable_file() {
  if (files_.empty() || forks_ != forks) {
    const int descriptor = open_unnamed(folder_);
    if (descriptor < 0) fail("cannot be made");
    files_.push_back({descriptor, 0, {}});
    forks_ = forks;
  }
  return files_.back();
}

}  // namespace nvme
