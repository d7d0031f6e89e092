// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/relay/cell.h"

#include "oae_registers.h"
#include "tests/rtl/coverage.h"

namespace relay {
namespace {

// The pins of one end, whose names begin with `wire` and, those of its registers, with `bus`
#define PINS(side, top, wire, bus)           \
  (side).carrier_o = &(top).wire##carrier_o; \
  (side).kind_o = &(top).wire##kind_o;       \
  (side).data_o = (top).wire##data_o.data(); \
  (side).carrier_i = &(top).wire##carrier_i; \
  (side).kind_i = &(top).wire##kind_i;       \
  (side).data_i = (top).wire##data_i.data(); \
  (side).awvalid = &(top).bus##awvalid_i;    \
  (side).awready = &(top).bus##awready_o;    \
  (side).awaddr = &(top).bus##awaddr_i;      \
  (side).wvalid = &(top).bus##wvalid_i;      \
  (side).wdata = &(top).bus##wdata_i;        \
  (side).wstrb = &(top).bus##wstrb_i;        \
  (side).bvalid = &(top).bus##bvalid_o;      \
  (side).bready = &(top).bus##bready_i;      \
  (side).bresp = &(top).bus##bresp_o;        \
  (side).arvalid = &(top).bus##arvalid_i;    \
  (side).arready = &(top).bus##arready_o;    \
  (side).araddr = &(top).bus##araddr_i;      \
  (side).rvalid = &(top).bus##rvalid_o;      \
  (side).rready = &(top).bus##rready_i;      \
  (side).rdata = &(top).bus##rdata_o;        \
  (side).rresp = &(top).bus##rresp_o;        \
  (side).phase = &(top).wire##phase_o;       \
  (side).numbers_sent = &(top).wire##sent_o; \
  (side).settled = &(top).wire##settled_o;   \
  (side).expected = &(top).wire##expected_o; \
  (side).done = &(top).wire##done_o

template <typename Top>
void tick(Top& top, std::uint64_t now) {
  top.now_i = static_cast<std::uint32_t>(now);
  top.clk_i = 0;
  top.eval();
}

}  // namespace

OuterCell::OuterCell(std::uint64_t now, bool first) : first_(first) {
  PINS(side(), top_, , axi_);
  top_.rst_i = 1;
  settle(now);
  rise();
  top_.rst_i = 0;
}

// Verilator's destructors use the context of the thread, which may belong to another cell.
OuterCell::~OuterCell() {
  write_coverage(context);
  top_.final();
  Verilated::threadContextp(&context);
}

void OuterCell::settle(std::uint64_t now) {
  side().settle();
  tick(top_, now);
}

void OuterCell::rise() {
  side().sample();
  top_.clk_i = 1;
  top_.eval();
  side().rise();
}

MiddleCell::MiddleCell(std::uint64_t now) {
  PINS(left, top_, left_, left_);
  PINS(right, top_, right_, right_);
  top_.rst_i = 1;
  settle(now);
  rise();
  top_.rst_i = 0;
}

MiddleCell::~MiddleCell() {
  write_coverage(context);
  top_.final();
  Verilated::threadContextp(&context);
}

void MiddleCell::settle(std::uint64_t now) {
  left.settle();
  right.settle();
  tick(top_, now);
  sleeps_ = may_sleep(now);
  left_carrier_ = top_.left_carrier_i;
  right_carrier_ = top_.right_carrier_i;
}

// What rtl/link/oae_link_end.sv says of the clock holds for both ends.
bool MiddleCell::may_sleep(std::uint64_t now) const {
  const auto waits_for =
      static_cast<std::int32_t>(top_.deadline_o - static_cast<std::uint32_t>(now));
  const bool late = top_.deadline_valid_o && waits_for <= 0;
  const bool wires_idle =
      top_.left_kind_i == OAE_WIRE_KIND_IDLE && top_.left_kind_o == OAE_WIRE_KIND_IDLE &&
      top_.right_kind_i == OAE_WIRE_KIND_IDLE && top_.right_kind_o == OAE_WIRE_KIND_IDLE;
  return !top_.rst_i && !top_.busy_o && !late && wires_idle && left.idle() && right.idle() &&
         top_.left_carrier_i == left_carrier_ && top_.right_carrier_i == right_carrier_;
}

void MiddleCell::rise() {
  if (sleeps_) return;
  left.sample();
  right.sample();
  top_.clk_i = 1;
  top_.eval();
  left.rise();
  right.rise();
}

}  // namespace relay
