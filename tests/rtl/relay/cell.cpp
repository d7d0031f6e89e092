// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/relay/cell.h"

#include "oae_registers.h"
#include "tests/rtl/coverage.h"

namespace relay {
namespace {

template <typename Top>
void tick(Top& top, std::uint64_t now) {
  top.now_i = static_cast<std::uint32_t>(now);
  top.clk_i = 0;
  top.eval();
}

}  // namespace

OuterCell::OuterCell(std::uint64_t now, bool first) : first_(first) {
  WINDOW_SIDE_PINS(side(), top_, , axi_);
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
  WINDOW_SIDE_PINS(left, top_, left_, left_);
  WINDOW_SIDE_PINS(right, top_, right_, right_);
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
