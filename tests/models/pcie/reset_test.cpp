// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/errors.h"
#include "tests/models/pcie/bench.h"

namespace pcie {
namespace {

constexpr std::uint32_t function_level_reset = 1u << 15;  // Device Control
constexpr std::uint32_t pending_bit = 1u << 5;            // Device Status
constexpr std::uint32_t link_training = 1u << 11;         // Link Status
constexpr std::uint32_t link_active = 1u << 13;

struct Lines : sc_core::sc_module, vp::LineIf {
  std::vector<std::pair<unsigned, bool>> changes;
  explicit Lines(const sc_core::sc_module_name& name) : sc_module(name) {}
  void set_line(unsigned number, bool level) override { changes.push_back({number, level}); }
};

void pause(vp::Picoseconds span) {
  sc_core::wait(vp::to_sc_time(span));
}

/// A bench with links that take time, and what scripts of resets share.
struct ResetBench : Bench {
  explicit ResetBench(const Config& config = configuration()) : Bench(config) {
    for (std::size_t i = 0; i < memory.bytes.size(); ++i) memory.bytes[i] = i * 7 >> 3;
    endpoint.function(0).on_reset([this] { ++told; });
  }
  static Config configuration() {
    Config config;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.training = 50 * vp::us;
    return config;
  }
  // Linux, too, finds its way before the reset: a function in reset does not answer.
  void find() {
    express = find_capability(device, 0x10);
    port_express = find_capability(root_port, 0x10);
    power = find_capability(device, 1);
  }
  void begin() {
    enumerate();
    find();
  }
  void initiate() {
    const std::uint32_t control = config_read(device, express + 8, 2);
    config_write(device, express + 8, control | function_level_reset, 2);
  }
  void hold() { config_write(root_port, 0x3e, 0x40, 2); }
  void release() { config_write(root_port, 0x3e, 0, 2); }
  std::uint32_t link_status() { return config_read(root_port, port_express + 0x12, 2); }
  void wait_for_link() {
    while (!(link_status() & link_active)) pause(1 * vp::us);
  }
  std::vector<std::uint8_t> host_bytes(std::uint64_t address, unsigned bytes) const {
    const auto first = memory.bytes.begin() + static_cast<std::ptrdiff_t>(address);
    return {first, first + bytes};
  }
  // The device works in both directions.
  void expect_work() {
    logic.memory[2][8] = 0x42;
    EXPECT_EQ(read(bar2 + 8, 1), 0x42u);
    auto dma = logic.dma_read(0x1000, 4096);
    wait_for(*dma);
    EXPECT_TRUE(dma->is_response_ok());
    EXPECT_EQ(dma->data, host_bytes(0x1000, 4096));
  }

