// SPDX-License-Identifier: Apache-2.0
// Function level reset (PCIe 5.0, 6.6.2).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/errors.h"
#include "tests/models/pcie/reset_bench.h"

namespace pcie {
namespace {

TEST(FunctionLevelReset, IsAnEndpointsAndReadsZero) {
  ResetBench bench;
  bench.run([&] {
    bench.begin();
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 4, 4) >> 28 & 1, 1u);
    EXPECT_EQ(bench.config_read(Bench::root_port, bench.port_express + 4, 4) >> 28 & 1, 0u);
    bench.config_write(Bench::root_port, bench.port_express + 8, function_level_reset, 2);
    EXPECT_EQ(bench.config_read(Bench::root_port, bench.port_express + 8, 2) >> 15, 0u);
    bench.config_write(Bench::device, bench.express + 8, 0x2810, 2);
    EXPECT_EQ(bench.told, 0u);
    bench.initiate();
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 8, 2) >> 15, 0u);
    EXPECT_EQ(bench.told, 1u);
  });
}

TEST(FunctionLevelReset, RegistersReturnToTheirResetValuesButTheLinks) {
  ResetBench bench;
  bench.run([&] {
    bench.config_write(Bench::root_port, 0x18, 0x00010100, 4);
    bench.find();
    std::vector<std::uint32_t> fresh(64);
    for (unsigned i = 0; i < 64; ++i) fresh[i] = bench.config_read(Bench::device, 4 * i, 4);
    bench.begin();
    const unsigned msi_x = bench.find_capability(Bench::device, 0x11);
    bench.write(Bench::msi_x_table, 0x123456789abcdef0, 8);
    bench.read(0xc0050000, 4);  // leaves its mark in Device Status
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x0a, 2), 9u);
    // All ones wherever software can write, but no reset and no D3hot.
    for (unsigned i = 1; i < 64; ++i) {
      const bool status = 4 * i == bench.express + 8 || 4 * i == bench.power + 4 || i == 1;
      if (!status) bench.config_write(Bench::device, 4 * i, ~0u, 4);
    }
    bench.config_write(Bench::device, bench.express + 8, 0x7fff, 2);
    bench.config_write(Bench::device, 4, 0x0546, 2);
    EXPECT_EQ(bench.config_read(Bench::device, msi_x + 2, 2) >> 14, 3u);
    bench.initiate();
    for (unsigned i = 0; i < 64; ++i) {
      std::uint32_t expected = fresh[i];
      if (4 * i == bench.express + 8) expected |= 7u << 5;                     // payload
      if (4 * i == bench.express + 0x10) expected |= 1u << 3 | 3u << 6;        // RCB, clock, synch
      if (4 * i == bench.express + 0x30) expected = (expected & ~0xfu) | 0xf;  // target speed
      EXPECT_EQ(bench.config_read(Bench::device, 4 * i, 4), expected) << std::hex << 4 * i;
    }
    EXPECT_EQ(bench.endpoint.function(0).id(), Bench::device) << "the device's, not the function's";
    bench.begin();
    EXPECT_EQ(bench.read(Bench::msi_x_table, 8), 0u);
    EXPECT_EQ(bench.read(Bench::msi_x_table + 12, 4), 1u) << "masked";
    bench.expect_work();
  });
}

class ResetTime : public testing::TestWithParam<vp::Picoseconds> {};

TEST_P(ResetTime, ConfigurationIsRetriedUntilItIsOver) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].reset_time = GetParam();
  config.root_complex.completion_timeout = 200 * vp::ms;
  ResetBench bench(config);
  bench.run([&] {
    bench.begin();
    bench.config_write(Bench::root_port, bench.port_express + 0x1c, 0x10, 2);  // shows retries
    bench.initiate();
    const vp::Picoseconds start = vp::now();
    if (GetParam() > 10 * vp::us) {
      EXPECT_EQ(bench.config_read(Bench::device, 0, 4), 0xffff0001u);
    }
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 8, 2), 0x2810u);
    EXPECT_GE(vp::now(), start + GetParam() - 1 * vp::us);
    EXPECT_LE(vp::now(), start + GetParam() + 2 * vp::us);
    EXPECT_EQ(bench.config_read(Bench::device, 0, 4), 0x0ae01d9bu);
    bench.begin();
    bench.expect_work();
  });
}

INSTANTIATE_TEST_SUITE_P(Times, ResetTime,
                         testing::Values(0, 1, 1 * vp::ns, 20 * vp::us, 1 * vp::ms,
                                         100 * vp::ms - 1, 100 * vp::ms));

TEST(FunctionLevelReset, ItsTimeHasALimit) {
  vp::Domain domain("domain");
  auto make = [&domain](vp::Picoseconds time) {
    vp::Statistics statistics;
    EndpointConfig config;
    config.functions[0].reset_time = time;
    Endpoint endpoint("endpoint", config, domain, statistics);
  };
  EXPECT_NO_THROW(make(0));
  EXPECT_NO_THROW(make(100 * vp::ms));
  EXPECT_THROW(make(100 * vp::ms + 1), ConfigurationError);
  EXPECT_THROW(make(-1), ConfigurationError);
}

