// SPDX-License-Identifier: Apache-2.0
// Recovery (PCIe 5.0, 4.2.6.4): by software, with another speed, and without a lane that has
// failed. Nothing that is under way is lost, and both ends say the same of the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/models/pcie/reset_bench.h"

namespace pcie {
namespace {

constexpr std::uint32_t retrain = 1u << 5;  // Link Control
constexpr std::uint32_t bandwidth_interrupt = 1u << 10;
constexpr std::uint32_t bandwidth_managed = 1u << 14;  // Link Status
constexpr std::uint32_t mode = 0x3ff;

struct RetrainBench : ResetBench {
  explicit RetrainBench(unsigned generation = 5, unsigned lanes = 16)
      : RetrainBench(configuration(generation, lanes)) {}
  explicit RetrainBench(const Config& config) : ResetBench(config) {}

  static Config configuration(unsigned generation, unsigned lanes) {
    Config config = ResetBench::configuration();
    config.root_complex.ports[0].generation = generation;
    config.endpoint.generation = generation;
    config.link.generation = generation;
    config.link.lanes = lanes;
    config.link.retraining = 20 * vp::us;
    return config;
  }
  void set_target(unsigned generation) {
    config_write(root_port, port_express + 0x30, generation, 2);
  }
  void ask() {
    const std::uint32_t control = config_read(root_port, port_express + 0x10, 2);
    config_write(root_port, port_express + 0x10, control | retrain, 2);
  }
  void wait_for_l0() {
    while (link_status() & link_training) pause(100 * vp::ns);
  }
  std::uint32_t status_below() { return config_read(device, express + 0x12, 2); }
  unsigned correctable(Id id) { return config_read(id, 0x110, 4); }  // AER is the first
  unsigned lane_errors(Id id) { return config_read(id, find_extended_capability(id, 0x19) + 8, 4); }
  vp::Picoseconds time_of_read() {
    const vp::Picoseconds start = vp::now();
    read_bytes(bar0, 64);
    return vp::now() - start;
  }
};

TEST(Retrain, TheSpeedIsTheLeastOfBothEndsAndTheTarget) {
  RetrainBench bench(5);
  bench.run([&] {
    bench.begin();
    const vp::Picoseconds fast = bench.time_of_read();
    for (const unsigned target : {1u, 4u, 2u, 5u, 3u, 0u, 6u, 15u}) {
      const unsigned expected = std::clamp(target, 1u, 5u);
      bench.set_target(target);
      const std::uint32_t before = bench.link_status();
      EXPECT_EQ(bench.config_read(Bench::root_port, bench.port_express + 0x10, 2) & retrain, 0u);
      bench.ask();
      const vp::Picoseconds start = vp::now();
      EXPECT_EQ(bench.link_status(), before | link_training) << "and still active";
      EXPECT_EQ(bench.config_read(Bench::root_port, bench.port_express + 0x10, 2) & retrain, 0u);
      pause(20 * vp::us - 1);
      EXPECT_EQ(bench.link_status(), before | link_training);
      pause(1);
      EXPECT_EQ(vp::now(), start + 20 * vp::us);
      EXPECT_EQ(bench.link_status(), (before & ~mode) | expected | 16u << 4 | bandwidth_managed);
      EXPECT_EQ(bench.status_below() & (mode | 0xf << 11), expected | 16u << 4 | 1u << 12);
      bench.config_write(Bench::root_port, bench.port_express + 0x12, bandwidth_managed, 2);
      EXPECT_EQ(bench.link_status() & bandwidth_managed, 0u);
      EXPECT_EQ(bench.link.generation(), expected);
      // Two packets, of 20 and 84 bytes.
      const LineRate now = LineRate::of(expected, 16, 256), best = LineRate::of(5, 16, 256);
      const double more = 104.0 * (static_cast<double>(now.picoseconds) / now.bytes -
                                   static_cast<double>(best.picoseconds) / best.bytes);
      EXPECT_NEAR(static_cast<double>(bench.time_of_read() - fast), more, 4) << target;
      bench.expect_work();
    }
    EXPECT_EQ(bench.told, 0u) << "nobody is reset";
    EXPECT_EQ(bench.correctable(Bench::root_port) | bench.correctable(Bench::device), 0u);
  });
}

// 7.5.3.19: sticky, so it holds for a link that comes up again, and is no limit after power-up.
TEST(Retrain, TheTargetHoldsAfterAHotReset) {
  RetrainBench bench(4);
  bench.run([&] {
    bench.begin();
    bench.set_target(2);
    EXPECT_EQ(bench.link_status() & 0xf, 4u) << "not asked for yet";
    bench.hold();
    bench.release();
    bench.wait_for_link();
    EXPECT_EQ(bench.link_status() & (mode | bandwidth_managed), 2u | 16u << 4);
    bench.begin();
    EXPECT_EQ(bench.status_below() & mode, 2u | 16u << 4);
    // Equalized for a speed when it is reached first, and from then on.
    const unsigned equalized = bench.express + 0x32;
    EXPECT_EQ(bench.config_read(Bench::device, equalized, 2), 0u);
    const unsigned physical = bench.find_extended_capability(Bench::device, 0x26);
    EXPECT_EQ(bench.config_read(Bench::device, physical + 0x0c, 4), 0u);
    bench.set_target(4);
    bench.ask();
    bench.wait_for_l0();
    EXPECT_EQ(bench.config_read(Bench::device, equalized, 2), 0x1eu);
    EXPECT_EQ(bench.config_read(Bench::device, physical + 0x0c, 4), 0xfu);
    bench.set_target(1);
    bench.ask();
    bench.wait_for_l0();
    EXPECT_EQ(bench.config_read(Bench::device, physical + 0x0c, 4), 0xfu);
    bench.expect_work();
    bench.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_EQ(bench.link_status() & mode, 4u | 16u << 4);
  });
}

TEST(Retrain, ALinkInFlitModeStaysInIt) {
  RetrainBench bench(6);
  bench.run([&] {
    bench.begin();
    for (unsigned target = 1; target <= 6; ++target) {
      bench.set_target(target);
      bench.ask();
      bench.wait_for_l0();
      EXPECT_EQ(bench.status_below() & 0xf, target);
      EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x32, 2) >> 10, 1u);
      EXPECT_EQ(bench.link.rate().flit, 236u);
      bench.expect_work();
    }
  });
}

