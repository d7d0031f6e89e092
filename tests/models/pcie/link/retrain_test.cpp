// SPDX-License-Identifier: Apache-2.0
// Recovery (PCIe 5.0, 4.2.6.4): by software, with another speed, and without a lane that has
// failed. Nothing that is under way is lost, and both ends say the same of the link.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/models/pcie/data_link/line_rate_table.h"
#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

constexpr std::uint32_t retrain = PciExpress::LinkControlBit::retrain_link;
constexpr std::uint32_t bandwidth_interrupt =
    PciExpress::LinkControlBit::bandwidth_management_enable;
constexpr std::uint32_t bandwidth_managed = PciExpress::LinkStatusBit::bandwidth_management;
constexpr std::uint32_t mode = PciExpress::LinkStatusBit::speed | PciExpress::LinkStatusBit::width;

struct RetrainFixture : ResetFixture {
  explicit RetrainFixture(unsigned generation = 5, unsigned lanes = 16)
      : RetrainFixture(configuration(generation, lanes)) {}
  explicit RetrainFixture(const Config& config) : ResetFixture(config) {}

  static Config configuration(unsigned generation, unsigned lanes) {
    Config config = ResetFixture::configuration();
    config.root_complex.ports[0].generation = generation;
    config.endpoint.generation = generation;
    config.link.generation = generation;
    config.link.lanes = lanes;
    config.link.retraining = 20 * vp::us;
    return config;
  }
  void set_target(unsigned generation) {
    config_write(root_port, port_express + PciExpress::link_control_2, generation, 2);
  }
  void ask() {
    const std::uint32_t control =
        config_read(root_port, port_express + PciExpress::link_control, 2);
    config_write(root_port, port_express + PciExpress::link_control, control | retrain, 2);
  }
  void wait_for_l0() {
    while (link_status() & link_training) pause(100 * vp::ns);
  }
  std::uint32_t status_below() { return config_read(device, express + PciExpress::link_status, 2); }
  unsigned correctable(Id id) {
    return config_read(
        id, ConfigSpace::first_extended_capability + AdvancedErrorReporting::correctable_status, 4);
  }  // AER is the first
  unsigned lane_errors(Id id) {
    return config_read(id,
                       find_extended_capability(id, SecondaryPciExpress::id) +
                           SecondaryPciExpress::lane_error_status,
                       4);
  }
  vp::Picoseconds time_of_read() {
    const vp::Picoseconds start = vp::now();
    read_bytes(bar0, 64);
    return vp::now() - start;
  }
  /// How much of that time the wire takes, for two packets of 20 and 84 bytes.
  static double wire_time_of_read(unsigned generation, unsigned lanes) {
    return 104.0 * 8000 / expected_rate(generation, lanes).own.gigabits_per_second();
  }
};

TEST(Retrain, TheSpeedIsTheLeastOfBothEndsAndTheTarget) {
  RetrainFixture fixture(5);
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds fast = fixture.time_of_read();
    for (const unsigned target : {1u, 4u, 2u, 5u, 3u, 0u, 6u, 15u}) {
      const unsigned expected = std::clamp(target, 1u, 5u);
      fixture.set_target(target);
      const std::uint32_t before = fixture.link_status();
      EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                    fixture.port_express + PciExpress::link_control, 2) &
                    retrain,
                0u);
      fixture.ask();
      const vp::Picoseconds start = vp::now();
      EXPECT_EQ(fixture.link_status(), before | link_training) << "and still active";
      EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                    fixture.port_express + PciExpress::link_control, 2) &
                    retrain,
                0u);
      pause(20 * vp::us - 1);
      EXPECT_EQ(fixture.link_status(), before | link_training);
      pause(1);
      EXPECT_EQ(vp::now(), start + 20 * vp::us);
      EXPECT_EQ(fixture.link_status(), (before & ~mode) | expected | 16u << 4 | bandwidth_managed);
      EXPECT_EQ(fixture.status_below() & (mode | 0xf << 11), expected | 16u << 4 | 1u << 12);
      fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_status,
                           bandwidth_managed, 2);
      EXPECT_EQ(fixture.link_status() & bandwidth_managed, 0u);
      EXPECT_EQ(fixture.link.generation(), expected);
      const double more =
          fixture.wire_time_of_read(expected, 16) - fixture.wire_time_of_read(5, 16);
      EXPECT_NEAR(static_cast<double>(fixture.time_of_read() - fast), more, 4) << target;
      fixture.expect_work();
    }
    EXPECT_EQ(fixture.notified, 0u) << "no function is reset";
    EXPECT_EQ(fixture.correctable(Fixture::root_port) | fixture.correctable(Fixture::device), 0u);
  });
}