  unsigned told = 0;
  unsigned express = 0, port_express = 0, power = 0;
};

// Function level reset (PCIe 5.0, 6.6.2).

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
      const auto expected = bench.host_bytes(0x1000, 4096);
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
    using Changes = std::vector<std::pair<unsigned, bool>>;
    EXPECT_EQ(lines.changes, (Changes{{1, true}, {1, false}}));
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

// Hot reset by the Secondary Bus Reset bit (6.6.1, 7.5.1.3.13).

TEST(SecondaryBusReset, TheLinkIsDownWhileItIsSetAndTrainsAfterwards) {
  ResetBench bench;
  bench.run([&] {
    bench.begin();
    EXPECT_EQ(bench.link_status() & (link_active | link_training), link_active);
    bench.hold();
    EXPECT_EQ(bench.config_read(Bench::root_port, 0x3e, 2), 0x40u);
    pause(1 * vp::us);  // until the device knows
    for (unsigned i = 0; i < 5; ++i, pause(1 * vp::ms)) {
      EXPECT_EQ(bench.link_status() & (link_active | link_training), 0u);
      EXPECT_EQ(bench.config_read(Bench::device, 0, 4), ~0u);
      EXPECT_EQ(bench.read(Bench::bar0, 4), ~0u);
      bench.write(Bench::bar0, 1, 4);
      EXPECT_EQ(bench.logic.dma_write(0x1000, {1})->get_response_status(),
                tlm::TLM_COMMAND_ERROR_RESPONSE);
    }
    bench.release();
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(bench.link_status() & (link_active | link_training), link_training);
    EXPECT_EQ(bench.config_read(Bench::device, 0, 4), ~0u);
    pause(start + 50 * vp::us - 1 - vp::now());
    EXPECT_EQ(bench.link_status() & link_active, 0u);
    pause(start + 50 * vp::us - vp::now() + 1);
    EXPECT_EQ(bench.link_status() & (link_active | link_training), link_active);
    EXPECT_EQ(bench.told, 1u);
    EXPECT_EQ(bench.config_read(Bench::device, 4, 2), 0u) << "reset";
    EXPECT_EQ(bench.config_read(Bench::device, 0x10, 4), 4u);
    EXPECT_EQ(bench.config_read(Bench::root_port, 0x18, 4), 0x00010100u) << "the port is not";
    bench.begin();
    bench.expect_work();
    EXPECT_EQ(bench.counter("root_complex.port0.completion_timeouts"), 0u);
    EXPECT_TRUE(bench.memory.writes.empty());
    EXPECT_EQ(bench.logic.uses.size(), 1u) << "what was sent without a link is lost";
  });
}

TEST(LinkDisable, IsAHotResetForAsLongAsItIsSet) {
  ResetBench bench;
  bench.run([&] {
    bench.begin();
    const unsigned control = bench.port_express + 0x10;
    bench.config_write(Bench::device, bench.express + 0x10, 0x10, 2);
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x10, 2), 0u) << "a root port's";
    bench.config_write(Bench::root_port, control, 0x10, 2);
    EXPECT_EQ(bench.config_read(Bench::root_port, control, 2), 0x10u);
    pause(1 * vp::ms);
    EXPECT_EQ(bench.link_status() & (link_active | link_training), 0u);
    EXPECT_EQ(bench.read(Bench::bar0, 4), ~0u);
    bench.hold();
    bench.config_write(Bench::root_port, control, 0, 2);
    EXPECT_EQ(bench.link_status() & (link_active | link_training), 0u) << "held in reset, too";
    bench.release();
    bench.wait_for_link();
    EXPECT_EQ(bench.config_read(Bench::device, 4, 2), 0u) << "reset";
    bench.begin();
    bench.expect_work();
  });
}

TEST(SecondaryBusReset, ConfigurationIsRetriedUntilTheDeviceIsInitialised) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].initialisation = 1 * vp::ms;
  ResetBench bench(config);
  bench.run([&] {
    bench.begin();
    bench.config_write(Bench::root_port, bench.port_express + 0x1c, 0x10, 2);
    bench.hold();
    pause(2 * vp::ms);
    bench.release();
    bench.wait_for_link();
    const vp::Picoseconds up = vp::now();
    EXPECT_EQ(bench.config_read(Bench::device, 0, 4), 0xffff0001u);
    EXPECT_EQ(bench.config_read(Bench::device, 2, 2), 0x0ae0u) << "waits";
    EXPECT_GE(vp::now(), up + 1 * vp::ms - 2 * vp::us);
    EXPECT_LE(vp::now(), up + 1 * vp::ms + 5 * vp::us);
    EXPECT_EQ(bench.config_read(Bench::device, 0, 4), 0x0ae01d9bu);
  });
}

TEST(SecondaryBusReset, StickyBitsSurviveItButNoFundamentalReset) {
  ResetBench bench;
  bench.run([&] {
    bench.begin();
    const unsigned target = bench.express + 0x30;
    bench.set_sizes(256, 256);
    bench.config_write(Bench::device, target, 3, 2);
    bench.hold();
    bench.release();
    bench.wait_for_link();
    EXPECT_EQ(bench.config_read(Bench::device, target, 2) & 0xf, 3u);
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 8, 2), 0x2810u) << "payload too";
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x12, 2) & 0x3ff, 5u | 16u << 4);
    bench.root_complex.reset();
    pause(10 * vp::us);
    bench.config_write(Bench::root_port, 0x18, 0x00010100, 4);
    EXPECT_EQ(bench.config_read(Bench::device, target, 2) & 0xf, 5u);
    EXPECT_EQ(bench.told, 2u);
    EXPECT_EQ(bench.link_status() & link_active, link_active);
  });
}