TEST(Retrain, SoftwareIsToldByAnInterruptIfItWantsThat) {
  RetrainBench bench(4);
  bench.run([&] {
    bench.begin();
    const unsigned msi = bench.find_capability(Bench::root_port, 5);
    bench.config_write(Bench::root_port, msi + 4, 0xfee01000, 4);
    bench.config_write(Bench::root_port, msi + 12, 0x41, 2);
    bench.config_write(Bench::root_port, msi + 2, 1, 2);
    bench.ask();
    bench.wait_for_l0();
    pause(1 * vp::us);
    EXPECT_TRUE(bench.memory.messages.empty());
    bench.config_write(Bench::root_port, bench.port_express + 0x10, bandwidth_interrupt, 2);
    pause(1 * vp::us);
    EXPECT_EQ(bench.memory.messages.size(), 1u) << "of what has been";
    bench.config_write(Bench::root_port, bench.port_express + 0x12, bandwidth_managed, 2);
    bench.ask();
    EXPECT_EQ(bench.memory.messages.size(), 1u);
    bench.wait_for_l0();
    pause(1 * vp::us);
    EXPECT_EQ(bench.memory.messages.size(), 2u);
    bench.config_write(Bench::device, bench.express + 0x10, retrain | bandwidth_interrupt, 2);
    EXPECT_EQ(bench.config_read(Bench::device, bench.express + 0x10, 2), 0u) << "a port's above";
    EXPECT_EQ(bench.link_status() & link_training, 0u);
  });
}

