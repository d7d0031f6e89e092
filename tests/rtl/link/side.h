// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <verilated.h>

#include <cstdint>
#include <deque>
#include <functional>

#include "tests/rtl/link/wire.h"

namespace window {

/// The pins of one end of a link, wherever it is: alone at an end of a chain, or one of two in a
/// cell. Beside them, a firmware that accesses its registers.
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
  Group sent() const;
  void receive(const Group& group, bool carrier);

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

}  // namespace window

// The pins of one end, whose names begin with `wire` and, those of its registers, with `bus`
#define WINDOW_SIDE_PINS(side, top, wire, bus) \
  (side).carrier_o = &(top).wire##carrier_o;   \
  (side).kind_o = &(top).wire##kind_o;         \
  (side).data_o = (top).wire##data_o.data();   \
  (side).carrier_i = &(top).wire##carrier_i;   \
  (side).kind_i = &(top).wire##kind_i;         \
  (side).data_i = (top).wire##data_i.data();   \
  (side).awvalid = &(top).bus##awvalid_i;      \
  (side).awready = &(top).bus##awready_o;      \
  (side).awaddr = &(top).bus##awaddr_i;        \
  (side).wvalid = &(top).bus##wvalid_i;        \
  (side).wdata = &(top).bus##wdata_i;          \
  (side).wstrb = &(top).bus##wstrb_i;          \
  (side).bvalid = &(top).bus##bvalid_o;        \
  (side).bready = &(top).bus##bready_i;        \
  (side).bresp = &(top).bus##bresp_o;          \
  (side).arvalid = &(top).bus##arvalid_i;      \
  (side).arready = &(top).bus##arready_o;      \
  (side).araddr = &(top).bus##araddr_i;        \
  (side).rvalid = &(top).bus##rvalid_o;        \
  (side).rready = &(top).bus##rready_i;        \
  (side).rdata = &(top).bus##rdata_o;          \
  (side).rresp = &(top).bus##rresp_o;          \
  (side).phase = &(top).wire##phase_o;         \
  (side).numbers_sent = &(top).wire##sent_o;   \
  (side).settled = &(top).wire##settled_o;     \
  (side).expected = &(top).wire##expected_o;   \
  (side).done = &(top).wire##done_o
