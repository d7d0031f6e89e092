// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/link/end.h"

#include <gtest/gtest.h>

#include <utility>

#include "oae_registers.h"
#include "tests/rtl/coverage.h"

namespace window {

End::End(std::uint64_t now) {
  top.axi_bready_i = 1;
  top.axi_rready_i = 1;
  top.rst_i = 1;
  settle(now);
  rise();
  top.rst_i = 0;
}

// Verilator's destructors use the context of the thread, which may belong to the other end.
End::~End() {
  write_coverage(context);
  top.final();
  Verilated::threadContextp(&context);
}

void End::post_put(unsigned address, std::uint64_t data, unsigned strobe, Done done) {
  accesses_.push_back({true, address, data, strobe, std::move(done)});
}

void End::post_get(unsigned address, Done done) {
  accesses_.push_back({false, address, 0, 0xff, std::move(done)});
}

void End::settle(std::uint64_t now) {
  top.now_i = static_cast<std::uint32_t>(now);
  if (!accesses_.empty() && !taken_) {
    const Access& access = accesses_.front();
    top.axi_awvalid_i = top.axi_wvalid_i = access.write;
    top.axi_arvalid_i = !access.write;
    top.axi_awaddr_i = top.axi_araddr_i = access.address;
    top.axi_wdata_i = access.data;
    top.axi_wstrb_i = access.strobe;
  }
  top.clk_i = 0;
  top.eval();
  stops_ = sleeps && may_sleep();
  carrier_ = top.carrier_i;
}

// What rtl/link/oae_link_end.sv says of the clock. A response is what keeps it busy.
bool End::may_sleep() const {
  const bool late =
      top.deadline_valid_o && static_cast<std::int32_t>(top.deadline_o - top.now_i) <= 0;
  const bool access = top.axi_awvalid_i || top.axi_wvalid_i || top.axi_arvalid_i;
  return !top.rst_i && !top.busy_o && !late && !access && top.kind_i == OAE_WIRE_KIND_IDLE &&
         top.kind_o == OAE_WIRE_KIND_IDLE && top.carrier_i == carrier_;
}

void End::rise() {
  if (stops_) {
    ++stopped;
    return;
  }
  const bool taken =
      (top.axi_awvalid_i && top.axi_awready_o) || (top.axi_arvalid_i && top.axi_arready_o);
  const bool responded = top.axi_bvalid_o || top.axi_rvalid_o;
  const std::uint64_t result = top.axi_rdata_o;
  if (responded) error = (top.axi_bvalid_o ? top.axi_bresp_o : top.axi_rresp_o) != 0;
  top.clk_i = 1;
  top.eval();
  if (taken) {
    taken_ = true;
    top.axi_awvalid_i = top.axi_wvalid_i = top.axi_arvalid_i = 0;
  }
  if (responded) {
    ASSERT_FALSE(accesses_.empty()) << "a response to no access";
    taken_ = false;
    const Done done = std::move(accesses_.front().done);
    accesses_.pop_front();
    if (done) done(result);
  }
}

Group End::sent() const {
  Group group;
  group.kind = top.kind_o;
  for (unsigned i = 0; i < slices; ++i) {
    group.data[i] = top.data_o[2 * i] | std::uint64_t{top.data_o[2 * i + 1]} << 32;
  }
  return group;
}

void End::receive(const Group& group, bool carrier) {
  top.carrier_i = carrier;
  top.kind_i = group.kind;
  for (unsigned i = 0; i < slices; ++i) {
    top.data_i[2 * i] = static_cast<std::uint32_t>(group.data[i]);
    top.data_i[2 * i + 1] = static_cast<std::uint32_t>(group.data[i] >> 32);
  }
}

}  // namespace window
