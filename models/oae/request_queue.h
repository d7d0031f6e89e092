// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tlm>

#include "vp/ring.h"
#include "vp/time/time.h"

namespace oae {

/// A request of the host on its way to the pins of the block.
struct Request {
  tlm::tlm_generic_payload* payload;  // of a read, or of a write that has to wait
  vp::Picoseconds arrival;
  bool write;
  bool reset;  // a reset of the function, not an access
  unsigned line;
  unsigned at;  // first byte within the line
  std::uint64_t enable;
  std::uint8_t data[64];
  std::uint8_t bar;
  std::uint8_t traffic_class;

  bool is_read() const { return !write && !reset; }
};

/// The requests in the order of their arrival.
class RequestQueue {
 public:
  static constexpr unsigned max_writes = 32;
  static constexpr std::size_t none = ~std::size_t{0};

  bool empty() const { return requests_.empty(); }
  std::size_t size() const { return requests_.size(); }
  bool has_room() const { return writes_ < max_writes; }

  void push(const Request& request) {
    writes_ += request.write;
    requests_.push(request);
  }

  /// Returns the place of the request that is next, or `none`. While reads wait for a DMA write of
  /// the block, writes pass them: accepting a write must not depend on the transmission of another
  /// (PCI Express Base Specification 6.0, 2.4.1). Resets pass no request, and no request passes a
  /// reset.
  std::size_t next(bool reads_wait) const {
    std::size_t place = 0;
    while (reads_wait && place < requests_.size() && requests_[place].is_read()) ++place;
    if (place == requests_.size() || (place > 0 && requests_[place].reset)) return none;
    return place;
  }
  const Request& operator[](std::size_t place) const { return requests_[place]; }

  Request remove(std::size_t place) {
    const Request request = requests_.remove(place);
    writes_ -= request.write;
    return request;
  }

 private:
  vp::Ring<Request> requests_;
  unsigned writes_ = 0;
};

}  // namespace oae
