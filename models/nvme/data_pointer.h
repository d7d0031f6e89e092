// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nvme {

/// Finds the host memory of a command's data by its PRP entries and PRP lists (NVMe 1.4, 4.3).
///
/// The owner reads the parts of lists that are asked for, so this class moves no data.
class DataPointer {
 public:
  static constexpr unsigned entry_bytes = 8;
  static constexpr unsigned most_list_bytes = 4096;  ///< of one request

  /// A run of host memory inside a page.
  struct Segment {
    std::uint64_t address;
    unsigned bytes;
  };
  enum class Next {
    complete,  ///< segments() holds all of the data
    list,      ///< add() expects the `list_bytes()` bytes at `list_address()`
    invalid,   ///< an entry has an offset that it must not have: PRP Offset Invalid
  };

  /// `bytes` of data, at least 1. `page` is CC.MPS in bytes.
  Next start(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t bytes, unsigned page) {
    segments_.clear();
    page_ = page;
    left_ = bytes;
    if (prp1 % 4 != 0) return Next::invalid;
    take(prp1);
    if (left_ == 0) return Next::complete;
    if (left_ <= page_) return add_page(prp2) ? Next::complete : Next::invalid;
    if (prp2 % entry_bytes != 0) return Next::invalid;
    list_ = prp2;
    return Next::list;
  }

  std::uint64_t list_address() const { return list_; }
  /// A multiple of 8, which crosses no multiple of the page size.
  unsigned list_bytes() const {
    const std::uint64_t entries = std::min<std::uint64_t>((left_ + page_ - 1) / page_, room());
    return static_cast<unsigned>(std::min<std::uint64_t>(entries * entry_bytes, most_list_bytes));
  }

  /// Takes the entries for which the last answer has asked. The last entry of a page leads to
  /// another list if more than one entry is still to come.
  Next add(const std::uint8_t* list) {
    const unsigned entries = list_bytes() / entry_bytes;
    const bool to_page_end = entries == room();
    for (unsigned i = 0; i < entries; ++i) {
      std::uint64_t entry;
      std::memcpy(&entry, list + i * entry_bytes, entry_bytes);
      if (to_page_end && i + 1 == entries && left_ > page_) {
        if (entry % page_ != 0) return Next::invalid;
        list_ = entry;
        return Next::list;
      }
      if (!add_page(entry)) return Next::invalid;
    }
    list_ += entries * entry_bytes;
    return left_ == 0 ? Next::complete : Next::list;
  }

  const std::vector<Segment>& segments() const { return segments_; }

 private:
  // The entries from list_ to the end of its page.
  unsigned room() const { return static_cast<unsigned>((page_ - list_ % page_) / entry_bytes); }
  void take(std::uint64_t address) {
    const auto bytes =
        static_cast<unsigned>(std::min<std::uint64_t>(left_, page_ - address % page_));
    segments_.push_back({address, bytes});
    left_ -= bytes;
  }
  bool add_page(std::uint64_t address) {
    if (address % page_ != 0) return false;
    take(address);
    return true;
  }

  unsigned page_ = 0;
  std::uint64_t left_ = 0;  // bytes without a segment
  std::uint64_t list_ = 0;  // the next entry
  std::vector<Segment> segments_;
};

}  // namespace nvme