// Requests in both directions at every stage of their ways, with finite credits or without.
class RetrainUnderLoad : public testing::TestWithParam<bool> {};

TEST_P(RetrainUnderLoad, LosesNothing) {
  auto config = RetrainBench::configuration(5, 4);
  if (GetParam()) {
    config.endpoint.credits = {{{{4, 32}, {4, 1}, {0, 0}}}, 1};
    config.root_complex.ports[0].credits = {{{{4, 64}, {4, 2}, {0, 0}}}, 1};
  }
  RetrainBench bench(config);
  bench.memory.read_time = 1 * vp::us;
  bench.run([&] {
    bench.begin();
    bench.logic.latency = 1 * vp::us;
    unsigned round = 0;
    for (vp::Picoseconds moment = 0; moment < 4 * vp::us; moment += 97 * vp::ns, ++round) {
      for (unsigned i = 0; i < 64; ++i) bench.logic.memory[0][i] = i + round;
      const auto expected = std::vector<std::uint8_t>(bench.logic.memory[0].begin(),
                                                      bench.logic.memory[0].begin() + 64);
      std::unique_ptr<Logic::Dma> dma = bench.logic.dma_read(0x1000, 4096);
      const std::size_t writes = bench.memory.writes.size();
      std::vector<std::unique_ptr<Logic::Dma>> written;
      for (unsigned i = 0; i < 20; ++i) {
        written.push_back(
            bench.logic.dma_write(0x8000 + 256 * i, std::vector<std::uint8_t>(128, i + round)));
      }
      unsigned ended = 0;
      for (unsigned i = 0; i < 40; ++i) {
        bench.spawn([&] {
          EXPECT_EQ(bench.read_bytes(Bench::bar0, 64), expected);
          ++ended;
        });
      }
      pause(moment);
      bench.set_target(1 + round % 5);
      bench.ask();
      if (round % 3 == 0) {  // again, before it is over
        pause(10 * vp::us);
        bench.ask();
      }
      pause(200 * vp::us);
      EXPECT_EQ(bench.link_status() & (mode | link_training), (1 + round % 5) | 4u << 4);
      EXPECT_EQ(ended, 40u);
      ASSERT_TRUE(dma->done);
      EXPECT_TRUE(dma->is_response_ok());
      EXPECT_EQ(dma->data, bench.memory.at(0x1000, 4096));
      ASSERT_EQ(bench.memory.writes.size(), writes + 20);
      for (unsigned i = 0; i < 20; ++i) {
        EXPECT_EQ(bench.memory.writes[writes + i].address, 0x8000 + 256 * i) << "in order";
      }
    }
    for (const char* name :
         {"root_complex.port0.unexpected_completions", "root_complex.port0.completion_timeouts",
          "endpoint.pf0.unexpected_completions"}) {
      EXPECT_EQ(bench.counter(name), 0u) << name;
    }
    EXPECT_EQ(bench.told, 0u);
  });
}
INSTANTIATE_TEST_SUITE_P(Credits, RetrainUnderLoad, testing::Bool());

TEST(Retrain, WithoutALinkThereIsNothingToRetrain) {
  RetrainBench bench(4);
  bench.run([&] {
    bench.begin();
    bench.hold();
    bench.ask();
    EXPECT_EQ(bench.link_status() & (link_active | link_training), 0u);
    bench.release();
    bench.ask();
    bench.wait_for_link();
    pause(1 * vp::ms);
    EXPECT_EQ(bench.link_status() & (link_active | link_training), link_active);
    bench.begin();
    // And a link that goes down in Recovery does not come back by that.
    bench.ask();
    pause(1 * vp::us);
    bench.hold();
    pause(1 * vp::ms);
    EXPECT_EQ(bench.link_status() & (link_active | link_training), 0u);
    bench.release();
    bench.wait_for_link();
    bench.begin();
    bench.expect_work();
  });
}

