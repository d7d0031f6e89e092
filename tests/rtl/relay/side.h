// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verilated.h>

#include <cstdint>
#include <deque>
#include <functional>

#include "tests/rtl/link/wire.h"

namespace relay {

/// The pins of one end of a link, wherever it is: alone at an end of a chain, or one of the two in
/// a middle cell. Beside them, a firmware that accesses its registers.
class Side {
 public:
  using Done = std::function<void(std::uint64_t)>;

  /// The firmware's accesses, one after the other
  void post_put(unsigned address, std::uint64_t data) {
    accesses_.push_back({address, data, true, {}});
  }
  void post_get(unsigned address, Done done) {
    accesses_.push_back({address, 0, false, std::move(done)});
  }
  bool idle() const { return accesses_.empty(); }

  /// Before and after the rising edge of the clock
  void settle();
  void sample();
  void rise();

  bool carrier() const { return *carrier_o; }
  window::Group sent() const;
  void receive(const window::Group& group, bool carrier);

  CData *carrier_o, *kind_o, *carrier_i, *kind_i;
  WData *data_o, *data_i;
  CData *awvalid, *awready, *wvalid, *wstrb, *bvalid, *bready, *bresp, *arvalid, *arready, *rvalid,
      *rready, *rresp;
  IData *awaddr, *araddr;
  QData *wdata, *rdata;
  CData* phase;
  IData *numbers_sent, *settled, *expected, *done;

 private:
  struct Access {
    unsigned address;
    std::uint64_t data;
    bool write;
    Done done;
  };

  std::deque<Access> accesses_;
  bool waits_ = false;  // the first access waits for its response
  bool taken_ = false;
  bool responded_ = false;
  std::uint64_t result_ = 0;
};

}  // namespace relay
