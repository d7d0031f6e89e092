// SPDX-License-Identifier: Apache-2.0
// Hot reset by the Secondary Bus Reset bit (6.6.1, 7.5.1.3.13).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "models/pcie/errors.h"
#include "tests/models/pcie/reset_bench.h"

namespace pcie {
namespace {

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
        EXPECT_EQ(dma->data, bench.memory.at(0x1000, 4096));
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
    EXPECT_EQ(lines.changes, (Lines::Changes{{1, true}, {1, false}}));
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

}  // namespace
}  // namespace pcie
