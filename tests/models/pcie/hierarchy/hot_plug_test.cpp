// SPDX-License-Identifier: Apache-2.0
// Removing and inserting cards (PCIe 5.0, 6.7): the registers of the hot-plug slot as software sees
// them, and what becomes of all that is under way.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <vector>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

constexpr std::uint32_t link_training = PciExpress::LinkStatusBit::link_training;
constexpr std::uint32_t link_active = PciExpress::LinkStatusBit::link_active;

constexpr std::uint32_t button_pressed = HotPlugSlot::StatusBit::button_pressed;
constexpr std::uint32_t presence_changed = HotPlugSlot::StatusBit::presence_changed;
constexpr std::uint32_t present = HotPlugSlot::StatusBit::presence_detect;
constexpr std::uint32_t link_changed = HotPlugSlot::StatusBit::link_changed;

constexpr std::uint32_t all_events = 1u << 0 | 1u << 3 | 1u << 5 | 1u << 12;
constexpr std::uint32_t power_off = HotPlugSlot::ControlBit::power_off;

constexpr HotPlugSlotConfig everything =
    HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise, &HotPlugSlotConfig::button,
                             &HotPlugSlotConfig::indicators, &HotPlugSlotConfig::power});
constexpr HotPlugSlotConfig no_surprises = HotPlugSlotConfig::with(
    {&HotPlugSlotConfig::button, &HotPlugSlotConfig::indicators, &HotPlugSlotConfig::power});

/// A fixture whose software listens to the hot-plug slot and to errors of the root port.
struct HotPlugFixture : Fixture {
  explicit HotPlugFixture(const HotPlugSlotConfig& hot_plug)
      : HotPlugFixture(configuration(hot_plug)) {}
  explicit HotPlugFixture(const Config& config) : Fixture(config) {
    memory.fill();
    endpoint.function(0).on_reset([this] { ++resets; });
    endpoint.function(0).on_power_loss([this] { ++power_losses; });
  }
  static Config configuration(const HotPlugSlotConfig& hot_plug) {
    Config config;
    config.root_complex.ports[0].hot_plug = hot_plug;
    config.link.latency_down = 300 * vp::ns;
    config.link.latency_up = 200 * vp::ns;
    config.link.training = 50 * vp::us;
    return config;
  }
  RootPort& port() { return root_complex.port(0); }

  void begin() {
    enumerate();
    express = find_capability(root_port, PciExpress::id);
    config_write(root_port, find_capability(root_port, Msi::id) + Msi::message_data, 0x41, 2);
    enable_msi(root_port);
    config_write(root_port, express + PciExpress::device_control, 0x281f, 2);
    config_write(
        root_port,
        ConfigSpace::first_extended_capability + AdvancedErrorReporting::root_error_command,
        AdvancedErrorReporting::RootErrorCommandBit::all, 4);
    config_write(root_port, express + PciExpress::slot_status, 0xffff, 2);
    config_write(root_port, express + PciExpress::slot_control, all_events, 2);
  }
  std::uint32_t link_status() {
    return config_read(root_port, express + PciExpress::link_status, 2) &
           (link_active | link_training);
  }
  std::uint32_t slot_status() {
    return config_read(root_port, express + PciExpress::slot_status, 2);
  }
  // Reads Slot Status and clears its events, as software does after an interrupt.
  std::uint32_t take() {
    pause(1);
    const std::uint32_t status = slot_status();
    config_write(root_port, express + PciExpress::slot_status, status, 2);
    return status;
  }
  void control(std::uint32_t value) {
    config_write(root_port, express + PciExpress::slot_control, value, 2);
  }
  void wait_for_link() {
    while (link_status() != link_active) pause(1 * vp::us);
  }
  void expect_nobody() {
    EXPECT_EQ(config_read(device, Header::vendor_id, 4), ~0u);
    config_write(device, Header::command, memory_and_master, 2);
    EXPECT_EQ(read(bar0, 4), ~0u);
    write(bar0, 1, 4);
    EXPECT_EQ(logic.dma_write(0x1000, {1})->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(logic.dma_read(0x1000, 64)->get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
  }

  unsigned resets = 0;
  unsigned power_losses = 0;
  unsigned express = 0;
};

TEST(HotPlug, ARemovedCardIsGoneAtOnceAndSoftwareIsNotifiedOnce) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    fixture.expect_work();
    EXPECT_EQ(fixture.slot_status(), present);
    const std::size_t uses = fixture.logic.uses.size();
    EXPECT_TRUE(fixture.port().remove_card());
    EXPECT_EQ(fixture.slot_status(), presence_changed | link_changed);
    EXPECT_EQ(fixture.link_status(), 0u);
    pause(1 * vp::us);
    fixture.expect_nobody();
    pause(10 * vp::ms);
    EXPECT_EQ(fixture.link_status(), 0u) << "nor does it train";
    fixture.expect_nobody();
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(fixture.memory.messages[0].data, (std::vector<std::uint8_t>{0x41, 0, 0, 0}));
    EXPECT_EQ(fixture.logic.uses.size(), uses);
    EXPECT_EQ(fixture.resets, 1u);
    EXPECT_EQ(fixture.power_losses, 1u);
    EXPECT_EQ(fixture.counter("root_complex.port0.completion_timeouts"), 0u);
  });
}

