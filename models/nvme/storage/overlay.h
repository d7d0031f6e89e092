// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace nvme {

/// The temporary file of an overlay cannot be made, or cannot take or give a page. The text names
/// the folder and a remedy.
struct SpillError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The pages of a disk that differ from its image.
///
/// A page of zeros costs no memory. Beyond `most_in_memory` bytes, pages go to a temporary file
/// without a name, which ends with the process. After a fork, parent and child share the files that
/// exist, so that neither writes to them any more: each continues in a file of its own. A page that
/// one of them writes therefore never changes for the other.
class Overlay {
 public:
  static constexpr unsigned page_size = 4096;  ///< bytes
  using Page = std::array<std::uint8_t, page_size>;

  /// `folder` holds the temporary files; the system's temporary folder if it is empty.
  Overlay(std::uint64_t most_in_memory, std::string folder);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  /// Returns false if the page is that of the image. Throws SpillError.
  bool read(std::uint64_t page, std::uint8_t* into) const;
  /// Throws SpillError; the page then is as before.
  void write(std::uint64_t page, const std::uint8_t* from);
  /// Makes the pages from `first` to `end` - 1 zeros.
  void clear(std::uint64_t first, std::uint64_t end);

  /// Calls `visit` for each page that is neither that of the image nor zeros, in no order.
  template <typename Visit>
  void each(Visit visit) const {
    for (const auto& [page, place] : places_) visit(page);
  }

  std::uint64_t bytes_in_memory() const { return (memory_.size() - free_.size()) * page_size; }
  /// Pages that have been written to a temporary file.
  const std::uint64_t& spilled() const { return spilled_; }

 private:
  // Where a page is: in memory, or in file number `file` - 1.
  struct Place {
    std::uint32_t file;
    std::uint64_t slot;
  };
  struct File {
    int descriptor;
    std::uint64_t slots;              // in use or free
    std::vector<std::uint64_t> free;  // slots to use again
  };

  bool is_clear(std::uint64_t page) const;
  void drop(std::uint64_t page);
  Place allocate();
  File& writable_file();
  [[noreturn]] void fail(const std::string& what) const;

  const std::uint64_t most_pages_;
  const std::string folder_;
  std::unordered_map<std::uint64_t, Place> places_;
  std::map<std::uint64_t, std::uint64_t> cleared_;  // ranges of pages of zeros: first, end
  std::vector<std::unique_ptr<Page>> memory_;
  std::vector<std::uint64_t> free_;  // pages of memory_ to use again
  std::vector<File> files_;          // only the last one may be written
  std::uint64_t forks_;              // how often the process had been forked when that was made
  std::uint64_t spilled_ = 0;
};

}  // namespace nvme
