// SPDX-License-Identifier: Apache-2.0
// D3hot and back (5.3.1.4), and all kinds of resets in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/errors.h"
#include "tests/models/pcie/reset_bench.h"

namespace pcie {
namespace {

class NoSoftReset : public testing::TestWithParam<bool> {};

TEST_P(NoSoftReset, SaysWhetherTheWayBackFromD3hotResets) {
  const bool keeps = GetParam();
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].no_soft_reset = keeps;
  config.endpoint.functions[0].reset_time = 10 * vp::us;
  ResetBench bench(config);
  bench.run([&] {
    bench.begin();
    bench.set_sizes(256, 256);
    bench.write(Bench::msi_x_table, 0xfee00000, 8);
    EXPECT_EQ(bench.config_read(Bench::device, bench.power + 4, 2), keeps ? 8u : 0u);
    bench.config_write(Bench::device, bench.power + 4, 3, 2);
    EXPECT_EQ(bench.config_read(Bench::device, bench.power + 4, 2), keeps ? 11u : 3u);
    EXPECT_EQ(bench.config_read(Bench::device, 4, 2), 6u) << "configuration works, and stands";
    EXPECT_EQ(bench.read(Bench::bar0, 4), ~0u) << "memory does not";
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x0a, 2), 9u) << "UR";
    EXPECT_EQ(bench.told, 0u);
    bench.config_write(Bench::device, bench.power + 4, 3, 2);
    EXPECT_EQ(bench.told, 0u) << "from D3hot to D3hot";
    bench.config_write(Bench::device, bench.power + 4, 0, 2);
    EXPECT_EQ(bench.told, keeps ? 0u : 1u);
    EXPECT_EQ(bench.config_read(Bench::device, 4, 2), keeps ? 6u : 0u);
    EXPECT_EQ(bench.config_read(Bench::device, bench.power + 4, 2) & 3, 0u);
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 8, 2), keeps ? 0x1830u : 0x2830u);
    bench.config_write(Bench::device, bench.power + 4, 0, 2);
    EXPECT_EQ(bench.told, keeps ? 0u : 1u) << "from D0 to D0";
    bench.enumerate();
    EXPECT_EQ(bench.read(Bench::msi_x_table, 8), keeps ? 0xfee00000u : 0u);
    bench.expect_work();
  });
}

INSTANTIATE_TEST_SUITE_P(D3hot, NoSoftReset, testing::Bool());

TEST(D3hot, AResetOfAnyKindEndsIt) {
  ResetBench bench;
  bench.run([&] {
    bench.begin();
    for (const bool by_link : {false, true}) {
      bench.config_write(Bench::device, bench.power + 4, 3, 2);
      if (by_link) {
        bench.hold();
        bench.release();
        bench.wait_for_link();
      } else {
        bench.initiate();
      }
      EXPECT_EQ(bench.config_read(Bench::device, bench.power + 4, 2) & 3, 0u);
      bench.begin();
      bench.expect_work();
    }
    EXPECT_EQ(bench.told, 2u);
  });
}

TEST(D3hot, InterruptsWaitAndIntxIsDeasserted) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].interrupt_pin = 1;
  ResetBench bench(config);
  Lines lines("lines");
  bench.root_complex.interrupt.bind(lines);
  bench.run([&] {
    bench.begin();
    const unsigned msi_x = bench.find_capability(Bench::device, 0x11);
    bench.endpoint.function(0).set_intx(true);
    bench.config_write(Bench::device, bench.power + 4, 3, 2);
    pause(10 * vp::us);
    EXPECT_EQ(lines.changes, (Lines::Changes{{1, true}, {1, false}}));
    bench.config_write(Bench::device, bench.power + 4, 0, 2);
    pause(10 * vp::us);
    EXPECT_EQ(lines.changes.size(), 3u);

    bench.config_write(Bench::device, msi_x + 2, 0x8000, 2);
    bench.write(Bench::msi_x_table, 0xfee00000, 8);
    bench.write(Bench::msi_x_table + 8, 0x21, 8);
    bench.config_write(Bench::device, bench.power + 4, 3, 2);
    bench.endpoint.function(0).signal(0);
    pause(10 * vp::us);
    EXPECT_TRUE(bench.memory.messages.empty());
    bench.config_write(Bench::device, bench.power + 4, 0, 2);
    pause(10 * vp::us);
    EXPECT_EQ(bench.memory.messages.size(), 1u) << "registers and pending bits were kept";
  });
}