// 7.5.3.19: the target speed is sticky, so it applies after a hot reset but not after power-up.
TEST(Retrain, TheTargetHoldsAfterAHotReset) {
  RetrainFixture fixture(4);
  fixture.run([&] {
    fixture.begin();
    fixture.set_target(2);
    EXPECT_EQ(fixture.link_status() & 0xf, 4u) << "not asked for yet";
    fixture.hold();
    fixture.release();
    fixture.wait_for_link();
    EXPECT_EQ(fixture.link_status() & (mode | bandwidth_managed), 2u | 16u << 4);
    fixture.begin();
    EXPECT_EQ(fixture.status_below() & mode, 2u | 16u << 4);
    // Equalized for a speed when it is reached first, and from then on.
    const unsigned equalized = fixture.express + PciExpress::link_status_2;
    EXPECT_EQ(fixture.config_read(Fixture::device, equalized, 2), 0u);
    const unsigned physical =
        fixture.find_extended_capability(Fixture::device, PhysicalLayer::id(4));
    EXPECT_EQ(fixture.config_read(Fixture::device, physical + PhysicalLayer::status, 4), 0u);
    fixture.set_target(4);
    fixture.ask();
    fixture.wait_for_l0();
    EXPECT_EQ(fixture.config_read(Fixture::device, equalized, 2), 0x1eu);
    EXPECT_EQ(fixture.config_read(Fixture::device, physical + PhysicalLayer::status, 4), 0xfu);
    fixture.set_target(1);
    fixture.ask();
    fixture.wait_for_l0();
    EXPECT_EQ(fixture.config_read(Fixture::device, physical + PhysicalLayer::status, 4), 0xfu);
    fixture.expect_work();
    fixture.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.link_status() & mode, 4u | 16u << 4);
  });
}

TEST(Retrain, ALinkInFlitModeStaysInIt) {
  RetrainFixture fixture(6);
  fixture.run([&] {
    fixture.begin();
    for (unsigned target = 1; target <= 6; ++target) {
      fixture.set_target(target);
      fixture.ask();
      fixture.wait_for_l0();
      EXPECT_EQ(fixture.status_below() & 0xf, target);
      EXPECT_EQ(
          fixture.config_read(Fixture::device, fixture.express + PciExpress::link_status_2, 2) >>
              10,
          1u);
      EXPECT_EQ(fixture.link.rate().flit, 236u);
      fixture.expect_work();
    }
  });
}

TEST(Retrain, SoftwareIsInterruptedIfItWantsThat) {
  RetrainFixture fixture(4);
  fixture.run([&] {
    fixture.begin();
    const unsigned msi = fixture.find_capability(Fixture::root_port, Msi::id);
    fixture.config_write(Fixture::root_port, msi + Msi::message_data, 0x41, 2);
    fixture.enable_msi(Fixture::root_port);
    fixture.ask();
    fixture.wait_for_l0();
    pause(1 * vp::us);
    EXPECT_TRUE(fixture.memory.messages.empty());
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control,
                         bandwidth_interrupt, 2);
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 1u) << "of what has been";
    fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_status,
                         bandwidth_managed, 2);
    fixture.ask();
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    fixture.wait_for_l0();
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 2u);
    fixture.config_write(Fixture::device, fixture.express + PciExpress::link_control,
                         retrain | bandwidth_interrupt, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + PciExpress::link_control, 2),
              0u)
        << "a port's above";
    EXPECT_EQ(fixture.link_status() & link_training, 0u);
  });
}

// Requests in both directions at every stage of their ways, with finite credits or without.
class RetrainUnderLoad : public testing::TestWithParam<bool> {};