TEST(FunctionLevelReset, MemoryRequestsInBetweenAreUnsupportedAndNotLogged) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].reset_time = 1 * vp::ms;
  ResetBench bench(config);
  bench.run([&] {
    bench.begin();
    bench.initiate();
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(bench.read(Bench::bar0, 4), ~0u);
    bench.write(Bench::bar0, 1, 4);
    EXPECT_EQ(bench.read(Bench::msi_x_table, 8), ~std::uint64_t{0});
    EXPECT_LT(vp::now(), start + 10 * vp::us) << "answered, not timed out";
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x0a, 2), 0u);
    EXPECT_EQ(bench.read(Bench::bar0, 4), ~0u);
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x0a, 2), 9u) << "afterwards it is";
    EXPECT_TRUE(bench.logic.uses.empty());
  });
}

// At every moment of a read of 4 KiB, in steps: it ends once, whole or aborted, and what comes late
// for it changes nothing.
TEST(FunctionLevelReset, InTheMiddleOfDma) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].reset_time = 20 * vp::us;
  ResetBench bench(config);
  bench.memory.read_time = 500 * vp::ns;
  unsigned whole = 0, aborted = 0, cut = 0;
  bench.run([&] {
    for (vp::Picoseconds moment = 0; moment < 2500 * vp::ns; moment += 11 * vp::ns) {
      bench.begin();
      // The write that resets takes 300 ns and more to arrive.
      std::unique_ptr<Logic::Dma> read;
      bench.spawn([&] {
        pause(moment);
        read = bench.logic.dma_read(0x1000, 4096);
      });
      pause(1200 * vp::ns);
      bench.initiate();
      while (!read) pause(100 * vp::ns);
      const auto answer = read->get_response_status();
      if (!read->done || read->when > vp::now()) ADD_FAILURE() << "outstanding after the reset";
      const auto expected = bench.memory.at(0x1000, 4096);
      if (answer == tlm::TLM_OK_RESPONSE) {
        ++whole;
        EXPECT_EQ(read->data, expected);
      } else if (answer == tlm::TLM_GENERIC_ERROR_RESPONSE) {
        ++aborted;
        const auto end =
            std::mismatch(read->data.begin(), read->data.end(), expected.begin()).first;
        cut += end != read->data.begin() && end != read->data.end();
      } else {
        EXPECT_EQ(answer, tlm::TLM_COMMAND_ERROR_RESPONSE) << "asked for after the reset";
      }
      std::fill(read->data.begin(), read->data.end(), 0x5a);
      pause(10 * vp::us);
      EXPECT_EQ(std::count(read->data.begin(), read->data.end(), 0x5a), 4096);
    }
    bench.begin();
    bench.expect_work();
    EXPECT_EQ(bench.counter("endpoint.pf0.unexpected_completions"), 0u) << "silently";
  });
  EXPECT_GT(whole, 10u);
  EXPECT_GT(aborted, 10u);
  EXPECT_GT(cut, 0u) << "with a part of its data";
}