// All kinds.

TEST(Reset, AThousandTimesWithTrafficInBothDirections) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].no_soft_reset = false;
  config.endpoint.functions[0].reset_time = 3 * vp::us;
  config.link.training = 5 * vp::us;
  ResetBench bench(config);
  bench.logic.keep_uses = bench.memory.keep_writes = false;
  bench.logic.latency = 300 * vp::ns;
  bench.memory.read_time = 700 * vp::ns;
  for (unsigned i = 0; i < 0x1000; ++i) bench.logic.memory[0][i] = i * 5 >> 2;
  constexpr unsigned resets = 1000;
  bool stop = false;
  unsigned good = 0, lost = 0, transfers = 0, aborted = 0;
  bench.run([&] {
    bench.begin();
    for (unsigned reader = 0; reader < 4; ++reader) {
      bench.spawn([&, reader] {
        for (unsigned i = reader; !stop; i += 7) {
          const unsigned at = 64 * (i % 64);
          const auto data = bench.read_bytes(Bench::bar0 + at, 64);
          bench.write(Bench::bar0 + 0x2000 + at, i, 8);
          if (std::equal(data.begin(), data.end(), bench.logic.memory[0].begin() + at)) {
            ++good;
          } else {
            ASSERT_EQ(data, std::vector<std::uint8_t>(64, 0xff));
            ++lost;
            pause(100 * vp::ns);  // without a link the answer takes no time
          }
        }
      });
    }
    for (unsigned engine = 0; engine < 2; ++engine) {
      bench.spawn([&, engine] {
        for (unsigned i = engine; !stop; i += 3) {
          const unsigned at = i * 37 % 0x8000;
          auto read = bench.logic.dma_read(at, 4096);
          auto write = bench.logic.dma_write(0x80000 + at, read->data);
          bench.wait_for(*read);
          if (read->is_response_ok()) {
            ASSERT_EQ(read->data, bench.memory.at(at, 4096));
            ++transfers;
          } else {
            ++aborted;
            pause(100 * vp::ns);
          }
        }
      });
    }
    for (unsigned i = 0; i < resets; ++i) {
      bench.enumerate();
      pause((i * 131 % 9000) * vp::ns);
      switch (i % 3) {
        case 0:
          bench.initiate();
          break;
        case 1:
          bench.hold();
          pause(i % 5 * 400 * vp::ns);
          bench.release();
          bench.wait_for_link();
          break;
        case 2:
          bench.config_write(Bench::device, bench.power + 4, 3, 2);
          bench.config_write(Bench::device, bench.power + 4, 0, 2);
          break;
      }
    }
    stop = true;
    pause(1 * vp::ms);
    bench.begin();
    bench.expect_work();
  });
  EXPECT_EQ(bench.told, resets);
  EXPECT_GT(good, resets);
  EXPECT_GT(lost, resets);
  EXPECT_GT(transfers, resets);
  EXPECT_GT(aborted, resets);
  for (const char* name :
       {"endpoint.malformed_tlps", "endpoint.pf0.completion_timeouts",
        "root_complex.port0.malformed_tlps", "root_complex.port0.completion_timeouts",
        "root_complex.port0.unexpected_completions"}) {
    EXPECT_EQ(bench.counter(name), 0u) << name;
  }
}

}  // namespace
}  // namespace pcie
