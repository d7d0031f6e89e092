// SPDX-License-Identifier: Apache-2.0
// The elastic buffer between the clock of a wire and that of a link.
#include <Voae_link_elastic.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "oae_registers.h"
#include "tests/rtl/clock/clocks.h"
#include "tests/rtl/coverage.h"

namespace clocks {
namespace {

constexpr std::uint64_t period_fs = 1'280'000;

class Elastic : public testing::Test {
 protected:
  ~Elastic() override { write_coverage(context); }

  /// The wire's clock is faster by so many parts per million.
  void begin(int faster_ppm, std::uint64_t phase_fs = 0) {
    const auto wire_fs = static_cast<std::uint64_t>(period_fs * 1e6 / (1e6 + faster_ppm) + 0.5);
    clocks = Clocks<2>({{{wire_fs, 500}, {period_fs, 500 + phase_fs}}});
    top.wire_rst_i = top.rst_i = 1;
    for (unsigned i = 0; i < 20; ++i) step();
    top.wire_rst_i = top.rst_i = 0;
  }

  /// One group in 1,025 is idle, as an end under load sends them.
  void step() {
    const auto [wire, link] = clocks.step();
    top.eval();
    if (link && !top.rst_i && top.kind_o != OAE_WIRE_KIND_IDLE) {
      if (on_way.empty()) {
        ADD_FAILURE() << "a group from nowhere";
      } else {
        intact =
            intact && top.data_o[0] == on_way.front().number && top.kind_o == on_way.front().kind;
        longest = std::max(longest, clocks.now_fs - on_way.front().sent);
        on_way.pop_front();
        ++arrived;
      }
    }
    const bool sends = wire && !top.wire_rst_i && top.wire_kind_i != OAE_WIRE_KIND_IDLE;
    if (sends) on_way.push_back({number, top.wire_kind_i, clocks.now_fs});
    top.wire_clk_i = wire;
    top.clk_i = link;
    top.eval();
    top.wire_clk_i = top.clk_i = 0;
    if (wire && !top.wire_rst_i) {
      ++number;
      top.wire_kind_i = number % 1025 == 0 || quiet ? unsigned{OAE_WIRE_KIND_IDLE} : 1 + number % 3;
      top.wire_data_i[0] = number;
    }
  }

  struct Group {
    std::uint32_t number;
    std::uint8_t kind;
    std::uint64_t sent;
  };

  VerilatedContext context;
  Voae_link_elastic top{&context};
  Clocks<2> clocks{{{{1, 0}, {1, 0}}}};
  std::deque<Group> on_way;
  std::uint32_t number = 0;
  bool quiet = false;
  bool intact = true;
  std::uint64_t arrived = 0;
  std::uint64_t longest = 0;
};

// Clocks of links keep within 100 parts per million (the assumption of README.md).
TEST_F(Elastic, EveryGroupArrivesWhileTheClocksAreWhatTheyHaveToBe) {
  for (const int ppm : {0, 200, -200, 900}) {
    for (unsigned phase = 0; phase < 4; ++phase) {
      top.wire_kind_i = OAE_WIRE_KIND_IDLE;
      on_way.clear();
      longest = 0;
      arrived = 0;
      begin(ppm, period_fs * phase / 4);
      for (unsigned i = 0; i < 60'000; ++i) step();
      EXPECT_TRUE(intact) << ppm;
      EXPECT_GT(arrived, 29'000u);
      EXPECT_EQ(top.overflow_o, 0) << ppm;
      EXPECT_LT(longest, 5 * period_fs) << ppm;
      RecordProperty(fmt::format("longest_ns_{}_{}", ppm, phase),
                     fmt::format("{:.2f}", longest / 1e6));
    }
  }
}

TEST_F(Elastic, ItTellsThatTheClocksAreTooFarApart) {
  begin(20'000);
  for (unsigned i = 0; i < 60'000; ++i) step();
  EXPECT_EQ(top.overflow_o, 1);
}

// The clock that is recovered from a wire ends with its signal.
TEST_F(Elastic, TheCarrierGoesThoughItsClockStandsStill) {
  top.wire_carrier_i = 1;
  begin(0);
  for (unsigned i = 0; i < 40; ++i) step();
  EXPECT_EQ(top.carrier_o, 1);
  quiet = true;
  for (unsigned i = 0; i < 40; ++i) step();
  top.wire_carrier_i = 0;
  clocks.stop(0);
  for (unsigned i = 0; i < 4; ++i) step();
  EXPECT_EQ(top.carrier_o, 0);
  EXPECT_TRUE(on_way.empty());
}

}  // namespace
}  // namespace clocks