TEST(HotPlug, AnInsertedCardIsAsAfterPowerUp) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    const unsigned express = fixture.find_capability(Fixture::device, PciExpress::id);
    fixture.config_write(Fixture::device, express + PciExpress::link_control_2, 3,
                         2);  // sticky: target speed
    fixture.port().remove_card();
    fixture.take();
    pause(1 * vp::ms);
    EXPECT_TRUE(fixture.port().insert_card());
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.link_status(), link_training);
    EXPECT_EQ(fixture.take(), present | presence_changed);
    pause(start + 50 * vp::us - 1 - vp::now());
    EXPECT_EQ(fixture.link_status(), link_training);
    EXPECT_EQ(fixture.slot_status(), present);
    pause(1);
    EXPECT_EQ(fixture.link_status(), link_active);
    EXPECT_EQ(fixture.take(), present | link_changed);
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 3u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::command, 2), 0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, express + PciExpress::link_control_2, 2) & 0xf,
              5u);
    EXPECT_EQ(fixture.config_read(Fixture::root_port, Type1Header::primary_bus_number, 4),
              0x00010100u)
        << "the port is not reset";
    fixture.enumerate();
    fixture.expect_work();
  });
}

TEST(HotPlug, WhatIsThereAlreadyOrGoneAlreadyChangesNothing) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    EXPECT_FALSE(fixture.port().insert_card());
    fixture.expect_work();
    EXPECT_TRUE(fixture.port().remove_card());
    fixture.take();
    EXPECT_FALSE(fixture.port().remove_card());
    EXPECT_EQ(fixture.slot_status(), 0u);
    EXPECT_TRUE(fixture.port().insert_card());
    EXPECT_FALSE(fixture.port().insert_card());
    fixture.wait_for_link();
    EXPECT_TRUE(fixture.port().remove_card()) << "and again, at once";
    EXPECT_TRUE(fixture.port().insert_card());
    EXPECT_TRUE(fixture.port().remove_card()) << "while it trains";
    EXPECT_TRUE(fixture.port().insert_card());
    fixture.wait_for_link();
    fixture.enumerate();
    fixture.expect_work();
  });
}

TEST(HotPlug, AResetThroughTheLinkIsNoLossOfPower) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::secondary_bus_reset, 2);
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.resets, 1u);
    EXPECT_EQ(fixture.power_losses, 0u);
    fixture.port().remove_card();
    pause(1 * vp::us);
    EXPECT_EQ(fixture.power_losses, 1u) << "even while it is held in reset";
  });
}

TEST(HotPlug, WithoutALinkThereIsNoCardToMove) {
  auto config = HotPlugFixture::configuration(everything);
  config.root_complex.ports.push_back(config.root_complex.ports[0]);
  HotPlugFixture fixture(config);
  fixture.run([&] {
    RootPort& port = fixture.root_complex.port(1);
    EXPECT_FALSE(port.remove_card());
    EXPECT_FALSE(port.insert_card());
    EXPECT_TRUE(port.press_attention_button());
    EXPECT_EQ(
        fixture.config_read(
            make_id(0, 2, 0),
            fixture.find_capability(make_id(0, 2, 0), PciExpress::id) + PciExpress::slot_status, 2),
        button_pressed);
  });
}

// The interrupt is one for each time that the condition becomes true.
TEST(HotPlug, EventsThatAreNotClearedAreReportedOnce) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    for (unsigned i = 0; i < 3; ++i) {
      fixture.port().remove_card();
      fixture.port().insert_card();
      fixture.wait_for_link();
    }
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    EXPECT_EQ(fixture.take(), present | presence_changed | link_changed);
    EXPECT_TRUE(fixture.port().press_attention_button());
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 2u);
    EXPECT_EQ(fixture.take(), present | button_pressed);
    fixture.control(0);
    fixture.port().press_attention_button();
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 2u) << "not enabled";
    fixture.control(all_events);
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 3u) << "enabled while an event stands";
    EXPECT_EQ(fixture.link_status(), link_active) << "a button does nothing by itself";
  });
}

// Surprise Down (3.2.1): an error unless the hot-plug slot is for surprises, or the link was not
// up.
struct Surprise {
  const char* name;
  HotPlugSlotConfig hot_plug;
  bool error;
};
void PrintTo(const Surprise& surprise, std::ostream* out) {
  *out << surprise.name;
}
class SurpriseDown : public testing::TestWithParam<Surprise> {};

