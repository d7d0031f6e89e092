// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/bridge/cell.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "oae_registers.h"
#include "tests/rtl/coverage.h"

namespace bridge {

Cell::Cell(std::uint64_t now) {
  WINDOW_SIDE_PINS(left, top, left_, left_);
  WINDOW_SIDE_PINS(right, top, right_, right_);
  top.ports_i = BRIDGE_PORTS;
  top.clock_khz_i = 781'250;
  top.completion_ready_i = 1;
  top.interrupt_ready_i = 1;
  top.block_bready_i = top.block_rready_i = 1;
  top.rst_i = 1;
  for (unsigned i = 0; i < 2; ++i) {
    settle(now);
    rise();
  }
  top.rst_i = 0;
}

// Verilator's destructors use the context of the thread, which may belong to the other cell.
Cell::~Cell() {
  write_coverage(context);
  top.final();
  Verilated::threadContextp(&context);
}

void Cell::post_write(unsigned bar, unsigned address, const void* data, unsigned bytes) {
  Request request{true, bar, address / 64, {}, 0, {}, false};
  std::memcpy(reinterpret_cast<char*>(request.data.data()) + address % 64, data, bytes);
  for (unsigned i = 0; i < bytes; ++i) request.enable |= std::uint64_t{1} << (address % 64 + i);
  requests_.push_back(std::move(request));
}

void Cell::post_reset() {
  requests_.push_back({true, 0, 0, {}, 0, {}, true});
}

void Cell::post_read(unsigned bar, unsigned address, Line done) {
  requests_.push_back({false, bar, address / 64, {}, ~std::uint64_t{0}, std::move(done), false});
}

void Cell::post_put(Of of, unsigned address, std::uint64_t data) {
  if (of == Of::block) {
    block_.accesses.push_back({true, address, data, {}});
  } else {
    side(of).post_put(address, data);
  }
}

void Cell::post_get(Of of, unsigned address, Done done) {
  if (of == Of::block) {
    block_.accesses.push_back({false, address, 0, std::move(done)});
  } else {
    side(of).post_get(address, std::move(done));
  }
}

bool Cell::idle() const {
  return requests_.empty() && reads_.empty() && block_.accesses.empty() && left.idle() &&
         right.idle();
}

void Cell::settle(std::uint64_t now) {
  top.now_i = now;
  top.request_valid_i = !requests_.empty();
  if (!requests_.empty()) {
    const Request& request = requests_.front();
    top.request_write_i = request.write;
    top.request_reset_i = request.reset;
    top.request_bar_i = request.bar;
    top.request_line_i = request.line;
    std::memcpy(top.request_data_i.data(), request.data.data(), 64);
    top.request_enable_i = request.enable;
  }
  drive_registers();
  left.settle();
  right.settle();
  top.clk_i = 0;
  top.eval();
  const bool late = top.deadline_valid_o && now >= top.deadline_o;
  sleeps_ = !top.rst_i && !top.busy_o && !top.interrupt_valid_o && idle() && wires_rest() && !late;
  left_carrier_ = top.left_carrier_i;
  right_carrier_ = top.right_carrier_i;
}

bool Cell::wires_rest() const {
  constexpr unsigned none = OAE_WIRE_KIND_IDLE;
  return top.left_kind_i == none && top.left_kind_o == none && top.right_kind_i == none &&
         top.right_kind_o == none && top.left_carrier_i == left_carrier_ &&
         top.right_carrier_i == right_carrier_;
}

void Cell::drive_registers() {
  if (!block_.accesses.empty() && !block_.taken) {
    const Access& access = block_.accesses.front();
    top.block_awvalid_i = top.block_wvalid_i = access.write;
    top.block_arvalid_i = !access.write;
    top.block_awaddr_i = top.block_araddr_i = access.address;
    top.block_wdata_i = access.data;
    top.block_wstrb_i = 0xff;
  }
}

void Cell::rise() {
  if (sleeps_) return;
  const bool accepted = top.request_valid_i && top.request_ready_o;
  const bool completed = top.completion_valid_o;
  Slot line;
  std::memcpy(line.data(), top.completion_data_o.data(), 64);
  const bool block_taken =
      (top.block_awvalid_i && top.block_awready_o) || (top.block_arvalid_i && top.block_arready_o);
  const bool block_responded = top.block_bvalid_o || top.block_rvalid_o;
  if (top.interrupt_valid_o) ++interrupts;
  const std::uint64_t block_result = top.block_rdata_o;
  left.sample();
  right.sample();
  top.clk_i = 1;
  top.eval();
  if (accepted) {
    if (!requests_.front().write) reads_.push_back(std::move(requests_.front().done));
    requests_.pop_front();
  }
  if (completed) {
    ASSERT_FALSE(reads_.empty()) << "a completion of no read";
    const Line done = std::move(reads_.front());
    reads_.pop_front();
    done(line);
  }
  if (block_taken) {
    block_.taken = true;
    top.block_awvalid_i = top.block_wvalid_i = top.block_arvalid_i = 0;
  }
  if (block_responded) {
    ASSERT_FALSE(block_.accesses.empty()) << "a response to no access";
    block_.taken = false;
    const Done done = std::move(block_.accesses.front().done);
    block_.accesses.pop_front();
    if (done) done(block_result);
  }
  left.rise();
  right.rise();
}

}  // namespace bridge