TEST_P(RetrainUnderLoad, LosesNothing) {
  auto config = RetrainFixture::configuration(5, 4);
  if (GetParam()) {
    config.endpoint.credits = {{{{4, 32}, {4, 1}, {0, 0}}}, 1};
    config.root_complex.ports[0].credits = {{{{4, 64}, {4, 2}, {0, 0}}}, 1};
  }
  RetrainFixture fixture(config);
  fixture.memory.read_time = 1 * vp::us;
  fixture.run([&] {
    fixture.begin();
    fixture.logic.latency = 1 * vp::us;
    unsigned round = 0;
    for (vp::Picoseconds moment = 0; moment < 4 * vp::us; moment += 97 * vp::ns, ++round) {
      for (unsigned i = 0; i < 64; ++i) fixture.logic.memory[0][i] = i + round;
      const auto expected = std::vector<std::uint8_t>(fixture.logic.memory[0].begin(),
                                                      fixture.logic.memory[0].begin() + 64);
      std::unique_ptr<Logic::Dma> dma = fixture.logic.dma_read(0x1000, 4096);
      const std::size_t writes = fixture.memory.writes.size();
      std::vector<std::unique_ptr<Logic::Dma>> written;
      for (unsigned i = 0; i < 20; ++i) {
        written.push_back(
            fixture.logic.dma_write(0x8000 + 256 * i, std::vector<std::uint8_t>(128, i + round)));
      }
      unsigned ended = 0;
      for (unsigned i = 0; i < 40; ++i) {
        fixture.spawn([&] {
          EXPECT_EQ(fixture.read_bytes(Fixture::bar0, 64), expected);
          ++ended;
        });
      }
      pause(moment);
      fixture.set_target(1 + round % 5);
      fixture.ask();
      if (round % 3 == 0) {  // again, before it is over
        pause(10 * vp::us);
        fixture.ask();
      }
      pause(200 * vp::us);
      EXPECT_EQ(fixture.link_status() & (mode | link_training), (1 + round % 5) | 4u << 4);
      EXPECT_EQ(ended, 40u);
      ASSERT_TRUE(dma->done);
      EXPECT_TRUE(dma->is_response_ok());
      EXPECT_EQ(dma->data, fixture.memory.at(0x1000, 4096));
      ASSERT_EQ(fixture.memory.writes.size(), writes + 20);
      for (unsigned i = 0; i < 20; ++i) {
        EXPECT_EQ(fixture.memory.writes[writes + i].address, 0x8000 + 256 * i) << "in order";
      }
    }
    for (const char* name :
         {"root_complex.port0.unexpected_completions", "root_complex.port0.completion_timeouts",
          "endpoint.pf0.unexpected_completions"}) {
      EXPECT_EQ(fixture.counter(name), 0u) << name;
    }
    EXPECT_EQ(fixture.notified, 0u);
  });
}
INSTANTIATE_TEST_SUITE_P(Credits, RetrainUnderLoad, testing::Bool());

TEST(Retrain, WithoutALinkThereIsNothingToRetrain) {
  RetrainFixture fixture(4);
  fixture.run([&] {
    fixture.begin();
    fixture.hold();
    fixture.ask();
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), 0u);
    fixture.release();
    fixture.ask();
    fixture.wait_for_link();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), link_active);
    fixture.begin();
    // The end of Recovery does not bring up a link that has gone down meanwhile.
    fixture.ask();
    pause(1 * vp::us);
    fixture.hold();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.link_status() & (link_active | link_training), 0u);
    fixture.release();
    fixture.wait_for_link();
    fixture.begin();
    fixture.expect_work();
  });
}

// Of x16 the lanes up to the first that has failed, counted from lane 0 or from lane 15.
TEST(LaneFailure, TheLinkGoesOnWithTheLanesThatAreLeft) {
  RetrainFixture fixture(4);
  struct {
    Direction direction;
    unsigned lane, width;
  } const steps[] = {{Direction::down, 15, 8}, {Direction::up, 12, 8},  {Direction::up, 6, 4},
                     {Direction::down, 4, 4},  {Direction::down, 2, 2}, {Direction::up, 1, 1}};
  fixture.run([&] {
    fixture.begin();
    unsigned width = 16;
    for (const auto& step : steps) {
      const bool down = step.direction == Direction::down;
      const Id id = down ? Fixture::device : Fixture::root_port;
      const Id other = down ? Fixture::root_port : Fixture::device;
      EXPECT_FALSE(fixture.link.fail_lane(step.direction, 16));
      EXPECT_TRUE(fixture.link.fail_lane(step.direction, step.lane));
      const vp::Picoseconds start = vp::now();
      std::unique_ptr<Logic::Dma> dma = fixture.logic.dma_read(0x1000, 4096);
      pause(fixture.link.min_latency(step.direction) - 1);
      EXPECT_EQ(fixture.link_status() & (mode | link_training), 4u | width << 4);
      const bool of_use = step.width != width;
      pause(start + 1 * vp::us + 500 * vp::ns - vp::now());
      EXPECT_EQ((fixture.link_status() & link_training) != 0, of_use) << step.lane;
      pause(100 * vp::us);
      EXPECT_EQ(fixture.link_status() & (mode | link_training | bandwidth_managed),
                4u | step.width << 4 | (of_use ? bandwidth_managed : 0u));
      EXPECT_EQ(fixture.status_below() & mode, 4u | step.width << 4);
      EXPECT_EQ(fixture.link.lanes(), step.width);
      EXPECT_EQ(fixture.correctable(id), of_use ? bit_of(Error::receiver_error) : 0u);
      EXPECT_EQ(fixture.correctable(other), 0u);
      EXPECT_EQ(fixture.lane_errors(id), of_use ? 1u << step.lane : 0u);
      EXPECT_EQ(fixture.lane_errors(other), 0u);
      fixture.config_write(
          id, ConfigSpace::first_extended_capability + AdvancedErrorReporting::correctable_status,
          ~0u, 4);
      fixture.config_write(id,
                           fixture.find_extended_capability(id, SecondaryPciExpress::id) +
                               SecondaryPciExpress::lane_error_status,
                           ~0u, 4);
      fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_status,
                           bandwidth_managed, 2);
      width = step.width;
      ASSERT_TRUE(dma->done);
      EXPECT_EQ(dma->data, fixture.memory.at(0x1000, 4096));
      fixture.expect_work();
    }
    EXPECT_FALSE(fixture.link.fail_lane(Direction::up, 0)) << "the last one";
    fixture.hold();
    fixture.release();
    fixture.wait_for_link();
    EXPECT_EQ(fixture.link_status() & mode, 4u | 1u << 4) << "no reset heals a lane";
  });
}

