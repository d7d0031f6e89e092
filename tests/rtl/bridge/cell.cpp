// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/bridge/cell.h"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>
#include <utility>

#include "tests/rtl/coverage.h"

namespace bridge {

using window::slices;

Cell::Cell(std::uint64_t now) {
  top.ports_i = BRIDGE_PORTS;
  top.clock_khz_i = 781'250;
  top.completion_ready_i = 1;
  top.interrupt_ready_i = 1;
  top.block_bready_i = top.block_rready_i = 1;
  top.link_bready_i = top.link_rready_i = 1;
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
  (of == Of::block ? block_ : link_).accesses.push_back({true, address, data, {}});
}

void Cell::post_get(Of of, unsigned address, Done done) {
  (of == Of::block ? block_ : link_).accesses.push_back({false, address, 0, std::move(done)});
}

bool Cell::idle() const {
  return requests_.empty() && reads_.empty() && block_.accesses.empty() && link_.accesses.empty();
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
  top.clk_i = 0;
  top.eval();
  const bool late = top.deadline_valid_o && now >= top.deadline_o;
  sleeps_ = !top.rst_i && !top.busy_o && !top.interrupt_valid_o && idle() && top.kind_o == 0 &&
            top.kind_i == 0 && top.carrier_i == carrier_ && !late;
  carrier_ = top.carrier_i;
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
  if (!link_.accesses.empty() && !link_.taken) {
    const Access& access = link_.accesses.front();
    top.link_awvalid_i = top.link_wvalid_i = access.write;
    top.link_arvalid_i = !access.write;
    top.link_awaddr_i = top.link_araddr_i = access.address;
    top.link_wdata_i = access.data;
    top.link_wstrb_i = 0xff;
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
  const bool link_taken =
      (top.link_awvalid_i && top.link_awready_o) || (top.link_arvalid_i && top.link_arready_o);
  const bool block_responded = top.block_bvalid_o || top.block_rvalid_o;
  const bool link_responded = top.link_bvalid_o || top.link_rvalid_o;
  if (top.interrupt_valid_o) ++interrupts;
  const std::uint64_t block_result = top.block_rdata_o;
  const std::uint64_t link_result = top.link_rdata_o;
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
  if (link_taken) {
    link_.taken = true;
    top.link_awvalid_i = top.link_wvalid_i = top.link_arvalid_i = 0;
  }
  for (auto [registers, responded, result] : {std::tuple{&block_, block_responded, block_result},
                                              {&link_, link_responded, link_result}}) {
    if (!responded) continue;
    ASSERT_FALSE(registers->accesses.empty()) << "a response to no access";
    registers->taken = false;
    const Done done = std::move(registers->accesses.front().done);
    registers->accesses.pop_front();
    if (done) done(result);
  }
}

Group Cell::sent() const {
  Group group;
  group.kind = top.kind_o;
  for (unsigned i = 0; i < slices; ++i) {
    group.data[i] = top.data_o[2 * i] | std::uint64_t{top.data_o[2 * i + 1]} << 32;
  }
  return group;
}

void Cell::receive(const Group& group, bool carrier) {
  top.carrier_i = carrier;
  top.kind_i = group.kind;
  for (unsigned i = 0; i < slices; ++i) {
    top.data_i[2 * i] = static_cast<std::uint32_t>(group.data[i]);
    top.data_i[2 * i + 1] = static_cast<std::uint32_t>(group.data[i] >> 32);
  }
}

}  // namespace bridge
