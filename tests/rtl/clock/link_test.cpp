// SPDX-License-Identifier: Apache-2.0
// Two ends of a link whose clocks differ, and whose firmwares have slower ones.
#include <Voae_link_clocks.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <utility>

#include "oae_registers.h"
#include "tests/rtl/clock/clocks.h"
#include "tests/rtl/coverage.h"

namespace clocks {
namespace {

constexpr unsigned slices = 2;
constexpr unsigned ring = 128;
constexpr std::uint64_t hold_off = 2u << 13;

struct Group {
  bool carrier = false;
  std::uint8_t kind = 0;
  std::array<std::uint32_t, 2 * slices> data{};
};

/// One end, its firmware, and the wire on which it sends.
class End {
 public:
  End() { top.axi_bready_i = top.axi_rready_i = 1; }
  ~End() {
    write_coverage(context);
    top.final();
    Verilated::threadContextp(&context);
  }

  void post(bool write, unsigned address, std::uint64_t data,
            std::function<void(std::uint64_t)> done = {}) {
    accesses.push_back({write, address, data, std::move(done)});
  }

  void rise(bool link, bool wire, bool axi) {
    if (axi) drive();
    if (link) top.now_i = static_cast<std::uint32_t>(++now);
    top.eval();
    const bool taken = axi && ((top.axi_awvalid_i && top.axi_awready_o) ||
                               (top.axi_arvalid_i && top.axi_arready_o));
    const bool responded = axi && (top.axi_bvalid_o || top.axi_rvalid_o);
    const std::uint64_t result = top.axi_rdata_o;
    top.clk_i = link;
    top.wire_clk_i = wire;
    top.axi_clk_i = axi;
    top.eval();
    top.clk_i = top.wire_clk_i = top.axi_clk_i = 0;
    if (taken) {
      waits = true;
      top.axi_awvalid_i = top.axi_wvalid_i = top.axi_arvalid_i = 0;
    }
    if (responded) {
      waits = false;
      const auto done = std::move(accesses.front().done);
      accesses.pop_front();
      if (done) done(result);
    }
  }

  Group sent() const {
    Group group{top.carrier_o != 0, top.kind_o, {}};
    for (unsigned i = 0; i < 2 * slices; ++i) group.data[i] = top.data_o[i];
    return group;
  }
  void receive(const Group& group) {
    top.wire_carrier_i = group.carrier;
    top.wire_kind_i = group.kind;
    for (unsigned i = 0; i < 2 * slices; ++i) top.wire_data_i[i] = group.data[i];
  }

  struct Access {
    bool write;
    unsigned address;
    std::uint64_t data;
    std::function<void(std::uint64_t)> done;
  };

  VerilatedContext context;
  Voae_link_clocks top{&context};
  std::deque<Access> accesses;
  bool waits = false;
  std::uint64_t now = hold_off;

 private:
  void drive() {
    if (accesses.empty() || waits) return;
    const Access& access = accesses.front();
    top.axi_awvalid_i = top.axi_wvalid_i = access.write;
    top.axi_arvalid_i = !access.write;
    top.axi_awaddr_i = top.axi_araddr_i = access.address;
    top.axi_wdata_i = access.data;
    top.axi_wstrb_i = 0xff;
  }
};

class LinkClocks : public testing::TestWithParam<int> {
 protected:
  LinkClocks() {
    const auto other_fs = static_cast<std::uint64_t>(1'280'000 * 1e6 / (1e6 + GetParam()) + 0.5);
    clocks = Clocks<4>({{{1'280'000, 500}, {other_fs, 700}, {3'000'000, 900}, {2'500'000, 1100}}});
    for (End* end : {&a, &b}) {
      end->now = 0;
      end->top.rst_i = end->top.wire_rst_i = end->top.axi_rst_i = 1;
    }
    for (unsigned i = 0; i < 100; ++i) step();
    for (End* end : {&a, &b}) {
      end->now += hold_off;
      end->top.rst_i = end->top.wire_rst_i = end->top.axi_rst_i = 0;
    }
  }

