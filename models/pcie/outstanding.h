// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "models/pcie/atomic.h"
#include "models/pcie/tlp.h"
#include "vp/time/time.h"

namespace pcie {

/// The non-posted requests of one requester that wait for completions, by tag; `Owner` is what the
/// requester remembers of each.
///
/// Tags are given round robin, so that a completion that comes after its timeout meets its own tag
/// unused rather than another request.
template <typename Owner>
class Outstanding {
 public:
  static constexpr unsigned most = 256;

  struct Request {
    bool busy = false;
    bool data = false;          ///< waits for data, not only for a status
    std::uint64_t address = 0;  ///< of the first byte; its low 7 bits are checked
    unsigned bytes = 0;         ///< expected
    unsigned received = 0;
    std::uint8_t* into = nullptr;  ///< where they go; nullptr drops them
    Status status = Status::success;
    bool timed_out = false;
    vp::Picoseconds deadline = vp::never;
    Owner owner{};
  };

  unsigned count() const { return count_; }
  bool available(unsigned limit) const { return count_ < limit && find(limit) < limit; }

  /// Takes a tag below `limit` for `request`, whose header it completes. Needs available(limit).
  /// `into` takes the bytes that completions bring, from the first to the last enabled one.
  Request& start(Tlp& request, unsigned limit, std::uint8_t* into) {
    const unsigned tag = find(limit);
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

  /// Takes a completion. `finished` is the request that it was the last of, to be released by its
  /// owner; `expected` is false if it belongs to no request, and was dropped.
  struct Outcome {
    Request* finished;
    bool expected;
  };
  Outcome complete(const Tlp& completion) {
    const TlpHeader& header = completion.header;
    if (header.tag >= most || !requests_[header.tag].busy) return {nullptr, false};
    Request& request = requests_[header.tag];
    if (header.type == TlpType::Cpl) {
      // Success without the data that was asked for is malformed; the timeout settles it.
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

  /// Calls act(Request&) for each.
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
  /// A request whose deadline has come, or nullptr.
  Request* expired(vp::Picoseconds present) {
    for (Request& request : requests_) {
      if (request.busy && request.deadline <= present) return &request;
    }
    return nullptr;
  }

 private:
  // The first free tag below `limit` from next_ on, around; `limit` if there is none.
  unsigned find(unsigned limit) const {
    const unsigned start = next_ < limit ? next_ : 0;
    for (unsigned i = 0; i < limit; ++i) {
      const unsigned tag = start + i < limit ? start + i : start + i - limit;
      if (!(used_[tag / 64] >> tag % 64 & 1)) return tag;
    }
    return limit;
  }

  std::array<Request, most> requests_;
  std::array<std::uint64_t, most / 64> used_{};
  unsigned count_ = 0;
  unsigned next_ = 0;
};

}  // namespace pcie