// Of x16 the lanes up to the first that has failed, counted from lane 0 or from lane 15.
TEST(LaneFailure, TheLinkGoesOnWithTheLanesThatAreLeft) {
  RetrainBench bench(4);
  struct {
    Direction direction;
    unsigned lane, width;
  } const steps[] = {{Direction::down, 15, 8}, {Direction::up, 12, 8},  {Direction::up, 6, 4},
                     {Direction::down, 4, 4},  {Direction::down, 2, 2}, {Direction::up, 1, 1}};
  bench.run([&] {
    bench.begin();
    unsigned width = 16;
    for (const auto& step : steps) {
      const bool down = step.direction == Direction::down;
      const Id id = down ? Bench::device : Bench::root_port;
      const Id other = down ? Bench::root_port : Bench::device;
      EXPECT_FALSE(bench.link.fail_lane(step.direction, 16));
      EXPECT_TRUE(bench.link.fail_lane(step.direction, step.lane));
      const vp::Picoseconds start = vp::now();
      std::unique_ptr<Logic::Dma> dma = bench.logic.dma_read(0x1000, 4096);
      pause(bench.link.min_latency(step.direction) - 1);
      EXPECT_EQ(bench.link_status() & (mode | link_training), 4u | width << 4);
      const bool of_use = step.width != width;
      pause(start + 1 * vp::us + 500 * vp::ns - vp::now());
      EXPECT_EQ((bench.link_status() & link_training) != 0, of_use) << step.lane;
      pause(100 * vp::us);
      EXPECT_EQ(bench.link_status() & (mode | link_training | bandwidth_managed),
                4u | step.width << 4 | (of_use ? bandwidth_managed : 0u));
      EXPECT_EQ(bench.status_below() & mode, 4u | step.width << 4);
      EXPECT_EQ(bench.link.lanes(), step.width);
      EXPECT_EQ(bench.correctable(id), of_use ? bit_of(Error::receiver_error) : 0u);
      EXPECT_EQ(bench.correctable(other), 0u);
      EXPECT_EQ(bench.lane_errors(id), of_use ? 1u << step.lane : 0u);
      EXPECT_EQ(bench.lane_errors(other), 0u);
      bench.config_write(id, 0x110, ~0u, 4);
      bench.config_write(id, bench.find_extended_capability(id, 0x19) + 8, ~0u, 4);
      bench.config_write(Bench::root_port, bench.port_express + 0x12, bandwidth_managed, 2);
      width = step.width;
      ASSERT_TRUE(dma->done);
      EXPECT_EQ(dma->data, bench.memory.at(0x1000, 4096));
      bench.expect_work();
    }
    EXPECT_FALSE(bench.link.fail_lane(Direction::up, 0)) << "the last one";
    bench.hold();
    bench.release();
    bench.wait_for_link();
    EXPECT_EQ(bench.link_status() & mode, 4u | 1u << 4) << "no reset heals a lane";
  });
}

// Each lane of each width alone, in a link of its own.
class EachLane : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(EachLane, FailsAlone) {
  const auto [lanes, lane] = GetParam();
  if (lane >= lanes) return;
  RetrainBench bench(3, lanes);
  const unsigned most = std::max(lane, lanes - 1 - lane);
  unsigned expected = 0;
  for (unsigned width = 1; width <= most; width *= 2) expected = width;
  bench.run([&, lane = lane, lanes = lanes] {
    bench.begin();
    EXPECT_EQ(bench.link.fail_lane(Direction::up, lane), expected != 0);
    pause(100 * vp::us);
    EXPECT_EQ(bench.link.lanes(), expected == 0 ? lanes : expected);
    bench.expect_work();
  });
}
INSTANTIATE_TEST_SUITE_P(Widths, EachLane,
                         testing::Combine(testing::Values(1u, 2u, 4u, 16u),
                                          testing::Values(0u, 1u, 2u, 3u, 7u, 8u, 15u)));

}  // namespace
}  // namespace pcie
