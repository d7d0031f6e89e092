// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/transfer/ends/end.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "link_table.h"
#include "oae_registers.h"
#include "tests/rtl/coverage.h"

namespace {

namespace table = link_table;

/// Whether an event leads from one state to the other.
template <unsigned states, unsigned events, typename Entry, typename State>
bool leads(const Entry (&entries)[states][events], State from, State to) {
  const auto& row = entries[static_cast<unsigned>(from)];
  return from == to ||
         std::any_of(row, row + events, [to](const Entry& entry) { return entry.next == to; });
}

table::phase::State phase_of(unsigned state) {
  return state == OAE_LINK_STATE_DOWN           ? table::phase::State::down
         : state == OAE_LINK_STATE_INITIALISING ? table::phase::State::initialising
         : state == OAE_LINK_STATE_JOINED       ? table::phase::State::joined
                                                : table::phase::State::idle;
}

table::sender::State sender_of(unsigned state) {
  switch (state) {
    case OAE_LINK_STATE_TENTATIVE:
      return table::sender::State::tentative;
    case OAE_LINK_STATE_COMMITTING:
      return table::sender::State::committing;
    case OAE_LINK_STATE_REVERSING:
      return table::sender::State::reversing;
    case OAE_LINK_STATE_IN_DOUBT:
      return table::sender::State::in_doubt;
    default:
      return table::sender::State::idle;
  }
}

table::receiver::State receiver_of(unsigned state) {
  return state == OAE_LINK_STATE_REFLECTING  ? table::receiver::State::reflecting
         : state == OAE_LINK_STATE_TENTATIVE ? table::receiver::State::tentative
                                             : table::receiver::State::idle;
}

}  // namespace

LinkEnd::LinkEnd() {
  top.tx_ready = 1;
  top.axi_bready = 1;
  top.axi_rready = 1;
  top.reset = 1;
  settle(0);
  rise();
  top.reset = 0;
}

// Verilator's destructors use the context of the thread, which may belong to the other end.
LinkEnd::~LinkEnd() {
  write_coverage(context);
  top.final();
  Verilated::threadContextp(&context);
}

void LinkEnd::post_put(unsigned address, std::uint64_t data, unsigned strobe, Done done) {
  accesses_.push_back({true, address, data, strobe, std::move(done)});
}

void LinkEnd::post_get(unsigned address, Done done) {
  accesses_.push_back({false, address, 0, 0xff, std::move(done)});
}

void LinkEnd::settle(std::uint64_t time) {
  now = time;
  top.now = now;
  if (accesses_.size() > taken_ && (hasty || taken_ == 0)) {
    const Access& access = accesses_[taken_];
    top.axi_awvalid = top.axi_wvalid = access.write;
    top.axi_arvalid = !access.write;
    top.axi_awaddr = top.axi_araddr = access.address;
    top.axi_awprot = top.axi_arprot = access.address >> 3 & 7;  // which the link ignores
    if (access.write) {  // The data of the last write stay on the pins during a read.
      top.axi_wdata = access.data;
      top.axi_wstrb = access.strobe;
    }
  }
  top.clock = 0;
  top.eval();
}

void LinkEnd::rise() {
  const bool taken = (top.axi_awvalid && top.axi_awready) || (top.axi_arvalid && top.axi_arready);
  const bool responded = (top.axi_bvalid && top.axi_bready) || (top.axi_rvalid && top.axi_rready);
  const std::uint64_t result = top.axi_rdata;
  if (responded) error = (top.axi_bvalid ? top.axi_bresp : top.axi_rresp) != 0;
  const States before = states();
  const bool reset = top.reset;
  top.clock = 1;
  top.eval();
  if (!reset) check(before, states());
  if (taken) {
    ++taken_;
    top.axi_awvalid = top.axi_wvalid = top.axi_arvalid = 0;
  }
  if (responded) {
    ASSERT_FALSE(accesses_.empty()) << "a response to no access";
    --taken_;
    const Done done = std::move(accesses_.front().done);
    accesses_.pop_front();
    if (done) done(result);
  }
}

void LinkEnd::check(const States& from, const States& to) {
  EXPECT_TRUE(leads(table::phase::table, phase_of(from.phase), phase_of(to.phase)))
      << "phase " << from.phase << " to " << to.phase;
  EXPECT_TRUE(leads(table::sender::table, sender_of(from.sender), sender_of(to.sender)))
      << "sender " << from.sender << " to " << to.sender;
  EXPECT_TRUE(leads(table::receiver::table, receiver_of(from.receiver), receiver_of(to.receiver)))
      << "receiver " << from.receiver << " to " << to.receiver;
}