// Each of these failures alone would leave 15 lanes, and both together none.
TEST(LaneFailure, FailuresOnTheirWayCount) {
  RetrainFixture fixture(4);
  fixture.run([&] {
    fixture.begin();
    EXPECT_TRUE(fixture.link.fail_lane(Direction::down, 0));
    EXPECT_FALSE(fixture.link.fail_lane(Direction::up, 15));
    EXPECT_TRUE(fixture.link.fail_lane(Direction::up, 0)) << "the same lane again";
    pause(100 * vp::us);
    EXPECT_EQ(fixture.link.lanes(), 8u);
    EXPECT_FALSE(fixture.link.fail_lane(Direction::up, 15));
    fixture.expect_work();
  });
}

class FailedLane : public testing::TestWithParam<std::tuple<Direction, vp::Picoseconds>> {};

// A lane fails while the link is down, in training, or just then comes up.
TEST_P(FailedLane, IsNotTrained) {
  const auto [direction, after] = GetParam();
  RetrainFixture fixture(4);
  fixture.run([&, direction = direction, after = after] {
    fixture.begin();
    const vp::Picoseconds wide = fixture.time_of_read();
    fixture.spawn([&] {
      pause(after - fixture.link.min_latency(direction));
      EXPECT_TRUE(fixture.link.fail_lane(direction, 5));
    });
    fixture.hold();
    pause(10 * vp::us);
    fixture.release();
    pause(45 * vp::us);
    EXPECT_FALSE(fixture.link_status() & link_active);
    fixture.wait_for_link();
    pause(30 * vp::us);  // Recovery follows if the link has just come up
    EXPECT_EQ(fixture.link_status() & mode, 4u | 8u << 4);
    fixture.enumerate();
    EXPECT_EQ(fixture.status_below() & mode, 4u | 8u << 4);
    const double more = fixture.wire_time_of_read(4, 8) - fixture.wire_time_of_read(4, 16);
    EXPECT_NEAR(static_cast<double>(fixture.time_of_read() - wide), more, 4);
    fixture.expect_work();
  });
}
INSTANTIATE_TEST_SUITE_P(LaneFailure, FailedLane,
                         testing::Combine(testing::Values(Direction::down, Direction::up),
                                          testing::Values(5 * vp::us, 10 * vp::us, 40 * vp::us,
                                                          60 * vp::us - 1, 60 * vp::us,
                                                          60 * vp::us + 1)));

// Each lane of each width alone, in a link of its own.
class EachLane : public testing::TestWithParam<std::tuple<unsigned, unsigned>> {};

TEST_P(EachLane, FailsAlone) {
  const auto [lanes, lane] = GetParam();
  if (lane >= lanes) return;
  RetrainFixture fixture(3, lanes);
  const unsigned most = std::max(lane, lanes - 1 - lane);
  unsigned expected = 0;
  for (unsigned width = 1; width <= most; width *= 2) expected = width;
  fixture.run([&, lane = lane, lanes = lanes] {
    fixture.begin();
    EXPECT_EQ(fixture.link.fail_lane(Direction::up, lane), expected != 0);
    pause(100 * vp::us);
    EXPECT_EQ(fixture.link.lanes(), expected == 0 ? lanes : expected);
    fixture.expect_work();
  });
}
INSTANTIATE_TEST_SUITE_P(Widths, EachLane,
                         testing::Combine(testing::Values(1u, 2u, 4u, 16u),
                                          testing::Values(0u, 1u, 2u, 3u, 7u, 8u, 15u)));

}  // namespace
}  // namespace pcie
