// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "models/pcie/protocol/tlp.h"

namespace pcie {

/// How many of `bytes` bytes from `address` fit into one request, which ends at the next multiple
/// of `boundary` at the latest. `boundary` is a power of two up to 4096. With MPS or MRRS as the
/// boundary, the request respects that size in whole DW and never crosses 4 KiB.
inline unsigned request_piece(std::uint64_t address, std::uint64_t bytes, unsigned boundary) {
  const std::uint64_t room = boundary - (address & (boundary - 1));
  return static_cast<unsigned>(std::min(bytes, room));
}

/// How many of `bytes` bytes from `address` fit into one request of at most `most` bytes in whole
/// DW that does not cross 4 KiB (PCIe 5.0, 2.2.7). This is all that PCIe demands of a requester.
inline unsigned longest_request(std::uint64_t address, std::uint64_t bytes, unsigned most) {
  return request_piece(address, std::min<std::uint64_t>(bytes, most - (address & 3)), 4096);
}

/// How a completer divides its data among completions.
struct CompletionSize {
  unsigned max_payload;
  unsigned boundary;           ///< RCB, 64 or 128 bytes
  bool at_boundaries = false;  ///< whether each completion ends at the next multiple of RCB
};

/// How many of `bytes` bytes from `address` one completion carries: those before the next multiple
/// of RCB; or all of them if they fit into the payload, and else those before the last multiple of
/// RCB that does (PCIe 5.0, 2.3.1.1).
inline unsigned completion_piece(std::uint64_t address, unsigned bytes,
                                 const CompletionSize& size) {
  if (size.at_boundaries) return request_piece(address, bytes, size.boundary);
  const unsigned offset = address & 3;
  if (offset + bytes <= size.max_payload) return bytes;
  const std::uint64_t end = (address + size.max_payload) & ~std::uint64_t{size.boundary - 1};
  return static_cast<unsigned>(end - address);
}

/// Answers a memory read. The 4 x length bytes must stand in the request's own data, which a read
/// does not use otherwise. Calls send(TlpPtr) for each completion.
template <typename Send>
void complete_read(const Tlp& request, Id completer, const CompletionSize& size, Send&& send) {
  const unsigned first = request.first_byte();
  const unsigned span = request.span();
  for (unsigned done = 0; done < span;) {
    const std::uint64_t address = request.get_address() + first + done;
    const unsigned bytes = completion_piece(address, span - done, size);
    const unsigned offset = address & 3;
    TlpPtr completion = Tlp::completion(request, completer, Status::success);
    TlpHeader& header = completion->header;
    header.type = TlpType::CplD;
    header.length = (offset + bytes + 3) / 4;
    header.byte_count = span - done;
    header.lower_address = address & 0x7f;
    completion->set_data_length(4u * header.length);
    std::memcpy(completion->data(), request.data() + (first + done - offset), 4u * header.length);
    send(std::move(completion));
    done += bytes;
  }
}

}  // namespace pcie