  // What a group of a is on the wire is sampled with a's clock, which b's receiver recovers.
  void step() {
    const auto [of_a, of_b, axi_a, axi_b] = clocks.step();
    const Group from_a = a.sent();
    const Group from_b = b.sent();
    if (of_b) a.receive(to_a);
    if (of_a) b.receive(to_b);
    a.rise(of_a, of_b, axi_a);
    b.rise(of_b, of_a, axi_b);
    if (of_a) to_b = from_a;
    if (of_b) to_a = from_b;
  }

  template <typename Predicate>
  void until(Predicate done) {
    for (unsigned i = 0; !done(); ++i) {
      if (i == 1'000'000) FAIL() << "nothing more happens";
      step();
    }
  }

  void put(End& end, unsigned address, std::uint64_t data) {
    end.post(true, address, data);
    until([&end] { return end.accesses.empty(); });
  }
  std::uint64_t get(End& end, unsigned address) {
    std::uint64_t result = 0;
    end.post(false, address, 0, [&result](std::uint64_t value) { result = value; });
    until([&end] { return end.accesses.empty(); });
    return result;
  }

  /// A firmware that always offers all that the ring has, and takes what has come
  static void work(End& end) {
    if (!end.accesses.empty()) return;
    end.post(false, OAE_WINDOW_SETTLED, 0, [&end](std::uint64_t value) {
      end.post(true, OAE_WINDOW_OFFERED, static_cast<std::uint32_t>(value) + ring - 1);
    });
    end.post(false, OAE_WINDOW_RECEIVED, 0,
             [&end](std::uint64_t value) { end.post(true, OAE_WINDOW_TAKEN, value); });
  }

  End a;
  End b;
  Group to_a;
  Group to_b;
  Clocks<4> clocks{{{{1, 0}, {1, 0}, {1, 0}, {1, 0}}}};
};

TEST_P(LinkClocks, CarriesSlotsBothWaysAtTheRateOfTheSlowerClock) {
  for (End* end : {&a, &b}) {
    put(*end, OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK | OAE_WINDOW_CONTROL_AGAIN_MASK);
  }
  until([this] {
    return a.top.phase_o == OAE_WINDOW_PHASE_UP && b.top.phase_o == OAE_WINDOW_PHASE_UP;
  });
  for (unsigned i = 0; i < ring; ++i) put(a, OAE_WINDOW_SEND_AT(i) + 8, i * 77);
  const std::uint64_t begun_a = a.now;
  const std::uint64_t begun_b = b.now;
  while (a.now < begun_a + 40'000) {
    work(a);
    work(b);
    step();
  }
  const double possible =
      static_cast<double>(std::min(a.now - begun_a, b.now - begun_b)) * slices / 8;
  EXPECT_GT(b.top.done_o, 0.93 * possible);
  EXPECT_GT(a.top.done_o, 0.93 * possible);
  until([this] { return a.accesses.empty() && b.accesses.empty(); });
  EXPECT_EQ(get(b, OAE_WINDOW_RECEIVE_AT(0) + 8) % 77, 0u);
  for (End* end : {&a, &b}) {
    EXPECT_EQ(get(*end, OAE_WINDOW_COUNT_DAMAGED), 0u);
    EXPECT_EQ(get(*end, OAE_WINDOW_COUNT_REVERSED), 0u);
    EXPECT_EQ(get(*end, OAE_WINDOW_COUNT_DOWN), 0u);
    EXPECT_EQ(end->top.overflow_o, 0);
  }
}

TEST_P(LinkClocks, TheInterruptReachesTheFirmwaresClock) {
  put(a, OAE_WINDOW_IRQ_ENABLE, OAE_WINDOW_EVENT_UP_MASK);
  for (End* end : {&a, &b}) put(*end, OAE_WINDOW_CONTROL, OAE_WINDOW_CONTROL_UP_MASK);
  until([this] { return a.top.irq_o != 0; });
  EXPECT_EQ(get(a, OAE_WINDOW_STATE) & 0xff, unsigned{OAE_WINDOW_PHASE_UP});
  put(a, OAE_WINDOW_EVENT, OAE_WINDOW_EVENT_UP_MASK);
  until([this] { return a.top.irq_o == 0; });
}

INSTANTIATE_TEST_SUITE_P(PartsPerMillion, LinkClocks, testing::Values(0, 200, -200));

}  // namespace
}  // namespace clocks