TEST_P(SurpriseDown, IsReportedWhereItIsOne) {
  HotPlugFixture fixture(GetParam().hot_plug);
  fixture.run([&] {
    fixture.begin();
    auto errors = [&] {
      const std::uint32_t status = fixture.config_read(
          Fixture::root_port,
          ConfigSpace::first_extended_capability + AdvancedErrorReporting::uncorrectable_status, 4);
      fixture.config_write(
          Fixture::root_port,
          ConfigSpace::first_extended_capability + AdvancedErrorReporting::uncorrectable_status,
          ~0u, 4);
      fixture.config_write(
          Fixture::root_port,
          ConfigSpace::first_extended_capability + AdvancedErrorReporting::root_error_status, ~0u,
          4);
      return status;
    };
    const std::uint32_t expected = GetParam().error ? 1u << 5 : 0;
    EXPECT_EQ(errors(), 0u);
    fixture.port().remove_card();
    EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                  ConfigSpace::first_extended_capability +
                                      AdvancedErrorReporting::root_error_status,
                                  4) != 0,
              GetParam().error);
    EXPECT_EQ(errors(), expected);
    fixture.port().insert_card();
    pause(1 * vp::us);
    fixture.port().remove_card();
    EXPECT_EQ(errors(), 0u) << "it had not been up";
    fixture.port().insert_card();
    fixture.wait_for_link();
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::secondary_bus_reset, 2);
    fixture.port().remove_card();
    EXPECT_EQ(errors(), 0u) << "held in reset";
    fixture.port().insert_card();
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control, 0, 2);
    fixture.wait_for_link();
    EXPECT_EQ(errors(), 0u);
    fixture.control(all_events | power_off);
    EXPECT_EQ(errors(), 0u) << "asked for";
  });
}

INSTANTIATE_TEST_SUITE_P(HotPlugSlots, SurpriseDown,
                         testing::Values(Surprise{"NoHotPlug", {}, true},
                                         Surprise{"NoSurprise", no_surprises, true},
                                         Surprise{"ForSurprises", everything, false}),
                         [](const auto& one) { return one.param.name; });

// At every moment of reads, configuration and DMA in both directions: each ends once, and what was
// on its way harms nothing.
TEST(HotPlug, RemovalAtAnyMomentEndsWhatIsUnderWay) {
  unsigned lost = 0, answered = 0, whole = 0, aborted = 0;
  HotPlugFixture fixture(everything);
  fixture.memory.read_time = 500 * vp::ns;
  fixture.run([&] {
    for (vp::Picoseconds moment = 0; moment < 3 * vp::us; moment += 67 * vp::ns) {
      fixture.logic.latency = 700 * vp::ns;
      fixture.begin();
      fixture.logic.memory[0][3] = 0x33;
      std::unique_ptr<Logic::Dma> dma = fixture.logic.dma_read(0x1000, 4096);
      unsigned ended = 0;
      for (unsigned i = 0; i < 40; ++i) {  // more than tags
        fixture.spawn([&, i] {
          const bool config = i % 4 == 0;
          const std::uint32_t value =
              config ? fixture.config_read(Fixture::device, Header::vendor_id, 4)
                     : fixture.read(Fixture::bar0 + 3, 1);
          const std::uint32_t good = config ? 0x0ae0f0ae : 0x33;
          EXPECT_TRUE(value == good || value == (config ? ~0u : 0xffu)) << std::hex << value;
          ++(value == good ? answered : lost);
          ++ended;
        });
      }
      pause(moment);
      fixture.port().remove_card();
      pause(1);
      EXPECT_EQ(ended, 40u) << "at once, by the port";
      pause(1 * vp::us);
      EXPECT_TRUE(dma->done);
      if (dma->is_response_ok()) {
        ++whole;
        EXPECT_EQ(dma->data, fixture.memory.at(0x1000, 4096));
      } else {
        ++aborted;
        EXPECT_EQ(dma->get_response_status(), tlm::TLM_GENERIC_ERROR_RESPONSE);
      }
      std::fill(dma->data.begin(), dma->data.end(), 0x5a);
      pause(100 * vp::us);
      EXPECT_EQ(std::count(dma->data.begin(), dma->data.end(), 0x5a), 4096);
      fixture.port().insert_card();
      fixture.wait_for_link();
      fixture.logic.latency = 0;
      fixture.begin();
      fixture.expect_work();
    }
    for (const char* port : {"root_complex.port0.", "endpoint.pf0."}) {
      EXPECT_EQ(fixture.counter(port + std::string("unexpected_completions")), 0u) << port;
      EXPECT_EQ(fixture.counter(port + std::string("completion_timeouts")), 0u) << port;
    }
  });
  EXPECT_GT(lost, 100u);
  EXPECT_GT(answered, 100u);
  EXPECT_GT(whole, 0u);
  EXPECT_GT(aborted, 0u);
}

