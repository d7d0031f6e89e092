// SPDX-License-Identifier: Apache-2.0
// Flit mode is negotiated when a link trains from Detect (PCIe 6.0, 4.2.7.3.2). What follows from
// it does so at any speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

constexpr std::uint32_t disable = 1u << 13, disable_link = 1u << 4, retrain = 1u << 5;

struct FlitModeFixture : ResetFixture {
  FlitModeFixture(unsigned channel, unsigned upper_port, unsigned lower_port)
      : ResetFixture(configuration(channel, upper_port, lower_port)) {}

  static Config configuration(unsigned channel, unsigned upper_port, unsigned lower_port) {
    Config config = ResetFixture::configuration();
    config.link.generation = channel;
    config.root_complex.ports[0].generation = upper_port;
    config.endpoint.generation = lower_port;
    return config;
  }
  void control(std::uint32_t bits) {
    config_write(root_port, port_express + PciExpress::link_control, bits, 2);
    while (link_status() & link_training) pause(1 * vp::us);
  }
  std::uint32_t control() {
    return config_read(root_port, port_express + PciExpress::link_control, 2);
  }
  void hot_reset() {
    hold();
    release();
    wait_for_link();
    begin();
  }
  /// Both ends say so, and it shows: a write of 8 bytes to a 64-bit address takes 24 bytes in
  /// flits, and outside of them 8 more of framing, sequence number and LCRC.
  void expect(bool flits, unsigned generation) {
    EXPECT_EQ(config_read(root_port, port_express + PciExpress::link_status_2, 2) >> 10 & 1, flits);
    EXPECT_EQ(config_read(device, express + PciExpress::link_status_2, 2) >> 10 & 1, flits);
    EXPECT_EQ(link_status() & 0xf, generation);
    EXPECT_EQ(config_read(device, express + PciExpress::link_status, 2) & 0xf, generation);
    const std::uint64_t before = counter("link.down.wire_bytes");
    write(bar2, 0, 8);
    pause(10 * vp::us);
    EXPECT_EQ(counter("link.down.wire_bytes") - before, flits ? 24u : 32u);
    expect_work();
  }
};

class FlitModeOfPorts : public testing::TestWithParam<std::tuple<unsigned, unsigned, unsigned>> {};

TEST_P(FlitModeOfPorts, IsOnIfBothSupportIt) {
  const auto [channel, upper_port, lower_port] = GetParam();
  FlitModeFixture fixture(channel, upper_port, lower_port);
  fixture.run([&, channel = channel, upper_port = upper_port, lower_port = lower_port] {
    fixture.begin();
    EXPECT_EQ(fixture.config_read(Fixture::root_port, fixture.port_express + 2, 2) >> 15,
              upper_port == 6);
    EXPECT_EQ(fixture.config_read(Fixture::device, fixture.express + 2, 2) >> 15, lower_port == 6);
    const bool flits = upper_port == 6 && lower_port == 6;
    const unsigned speed = std::min({channel, upper_port, lower_port});
    fixture.expect(flits, speed);
    fixture.hot_reset();
    fixture.expect(flits, speed);
  });
}
INSTANTIATE_TEST_SUITE_P(Links, FlitModeOfPorts,
                         testing::Combine(testing::Values(1u, 3u, 5u, 6u), testing::Values(5u, 6u),
                                          testing::Values(5u, 6u)));

// Without flit mode, there is no 64 GT/s.
TEST(FlitMode, SoftwareDisablesItForTheNextTraining) {
  FlitModeFixture fixture(6, 6, 6);
  fixture.run([&] {
    fixture.begin();
    EXPECT_EQ(fixture.control(), 0u);
    fixture.control(disable);
    EXPECT_EQ(fixture.control(), disable);
    fixture.expect(true, 6);
    fixture.control(disable | retrain);
    fixture.expect(true, 6);

    fixture.hot_reset();
    fixture.expect(false, 5);
    EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                  fixture.port_express + PciExpress::link_control_2, 2),
              6u)
        << "the target";
    fixture.control(disable | retrain);
    fixture.expect(false, 5);
    fixture.control(retrain);
    fixture.expect(false, 5);

    fixture.control(disable_link);
    fixture.control(0);
    fixture.wait_for_link();
    fixture.begin();
    fixture.expect(true, 6);

    fixture.control(disable);
    fixture.hot_reset();
    fixture.expect(false, 5);
    fixture.root_complex.reset();
    pause(1 * vp::ms);
    fixture.begin();
    EXPECT_EQ(fixture.control(), 0u);
    fixture.expect(true, 6);
  });
}

// A link with a slow target enters flit mode too, and is in it at each speed from then on.
TEST(FlitMode, DoesNotDependOnTheTargetSpeed) {
  FlitModeFixture fixture(6, 6, 6);
  fixture.run([&] {
    fixture.begin();
    for (unsigned target = 1; target <= 6; ++target) {
      fixture.config_write(Fixture::root_port, fixture.port_express + PciExpress::link_control_2,
                           target, 2);
      fixture.hot_reset();
      fixture.expect(true, target);
    }
  });
}

// The reset that precedes each training clears the bit below the link.
TEST(FlitMode, TheLowerPortCannotDisableIt) {
  FlitModeFixture fixture(6, 6, 6);
  fixture.run([&] {
    fixture.begin();
    const unsigned control = fixture.express + PciExpress::link_control;
    fixture.config_write(Fixture::device, control, disable, 2);
    EXPECT_EQ(fixture.config_read(Fixture::device, control, 2), disable);
    fixture.hot_reset();
    EXPECT_EQ(fixture.config_read(Fixture::device, control, 2), 0u);
    fixture.expect(true, 6);
  });
}

// A stream of writes of 256 bytes with headers of 16, which the DLLPs of the specification do not
// slow down in flits: 512 Gb/s x 128/130 x 374/375 x 236/256 x 256/272 is 436.2 Gb/s. Outside of
// flits, 459.7 Gb/s would be left without any DLLP.
TEST(FlitMode, TakesItsShareOfTheChannel) {
  auto config = FlitModeFixture::configuration(5, 6, 6);
  Fixture fixture(config);
  fixture.memory.base = 0x8'0000'0000;
  fixture.run([&] {
    fixture.enumerate();
    fixture.set_sizes(256, 512);
    constexpr unsigned count = 2'000;
    std::vector<std::unique_ptr<Logic::Dma>> all;
    for (unsigned i = 0; i < count; ++i) {
      all.push_back(
          fixture.logic.dma_write(fixture.memory.base + 256 * i, std::vector<std::uint8_t>(256)));
    }
    pause(1 * vp::ms);
    const auto& writes = fixture.memory.writes;
    ASSERT_EQ(writes.size(), count);
    const auto time = static_cast<double>(writes.back().when - writes.front().when);
    EXPECT_NEAR(8000.0 * 256 * (count - 1) / time, 436.2, 0.5);
  });
}

}  // namespace
}  // namespace pcie