TEST(FunctionLevelReset, CompletionsAreUnexpectedOnceItIsOver) {
  ResetBench bench;  // over at once
  bench.memory.read_time = 10 * vp::us;
  bench.run([&] {
    bench.begin();
    auto read = bench.logic.dma_read(0x1000, 4096);
    EXPECT_FALSE(read->done);
    bench.initiate();
    EXPECT_TRUE(read->done);
    EXPECT_EQ(read->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    pause(30 * vp::us);
    EXPECT_EQ(bench.counter("endpoint.pf0.unexpected_completions"), 4096 / 128);
    EXPECT_EQ(bench.counter("endpoint.pf0.completion_timeouts"), 0u);
    bench.begin();
    bench.expect_work();
  });
}

// More reads than tags: those that were never issued end too.
TEST(FunctionLevelReset, EndsReadsThatWaitForTags) {
  ResetBench bench;
  bench.memory.read_time = 100 * vp::us;
  bench.run([&] {
    bench.begin();
    std::vector<std::unique_ptr<Logic::Dma>> reads;
    for (unsigned i = 0; i < 50; ++i) reads.push_back(bench.logic.dma_read(i * 1000, 4096));
    bench.initiate();
    for (const auto& read : reads) {
      EXPECT_TRUE(read->done);
      EXPECT_EQ(read->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
    EXPECT_EQ(bench.link.count(Direction::up, TlpType::MRd).tlps, 32u);
    pause(200 * vp::us);
    bench.begin();
    bench.expect_work();
  });
}

TEST(FunctionLevelReset, TransactionsPendingIsReal) {
  ResetBench bench;
  bench.memory.read_time = 10 * vp::us;
  bench.run([&] {
    bench.begin();
    auto pending = [&] {
      return bench.config_read(Bench::device, bench.express + 0x0a, 2) & pending_bit;
    };
    EXPECT_EQ(pending(), 0u);
    auto read = bench.logic.dma_read(0x1000, 4096);
    EXPECT_EQ(pending(), pending_bit);
    bench.config_write(Bench::device, bench.express + 0x0a, 0xffff, 2);
    EXPECT_EQ(pending(), pending_bit) << "read-only";
    bench.config_write(Bench::device, 4, 2, 2);
    EXPECT_EQ(pending(), pending_bit) << "without bus master the read still waits";
    bench.wait_for(*read);
    EXPECT_EQ(pending(), 0u);
    bench.config_write(Bench::device, 4, 6, 2);
    read = bench.logic.dma_read(0x1000, 4096);
    EXPECT_EQ(pending(), pending_bit);
    bench.initiate();
    EXPECT_EQ(pending(), 0u) << "lost track of";
  });
}

// Reads that device logic holds, and those that wait for it.
class BarReads : public testing::TestWithParam<unsigned> {};

TEST_P(BarReads, EndAndLateAnswersAreDropped) {
  const unsigned at_a_time = GetParam();
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].bar_reads = at_a_time;
  ResetBench bench(config);
  bench.logic.latency = 100 * vp::us;
  unsigned ended = 0;
  bench.run([&] {
    bench.begin();
    const vp::Picoseconds start = vp::now();
    for (unsigned i = 0; i < 8; ++i) {
      bench.spawn([&, i] {
        EXPECT_EQ(bench.read_bytes(Bench::bar2 + 64 * i, 64), std::vector<std::uint8_t>(64, 0xff));
        EXPECT_LT(vp::now(), start + 20 * vp::us);
        ++ended;
      });
    }
    pause(5 * vp::us);
    bench.initiate();
    pause(5 * vp::us);
    EXPECT_EQ(ended, 8u);
    bench.enumerate();
    pause(1 * vp::ms);
    bench.logic.latency = 0;
    EXPECT_EQ(bench.logic.outstanding, 0u);
    EXPECT_EQ(bench.logic.uses.size(), std::min(at_a_time, 8u)) << "those that waited: never";
    bench.expect_work();
    EXPECT_EQ(bench.counter("root_complex.port0.unexpected_completions"), 0u);
    EXPECT_EQ(bench.counter("root_complex.port0.completion_timeouts"), 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(AtATime, BarReads, testing::Values(1, 4, 32));

TEST(FunctionLevelReset, ForgetsPendingInterruptsAndDeassertsIntx) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].interrupt_pin = 1;
  ResetBench bench(config);
  Lines lines("lines");
  bench.root_complex.interrupt.bind(lines);
  bench.run([&] {
    bench.begin();
    const unsigned msi_x = bench.find_capability(Bench::device, 0x11);
    Function& function = bench.endpoint.function(0);
    bench.config_write(Bench::device, msi_x + 2, 0x8000, 2);
    function.signal(3);
    EXPECT_EQ(bench.read(Bench::msi_x_pending, 8), 8u) << "masked";
    bench.config_write(Bench::device, msi_x + 2, 0, 2);
    function.set_intx(true);
    pause(10 * vp::us);
    bench.initiate();
    pause(10 * vp::us);
    EXPECT_EQ(lines.changes, (Lines::Changes{{1, true}, {1, false}}));
    EXPECT_EQ(bench.config_read(Bench::device, 6, 2) & 8, 0u);
    bench.enumerate();
    bench.config_write(Bench::device, msi_x + 2, 0x8000, 2);
    bench.write(Bench::msi_x_table + 16 * 3 + 12, 0, 4);
    EXPECT_EQ(bench.read(Bench::msi_x_pending, 8), 0u);
    EXPECT_TRUE(bench.memory.messages.empty());
    bench.config_write(Bench::device, msi_x + 2, 0, 2);
    function.set_intx(true);
    pause(10 * vp::us);
    EXPECT_EQ(lines.changes.size(), 3u) << "and works again";
  });
}

TEST(FunctionLevelReset, LeavesOtherFunctionsAlone) {
  auto config = ResetBench::configuration();
  config.endpoint.functions.resize(2);
  config.endpoint.functions[1].bars = {{0, 0x1000}};
  config.endpoint.functions[1].msi_x = {2, 0, 0, 0, 0x800};
  config.endpoint.functions[0].reset_time = 1 * vp::ms;
  ResetBench bench(config);
  const Id second = make_id(1, 0, 1);
  bench.run([&] {
    bench.begin();
    bench.config_write(second, 0x10, 0xc0180000, 4);
    bench.config_write(second, 4, 6, 2);
    bench.write(0xc0180000, 0xfee01000, 8);
    bench.initiate();
    EXPECT_EQ(bench.config_read(second, 4, 2), 6u);
    EXPECT_EQ(bench.read(0xc0180000, 8), 0xfee01000u);
    EXPECT_EQ(bench.endpoint.function(1).id(), second);
  });
}

}  // namespace
}  // namespace pcie