TEST(HotPlug, ARemovedCardHasNoInterrupt) {
  auto config = HotPlugFixture::configuration(everything);
  config.endpoint.functions[0].interrupt_pin = 1;
  HotPlugFixture fixture(config);
  fixture.run([&] {
    fixture.begin();
    Function& function = fixture.endpoint.function(0);
    function.set_intx(true);
    pause(1 * vp::us);
    fixture.port().remove_card();
    EXPECT_EQ(fixture.lines.changes, (Lines::Changes{{1, true}, {1, false}}));
    fixture.take();
    pause(1 * vp::us);
    function.set_intx(true);
    function.signal(0);
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.lines.changes.size(), 2u);
    EXPECT_EQ(fixture.memory.messages.size(), 1u) << "that of the hot-plug slot";
  });
}

// Errors that had not reached their end when the card was pulled are never reported.
TEST(HotPlug, AnErrorOnItsWayIsLostWithTheCard) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    for (const Direction direction : {Direction::down, Direction::up}) {
      fixture.link.inject(direction, {Error::malformed_tlp, {}, 1});
    }
    fixture.port().remove_card();
    pause(10 * vp::us);
    EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                  ConfigSpace::first_extended_capability +
                                      AdvancedErrorReporting::uncorrectable_status,
                                  4),
              0u);
    fixture.port().insert_card();
    fixture.wait_for_link();
    EXPECT_EQ(fixture.config_read(Fixture::device,
                                  ConfigSpace::first_extended_capability +
                                      AdvancedErrorReporting::uncorrectable_status,
                                  4),
              0u);
  });
}

TEST(HotPlug, PowerIsSoftwaresAndPresenceIsNot) {
  HotPlugFixture fixture(no_surprises);
  fixture.run([&] {
    fixture.begin();
    fixture.control(all_events | power_off);
    EXPECT_EQ(fixture.take(), present | link_changed);
    pause(1 * vp::us);
    fixture.expect_nobody();
    EXPECT_EQ(fixture.resets, 1u);
    EXPECT_EQ(fixture.power_losses, 1u);
    EXPECT_EQ(fixture.link_status(), 0u);
    fixture.port().remove_card();
    fixture.port().insert_card();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.link_status(), 0u) << "in its place, but off";
    EXPECT_EQ(fixture.take(), present | presence_changed);
    fixture.control(all_events);
    EXPECT_EQ(fixture.link_status(), link_training);
    fixture.wait_for_link();
    fixture.enumerate();
    fixture.expect_work();
  });
}

// The reasons that hold the link down may end in any order. The link trains when the last one ends.
class Holders : public testing::TestWithParam<bool> {};

TEST_P(Holders, TheLinkTrainsWhenTheLastLetsGo) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    fixture.config_write(Fixture::root_port, Type1Header::bridge_control,
                         Type1Header::BridgeControlBit::secondary_bus_reset, 2);
    fixture.port().remove_card();
    pause(10 * vp::us);
    for (const bool card : {GetParam(), !GetParam()}) {
      EXPECT_EQ(fixture.link_status(), 0u);
      if (card) {
        fixture.port().insert_card();
      } else {
        fixture.config_write(Fixture::root_port, Type1Header::bridge_control, 0, 2);
      }
    }
    EXPECT_EQ(fixture.link_status(), link_training);
    fixture.wait_for_link();
    fixture.enumerate();
    fixture.expect_work();
  });
}

INSTANTIATE_TEST_SUITE_P(CardFirst, Holders, testing::Bool());

TEST(HotPlug, AResetOfTheMachineInsertsNoCard) {
  HotPlugFixture fixture(everything);
  fixture.run([&] {
    fixture.begin();
    fixture.port().remove_card();
    pause(10 * vp::us);
    fixture.root_complex.reset();
    fixture.config_write(Fixture::root_port, Type1Header::primary_bus_number, 0x00010100, 4);
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.link_status(), 0u);
    EXPECT_EQ(fixture.slot_status(), 0u);
    EXPECT_EQ(fixture.config_read(Fixture::device, Header::vendor_id, 4), ~0u);
    fixture.port().insert_card();
    fixture.wait_for_link();
    fixture.begin();
    fixture.expect_work();
    fixture.control(all_events | power_off);
    fixture.root_complex.reset();
    pause(10 * vp::us);
    EXPECT_EQ(fixture.link_status(), link_active) << "power is on again";
    EXPECT_EQ(fixture.slot_status(), present | link_changed);
  });
}

}  // namespace
}  // namespace pcie
