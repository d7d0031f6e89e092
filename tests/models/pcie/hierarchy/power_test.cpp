// SPDX-License-Identifier: Apache-2.0
// What a function hears of its power: that it is lost, and that it is back.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/models/pcie/hierarchy/switch_fixture.h"
#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

constexpr HotPlugSlotConfig slot =
    HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise, &HotPlugSlotConfig::power});
constexpr std::uint32_t power_off = HotPlugSlot::ControlBit::power_off;

/// What a function has heard: l, a loss of power; r, a reset; u, power-up.
struct Heard {
  explicit Heard(Function& function) {
    function.on_power_loss([this] { note('l'); });
    function.on_reset([this] { note('r'); });
    function.on_power_up([this] { note('u'); });
  }
  void note(char what) {
    events += what;
    when.push_back(vp::now());
  }
  /// Takes the events since the last call, with the time of the last one in `last`.
  std::string take() {
    last = when.empty() ? -1 : when.back();
    when.clear();
    return std::exchange(events, {});
  }

  std::string events;
  std::vector<vp::Picoseconds> when;
  vp::Picoseconds last = -1;
};

struct PowerFixture : ResetFixture {
  explicit PowerFixture(const Config& config = configured()) : ResetFixture(config) {}
  static Config configured() {
    Config config = configuration();
    config.root_complex.ports[0].hot_plug = slot;
    return config;
  }
  RootPort& port() { return root_complex.port(0); }
  void control(std::uint32_t value) {
    config_write(root_port, port_express + PciExpress::slot_control, value, 2);
  }
  /// Pulls the card, and returns the time that it takes to be noticed there.
  vp::Picoseconds measure_latency() {
    const vp::Picoseconds start = vp::now();
    port().remove_card();
    pause(10 * vp::us);
    EXPECT_EQ(heard.take(), "lr");
    EXPECT_GE(heard.last - start, 300 * vp::ns);
    EXPECT_LT(heard.last - start, 400 * vp::ns);
    return heard.last - start;
  }

  /// Inserts the card, and forgets what is heard until the link is up.
  void put_back() {
    port().insert_card();
    wait_for_link();
    heard.take();
  }

  Heard heard{endpoint.function(0)};
};

TEST(Power, IsBackOnceOneLatencyAfterTheCardIsBackAndBeforeTheLinkIs) {
  PowerFixture fixture;
  fixture.run([&] {
    fixture.begin();
    for (unsigned round = 0; round < 3; ++round) {
      const vp::Picoseconds latency = fixture.measure_latency();
      const vp::Picoseconds inserted = vp::now();
      fixture.port().insert_card();
      pause(latency - 1);
      EXPECT_EQ(fixture.heard.take(), "");
      pause(2);
      EXPECT_EQ(fixture.heard.take(), "u");
      EXPECT_EQ(fixture.heard.last, inserted + latency);
      EXPECT_EQ(fixture.link_status() & link_active, 0u);
      fixture.wait_for_link();
      pause(1 * vp::ms);
      EXPECT_EQ(fixture.heard.take(), "");
      fixture.enumerate();
      fixture.expect_work();
    }
  });
}

TEST(Power, OfTheSlotIsPowerOfTheCard) {
  PowerFixture fixture;
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds latency = fixture.measure_latency();
    fixture.put_back();
    fixture.control(power_off);
    pause(1 * vp::us);
    EXPECT_EQ(fixture.heard.take(), "lr");
    // A card without power may be pulled and put back.
    fixture.port().remove_card();
    pause(1 * vp::us);
    fixture.port().insert_card();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.heard.take().find('u'), std::string::npos);
    const vp::Picoseconds on = vp::now();
    fixture.control(0);
    pause(on + latency + 1 - vp::now());
    EXPECT_EQ(fixture.heard.take(), "u");
    EXPECT_EQ(fixture.heard.last, on + latency);
    fixture.wait_for_link();
    EXPECT_EQ(fixture.heard.take(), "");
  });
}

// The slot gives power whatever else holds the link down, and the link trains after that.
class HeldDown : public testing::TestWithParam<vp::Picoseconds> {};

TEST_P(HeldDown, IsBackWhileTheLinkIsHeldDown) {
  const vp::Picoseconds power_up = GetParam();
  PowerFixture::Config config = PowerFixture::configured();
  config.link.power_up = power_up;
  PowerFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds latency = fixture.measure_latency();
    for (const bool disabled : {false, true}) {
      const unsigned control = fixture.port_express + PciExpress::link_control;
      if (disabled) {
        fixture.config_write(Fixture::root_port, control, 1 << 4, 2);
        pause(1 * vp::us);
        EXPECT_EQ(fixture.heard.take(), "r");
      }
      const vp::Picoseconds inserted = vp::now();
      fixture.port().insert_card();
      pause(power_up + latency + 1);
      EXPECT_EQ(fixture.heard.take(), "u");
      EXPECT_EQ(fixture.heard.last, inserted + power_up + latency);
      EXPECT_EQ(fixture.link_status() & link_active, 0u);
      if (disabled) {
        pause(1 * vp::ms);
        EXPECT_EQ(fixture.link_status() & link_active, 0u);
        fixture.config_write(Fixture::root_port, control, 0, 2);
      }
      fixture.wait_for_link();
      EXPECT_EQ(fixture.heard.take(), "");
      fixture.measure_latency();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Power, HeldDown, testing::Values(0, 3 * vp::us, 1 * vp::ms));

TEST(Power, ResetsAreNoLosses) {
  PowerFixture fixture;
  fixture.run([&] {
    fixture.begin();
    fixture.hold();
    pause(1 * vp::us);
    EXPECT_EQ(fixture.heard.take(), "r");
    fixture.release();
    fixture.wait_for_link();
    fixture.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.heard.take(), "r");
    fixture.begin();
    const unsigned control = fixture.port_express + PciExpress::link_control;
    fixture.config_write(Fixture::root_port, control, 1 << 4, 2);  // Link Disable
    pause(1 * vp::us);
    fixture.config_write(Fixture::root_port, control, 0, 2);
    fixture.wait_for_link();
    EXPECT_EQ(fixture.heard.take(), "r");
    fixture.begin();
    fixture.initiate();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.heard.take(), "r");
  });
}

