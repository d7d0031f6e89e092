// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "models/pcie/protocol/atomic.h"
#include "models/pcie/protocol/tlp.h"
#include "vp/time/time.h"

namespace pcie {

/// The tags that a requester may use: `first` to `end` - 1.
struct TagRange {
  unsigned first;
  unsigned end;
  unsigned size() const { return end - first; }
};
/// The upper two of the ten bits are never both 0, so that a component which truncates the tag is
/// noticed (2.2.6.2).
inline constexpr TagRange ten_bit_tags{256, 1024};

/// The non-posted requests of one requester that wait for completions, indexed by tag. `Owner` is
/// what the requester stores for each request.
///
/// Tags are used round robin. A completion that arrives after its timeout therefore finds its tag
/// unused, and does not reach another request.
template <typename Owner>
class Outstanding {
 public:
  /// Serves tags below `tags`.
  explicit Outstanding(unsigned tags = 256) : requests_(tags), used_((tags + 63) / 64) {}

  struct Request {
    bool busy = false;
    bool data = false;  ///< whether it waits for data rather than for a status alone
    std::uint64_t address =
        0;               ///< address of the first byte; completions must match its low 7 bits
    unsigned bytes = 0;  ///< bytes that completions must bring
    unsigned received = 0;
    std::uint8_t* into = nullptr;  ///< destination of the data; nullptr drops it
    Status status = Status::success;
    bool timed_out = false;
    vp::Picoseconds deadline = vp::never;
    Owner owner{};
  };

  unsigned count() const { return count_; }
  bool available(TagRange range) const { return count_ < range.size() && find(range) < range.end; }

  /// Allocates a tag of `range` for `request` and writes it into the header. available(range) must
  /// hold. Completions store their bytes in `into`, from the first to the last enabled one.
  Request& start(Tlp& request, TagRange range, std::uint8_t* into) {
    const unsigned tag = find(range);
    next_ = tag + 1;
    used_[tag / 64] |= std::uint64_t{1} << tag % 64;
    ++count_;
    request.header.tag = tag;
    Request& entry = requests_[tag];
    entry.busy = true;
    const unsigned operand = operand_bytes(request.header.type, request.payload_bytes());
    entry.data = request.get_command() == tlm::TLM_READ_COMMAND || operand != 0;
    const bool memory = request.header.type == TlpType::MRd;
    entry.address = memory ? request.get_address() + request.first_byte() : 0;
    entry.bytes = memory ? request.span() : operand != 0 ? operand : 4;
    entry.received = 0;
    entry.into = into;
    entry.status = Status::success;
    entry.timed_out = false;
    entry.deadline = vp::never;
    return entry;
  }

  /// Matches a completion. `finished` is the request that it completes, or nullptr; the owner must
  /// release that request. `expected` is false if the completion matches no request and was
  /// dropped.
  struct Outcome {
    Request* finished;
    bool expected;
  };
  Outcome complete(const Tlp& completion) {
    const TlpHeader& header = completion.header;
    if (header.tag >= requests_.size() || !requests_[header.tag].busy) return {nullptr, false};
    Request& request = requests_[header.tag];
    // No error comes with data (2.2.9). If one does, its data are of no use.
    if (header.type == TlpType::Cpl || header.status != Status::success) {
      // Success without the requested data is malformed; the completion timeout ends the request.
      if (header.status == Status::success && request.data) return {nullptr, false};
      request.status = header.status;
      return {&request, true};
    }
    const unsigned offset = (request.address + request.received) & 3;
    const unsigned left = request.bytes - request.received;
    const unsigned lower_address = (request.address + request.received) & 0x7f;
    if (!request.data || header.byte_count != left || header.lower_address != lower_address ||
        header.length == 0 || 4u * header.length > Tlp::max_bytes ||
        4u * header.length >= left + offset + 4) {
      return {nullptr, false};
    }
    if (header.poisoned) request.status = Status::completer_abort;
    const unsigned room = 4u * header.length - offset;
    const unsigned bytes = room < left ? room : left;
    if (request.into != nullptr) {
      std::memcpy(request.into + request.received, completion.data() + offset, bytes);
    }
    request.received += bytes;
    return {request.received == request.bytes ? &request : nullptr, true};
  }

  void release(Request& request) {
    const auto tag = static_cast<unsigned>(&request - requests_.data());
    request.busy = false;
    used_[tag / 64] &= ~(std::uint64_t{1} << tag % 64);
    --count_;
  }

  /// Calls act(Request&) for each outstanding request.
  template <typename Act>
  void each(Act&& act) {
    for (Request& request : requests_) {
      if (request.busy) act(request);
    }
  }

  /// The earliest deadline, or `never`.
  vp::Picoseconds deadline() const {
    vp::Picoseconds earliest = vp::never;
    for (const Request& request : requests_) {
      if (request.busy && request.deadline < earliest) earliest = request.deadline;
    }
    return earliest;
  }
  /// A request whose deadline has passed, or nullptr.
  Request* expired(vp::Picoseconds present) {
    for (Request& request : requests_) {
      if (request.busy && request.deadline <= present) return &request;
    }
    return nullptr;
  }

 private:
  // The first free tag of `range` from next_ on, cyclically, or the range's end.
  unsigned find(TagRange range) const {
    const unsigned start = range.first <= next_ && next_ < range.end ? next_ : range.first;
    const unsigned above = find(start, range.end);
    if (above < range.end) return above;
    const unsigned below = find(range.first, start);
    return below < start ? below : range.end;
  }
  // The first free tag from `tag` on, or `end`.
  unsigned find(unsigned tag, unsigned end) const {
    while (tag < end) {
      const std::uint64_t unused = ~used_[tag / 64] >> tag % 64;
      if (unused != 0) return std::min(end, tag + __builtin_ctzll(unused));
      tag = (tag / 64 + 1) * 64;
    }
    return end;
  }

  std::vector<Request> requests_;  // by tag
  std::vector<std::uint64_t> used_;
  unsigned count_ = 0;
  unsigned next_ = 0;
};

}  // namespace pcie
