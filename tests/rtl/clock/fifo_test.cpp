// SPDX-License-Identifier: Apache-2.0
// A queue between two clocks: nothing is lost, repeated or reordered, whatever their periods are,
// and wherever one clock's edges lie in the other's period.
#include <Voae_clock_fifo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "tests/rtl/clock/clocks.h"
#include "tests/rtl/coverage.h"

namespace clocks {
namespace {

constexpr unsigned depth = 8;

struct Periods {
  std::uint64_t write_fs;
  std::uint64_t read_fs;
};

class Fifo : public testing::TestWithParam<Periods> {
 protected:
  ~Fifo() override { write_coverage(context); }

  void begin(std::uint64_t phase_fs) {
    clocks = Clocks<2>({{{GetParam().write_fs, 500}, {GetParam().read_fs, 500 + phase_fs}}});
    written = read = 0;
    top.write_rst_i = top.read_rst_i = 1;
    for (unsigned i = 0; i < 200; ++i) step();
    top.write_rst_i = top.read_rst_i = 0;
  }

  void step() {
    const auto [writes, reads] = clocks.step();
    top.eval();
    const bool accepted = writes && !top.write_rst_i && top.write_valid_i && top.write_ready_o;
    const bool taken = reads && !top.read_rst_i && top.read_valid_o && top.read_ready_i;
    if (taken) {
      EXPECT_EQ(top.read_data_o, static_cast<std::uint16_t>(read * 40503));
      ++read;
    }
    if (accepted) ++written;
    top.write_clk_i = writes;
    top.read_clk_i = reads;
    top.eval();
    top.write_clk_i = top.read_clk_i = 0;
    if (writes) {
      top.write_valid_i = random() % 100 < busy_writer;
      top.write_data_i = static_cast<std::uint16_t>(written * 40503);
    }
    if (reads) top.read_ready_i = random() % 100 < busy_reader;
    EXPECT_LE(read, written);
    EXPECT_LE(written - read, depth);
    deepest = std::max(deepest, written - read);
  }

  VerilatedContext context;
  Voae_clock_fifo top{&context};
  Clocks<2> clocks{{{{1, 0}, {1, 0}}}};
  std::mt19937_64 random{7};
  unsigned busy_writer = 100;  // percent
  unsigned busy_reader = 100;
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  std::uint64_t deepest = 0;
};

TEST_P(Fifo, KeepsWhatIsWrittenInItsOrder) {
  for (unsigned phase = 0; phase < 8; ++phase) {
    for (const auto& [writer, reader] :
         {std::pair{100u, 100u}, {100u, 30u}, {30u, 100u}, {60u, 60u}}) {
      busy_writer = writer;
      busy_reader = reader;
      begin(GetParam().read_fs * phase / 8);
      for (unsigned i = 0; i < 3000; ++i) step();
      EXPECT_GT(read, 100u);
      busy_writer = 0;
      busy_reader = 100;
      for (unsigned i = 0; i < 400; ++i) step();
      EXPECT_EQ(read, written);
      if (HasFailure()) return;
    }
  }
}

TEST_P(Fifo, HoldsAsManyAsItHasPlaces) {
  begin(0);
  busy_reader = 0;
  top.read_ready_i = 0;
  for (unsigned i = 0; i < 400; ++i) step();
  EXPECT_EQ(written, depth);
  EXPECT_EQ(deepest, depth);
  EXPECT_EQ(top.write_ready_o, 0);
  busy_reader = 100;
  for (unsigned i = 0; i < 400; ++i) step();
  EXPECT_GT(read, depth);
}

INSTANTIATE_TEST_SUITE_P(Periods, Fifo,
                         testing::Values(Periods{1'280'000, 1'280'000},
                                         Periods{1'280'000, 1'280'256},
                                         Periods{1'280'256, 1'280'000},
                                         Periods{1'280'000, 5'000'000},
                                         Periods{5'000'000, 1'280'000}, Periods{700'001, 500'003}));

}  // namespace
}  // namespace clocks