// A loss is told before the power-up, whatever else was on its way.
TEST(Power, RemovalAndInsertionAtOneInstantAreALossAndAPowerUp) {
  PowerFixture fixture;
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds latency = fixture.measure_latency();
    fixture.put_back();
    for (const bool in_reset : {false, true}) {
      if (in_reset) {
        fixture.hold();
        fixture.release();
        pause(latency / 2);
      }
      const vp::Picoseconds start = vp::now();
      fixture.port().remove_card();
      fixture.port().insert_card();
      pause(1 * vp::us);
      EXPECT_EQ(fixture.heard.take(), "lru");
      EXPECT_EQ(fixture.heard.last, start + latency);
      fixture.wait_for_link();
      EXPECT_EQ(fixture.heard.take(), "");
      fixture.begin();
      fixture.expect_work();
    }
  });
}

TEST(Power, ACardThatIsPulledBeforeItHasHeardOfItsPowerHearsNothing) {
  PowerFixture fixture;
  fixture.run([&] {
    fixture.begin();
    const vp::Picoseconds latency = fixture.measure_latency();
    for (const vp::Picoseconds away :
         {vp::Picoseconds{0}, vp::Picoseconds{1}, latency / 2, latency + 1, 10 * vp::us}) {
      for (const vp::Picoseconds there :
           {vp::Picoseconds{0}, vp::Picoseconds{1}, latency / 2, latency - 1, latency + 1}) {
        fixture.put_back();
        fixture.port().remove_card();
        pause(away);
        fixture.port().insert_card();
        pause(there);
        fixture.port().remove_card();
        pause(1 * vp::ms);
        const std::string heard = fixture.heard.take();
        EXPECT_EQ(heard.substr(0, 2), "lr");
        EXPECT_EQ(heard.substr(heard.size() - 2), "lr");
        EXPECT_EQ(heard.find('u') != std::string::npos, there > latency)
            << away << ' ' << there << ' ' << heard;
      }
    }
    fixture.port().insert_card();
    pause(1 * vp::us);
    EXPECT_EQ(fixture.heard.take(), "u");
  });
}

TEST(Power, IsBackForEachFunction) {
  PowerFixture::Config config = PowerFixture::configured();
  config.endpoint.functions.assign(3, config.endpoint.functions[0]);
  Fixture fixture(config);
  std::vector<std::unique_ptr<Heard>> heard;
  for (unsigned i = 0; i < 3; ++i) {
    heard.push_back(std::make_unique<Heard>(fixture.endpoint.function(i)));
  }
  fixture.run([&] {
    fixture.root_complex.port(0).remove_card();
    pause(1 * vp::us);
    fixture.root_complex.port(0).insert_card();
    pause(1 * vp::us);
    for (const auto& each : heard) EXPECT_EQ(each->take(), "lru");
  });
}

// A card below a switch can be pulled, and so can the switch. What is below the switch then has
// power again when the switch lets its links train.
TEST(Power, BehindASwitchIsThatOfTheSwitchToo) {
  SwitchFixture::Config config;
  config.fixture.root_complex.ports[1].hot_plug = slot;
  for (auto& port : config.sw.ports) port.hot_plug = slot;
  config.above.training = config.wires.training = 20 * vp::us;
  SwitchFixture fixture(config);
  std::vector<std::unique_ptr<Heard>> heard;
  for (const auto& card : fixture.cards) {
    heard.push_back(std::make_unique<Heard>(card->endpoint.function(0)));
  }
  fixture.run([&] {
    fixture.enumerate_switch();
    fixture.sw.port(1).remove_card();
    pause(1 * vp::us);
    EXPECT_EQ(heard[1]->take(), "lr");
    fixture.sw.port(1).insert_card();
    pause(1 * vp::us);
    EXPECT_EQ(heard[1]->take(), "u");
    EXPECT_EQ(heard[0]->take() + heard[2]->take(), "");
    pause(1 * vp::ms);

    fixture.sw.port(2).remove_card();
    pause(1 * vp::us);
    fixture.root_complex.port(1).remove_card();
    pause(1 * vp::us);
    EXPECT_EQ(heard[0]->take(), "lr");
    EXPECT_EQ(heard[1]->take(), "lr");
    heard[2]->take();
    pause(1 * vp::ms);
    fixture.root_complex.port(1).insert_card();
    pause(1 * vp::ms);
    EXPECT_EQ(heard[0]->take(), "u");
    EXPECT_EQ(heard[1]->take(), "u");
    EXPECT_EQ(heard[2]->take(), "") << "it is not there";
    fixture.sw.port(2).insert_card();
    pause(1 * vp::ms);
    EXPECT_EQ(heard[2]->take(), "u");

    // A reset passes the switch as a reset.
    fixture.root_complex.reset();
    pause(1 * vp::ms);
    for (const auto& each : heard) EXPECT_EQ(each->take(), "r");
  });
}

}  // namespace
}  // namespace pcie