// 2.9.1: requests in both directions at every stage of their ways.
TEST(SecondaryBusReset, EndsWhatIsOutstandingInBothDirections) {
  unsigned lost = 0, answered = 0;
  ResetBench bench;
  bench.memory.read_time = 1 * vp::us;
  bench.run([&] {
    for (vp::Picoseconds moment = 0; moment < 4 * vp::us; moment += 97 * vp::ns) {
      bench.logic.latency = 1 * vp::us;
      bench.begin();
      for (unsigned i = 0; i < 64; ++i) bench.logic.memory[0][i] = i;
      const auto expected = std::vector<std::uint8_t>(bench.logic.memory[0].begin(),
                                                      bench.logic.memory[0].begin() + 64);
      std::unique_ptr<Logic::Dma> dma = bench.logic.dma_read(0x1000, 4096);
      unsigned ended = 0;
      for (unsigned i = 0; i < 40; ++i) {  // more than tags
        bench.spawn([&] {
          const auto data = bench.read_bytes(Bench::bar0, 64);
          if (data == expected) {
            ++answered;
          } else {
            EXPECT_EQ(data, std::vector<std::uint8_t>(64, 0xff));
            ++lost;
          }
          ++ended;
        });
      }
      pause(moment);
      bench.hold();
      pause(1);
      EXPECT_EQ(ended, 40u) << "at once, by the port";
      pause(1 * vp::us);
      EXPECT_TRUE(dma->done);
      if (dma->is_response_ok()) {
        EXPECT_EQ(dma->data, bench.host_bytes(0x1000, 4096));
      } else {
        EXPECT_EQ(dma->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
      }
      bench.release();
      bench.wait_for_link();
      pause(100 * vp::us);
      bench.logic.latency = 0;
      bench.begin();
      bench.expect_work();
      for (const char* port : {"root_complex.port0.", "endpoint.pf0."}) {
        EXPECT_EQ(bench.counter(port + std::string("unexpected_completions")), 0u) << port;
        EXPECT_EQ(bench.counter(port + std::string("completion_timeouts")), 0u) << port;
      }
    }
  });
  EXPECT_GT(lost, 100u);
  EXPECT_GT(answered, 100u);
}

TEST(SecondaryBusReset, DeassertsTheInterruptsBehindIt) {
  auto config = ResetBench::configuration();
  config.endpoint.functions[0].interrupt_pin = 1;
  ResetBench bench(config);
  Lines lines("lines");
  bench.root_complex.interrupt.bind(lines);
  bench.run([&] {
    bench.begin();
    bench.endpoint.function(0).set_intx(true);
    pause(10 * vp::us);
    bench.hold();
    using Changes = std::vector<std::pair<unsigned, bool>>;
    EXPECT_EQ(lines.changes, (Changes{{1, true}, {1, false}}));
    pause(10 * vp::us);
    bench.endpoint.function(0).set_intx(true);
    bench.release();
    bench.wait_for_link();
    bench.begin();
    pause(10 * vp::us);
    EXPECT_EQ(lines.changes.size(), 3u) << "told when the link is up";
  });
}

// Software that changes its mind faster than the link can follow.
TEST(SecondaryBusReset, SetAndClearedInAnyRhythm) {
  ResetBench bench;
  bench.run([&] {
    bench.begin();
    for (vp::Picoseconds set = 0; set <= 120 * vp::us; set = 2 * set + 100 * vp::ns) {
      for (vp::Picoseconds clear = 0; clear <= 120 * vp::us; clear = 2 * clear + 100 * vp::ns) {
        for (unsigned i = 0; i < 3; ++i) {
          bench.hold();
          pause(set);
          EXPECT_EQ(bench.link_status() & (link_active | link_training), 0u);
          bench.release();
          pause(clear);
          EXPECT_EQ((bench.link_status() & link_active) != 0, clear >= 50 * vp::us);
        }
        bench.wait_for_link();
        bench.begin();
        bench.expect_work();
      }
    }
  });
}

TEST(SecondaryBusReset, OfAPortWithoutALinkDoesNothing) {
  auto config = ResetBench::configuration();
  config.root_complex.ports.resize(2);
  ResetBench bench(config);
  bench.run([&] {
    bench.begin();
    const Id second = make_id(0, 2, 0);
    bench.config_write(second, 0x3e, 0x40, 2);
    bench.config_write(second, 0x3e, 0, 2);
    pause(1 * vp::ms);
    const unsigned express = bench.find_capability(second, 0x10);
    EXPECT_EQ(bench.config_read(second, express + 0x12, 2) & (link_active | link_training), 0u);
    bench.expect_work();
  });
}

// D3hot and back (5.3.1.4).

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
    using Changes = std::vector<std::pair<unsigned, bool>>;
    EXPECT_EQ(lines.changes, (Changes{{1, true}, {1, false}}));
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
            ASSERT_EQ(read->data, bench.host_bytes(at, 4096));
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
