// SPDX-License-Identifier: Apache-2.0
// Commands to a hot-plug slot, its latch, its interlock and power that fails (PCIe 5.0, 6.7.1
// and 6.7.3), by the registers of the port and what becomes of the card.
#include <gtest/gtest.h>

#include "tests/models/pcie/reset_fixture.h"

namespace pcie {
namespace {

constexpr vp::Picoseconds command_time = 10 * vp::us;
constexpr HotPlugSlotConfig everything = HotPlugSlotConfig::with(
    {&HotPlugSlotConfig::surprise, &HotPlugSlotConfig::button, &HotPlugSlotConfig::indicators,
     &HotPlugSlotConfig::power, &HotPlugSlotConfig::latch, &HotPlugSlotConfig::interlock},
    command_time);

constexpr std::uint32_t power_fault = HotPlugSlot::StatusBit::power_fault;
constexpr std::uint32_t latch_moved = HotPlugSlot::StatusBit::latch_changed;
constexpr std::uint32_t presence_changed = HotPlugSlot::StatusBit::presence_changed;
constexpr std::uint32_t completed = HotPlugSlot::StatusBit::command_completed;
constexpr std::uint32_t latch_open = HotPlugSlot::StatusBit::latch_open;
constexpr std::uint32_t present = HotPlugSlot::StatusBit::presence_detect;
constexpr std::uint32_t engaged = HotPlugSlot::StatusBit::interlock_engaged;
constexpr std::uint32_t link_changed = HotPlugSlot::StatusBit::link_changed;

constexpr std::uint32_t interrupts = 0x1f | 1u << 5 | 1u << 12;
constexpr std::uint32_t power_off = HotPlugSlot::ControlBit::power_off;
constexpr std::uint32_t toggle = HotPlugSlot::ControlBit::toggle_interlock;

struct CommandFixture : ResetFixture {
  explicit CommandFixture(const HotPlugSlotConfig& hot_plug = everything)
      : ResetFixture(configuration(hot_plug)) {}
  static Config configuration(const HotPlugSlotConfig& hot_plug) {
    Config config = ResetFixture::configuration();
    config.root_complex.ports[0].hot_plug = hot_plug;
    return config;
  }
  RootPort& port() { return root_complex.port(0); }
  void listen() {
    begin();
    enable_msi(root_port);
    config_write(root_port, port_express + PciExpress::device_control, 0x281f, 2);
    clear();  // the link has come up
    command(interrupts);
    memory.messages.clear();
  }
  std::uint32_t status() {
    return config_read(root_port, port_express + PciExpress::slot_status, 2);
  }
  void clear() { config_write(root_port, port_express + PciExpress::slot_status, 0xffff, 2); }
  void write_control(std::uint32_t value) {
    config_write(root_port, port_express + PciExpress::slot_control, value, 2);
  }
  // Writes a command and waits for it, as software does.
  void command(std::uint32_t value) {
    write_control(value);
    while (!(status() & completed)) pause(1 * vp::us);
    config_write(root_port, port_express + PciExpress::slot_status, completed, 2);
    pause(1);
  }
  bool up() { return (link_status() & link_active) != 0; }
};

TEST(HotPlugCommand, TakesEffectWhenItIsCompletedAndThenInterrupts) {
  CommandFixture fixture;
  fixture.run([&] {
    fixture.listen();
    EXPECT_EQ(fixture.status(), present);
    fixture.write_control(interrupts | power_off);
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(fixture.status(), present);
    pause(start + command_time - 1 - vp::now());
    EXPECT_EQ(fixture.status(), present);
    EXPECT_TRUE(fixture.up());
    pause(1);
    EXPECT_EQ(fixture.status(), present | completed | link_changed);
    EXPECT_FALSE(fixture.up());
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    fixture.clear();
    // A write of an enable is a command as well.
    fixture.write_control(interrupts | power_off);
    pause(command_time);
    EXPECT_EQ(fixture.status(), present | completed);
    fixture.clear();
    // Two pending commands complete together, with the effect of the last.
    fixture.write_control(interrupts);
    pause(command_time / 2);
    fixture.write_control(interrupts | power_off);
    pause(command_time / 2);
    EXPECT_EQ(fixture.status(), present | completed);
    fixture.clear();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.status(), present);
    EXPECT_FALSE(fixture.up());
    fixture.command(interrupts);
    fixture.wait_for_link();
    fixture.begin();
    fixture.expect_work();
  });
}

TEST(HotPlugCommand, IsForgottenByAReset) {
  CommandFixture fixture;
  fixture.run([&] {
    fixture.listen();
    fixture.write_control(interrupts | power_off | toggle);
    fixture.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_EQ(fixture.status(), present | link_changed);
    EXPECT_TRUE(fixture.up());
    fixture.listen();
    fixture.expect_work();
  });
}

TEST(HotPlugCommand, AnInterlockHoldsTheCard) {
  HotPlugSlotConfig config = everything;
  config.latch = false;
  CommandFixture fixture(config);
  fixture.run([&] {
    fixture.listen();
    fixture.command(interrupts | toggle);
    EXPECT_EQ(fixture.status(), present | engaged);
    EXPECT_FALSE(fixture.port().remove_card());
    fixture.expect_work();
    fixture.command(interrupts | toggle);
    EXPECT_TRUE(fixture.port().remove_card());
    fixture.command(interrupts | toggle);
    EXPECT_FALSE(fixture.port().insert_card()) << "nor is one let in";
    EXPECT_EQ(fixture.status() & (present | engaged), engaged);
    fixture.command(interrupts | toggle);
    EXPECT_TRUE(fixture.port().insert_card());
  });
}

TEST(HotPlugCommand, ALatchHoldsTheCardAndTakesItsPower) {
  CommandFixture fixture;
  fixture.run([&] {
    fixture.listen();
    EXPECT_FALSE(fixture.port().remove_card()) << "closed";
    EXPECT_FALSE(fixture.port().close_latch());
    EXPECT_TRUE(fixture.port().open_latch());
    EXPECT_FALSE(fixture.port().open_latch());
    EXPECT_EQ(fixture.status(), present | latch_open | latch_moved | link_changed);
    EXPECT_FALSE(fixture.up());
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    fixture.clear();
    EXPECT_TRUE(fixture.port().remove_card());
    EXPECT_TRUE(fixture.port().insert_card());
    EXPECT_EQ(fixture.status(), present | latch_open | presence_changed);
    fixture.command(interrupts | power_off);
    fixture.command(interrupts);
    pause(1 * vp::ms);
    EXPECT_FALSE(fixture.up()) << "open";
    fixture.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_FALSE(fixture.up()) << "a reset does not close it";
    EXPECT_TRUE(fixture.port().close_latch());
    pause(1 * vp::ms);
    EXPECT_FALSE(fixture.up()) << "software has to ask for power";
    fixture.write_control(power_off);
    pause(command_time);
    fixture.write_control(0);
    pause(command_time);
    fixture.wait_for_link();
    fixture.listen();
    fixture.expect_work();
  });
}

TEST(HotPlugCommand, PowerFails) {
  HotPlugSlotConfig config = everything;
  config.surprise = false;
  CommandFixture fixture(config);
  fixture.run([&] {
    fixture.listen();
    EXPECT_TRUE(fixture.port().fail_power());
    EXPECT_FALSE(fixture.port().fail_power());
    EXPECT_EQ(fixture.status(), present | power_fault | link_changed);
    EXPECT_EQ(fixture.read(Fixture::bar0, 4), ~0u);
    pause(1 * vp::us);
    EXPECT_EQ(fixture.memory.messages.size(), 1u);
    // AER is the first: a link that goes down so is a surprise where none is to be expected.
    EXPECT_EQ(fixture.config_read(Fixture::root_port,
                                  ConfigSpace::first_extended_capability +
                                      AdvancedErrorReporting::uncorrectable_status,
                                  4),
              bit_of(Error::surprise_down));
    fixture.clear();
    fixture.command(interrupts);
    pause(1 * vp::ms);
    EXPECT_FALSE(fixture.up());
    fixture.command(interrupts | power_off);
    fixture.command(interrupts);
    fixture.wait_for_link();
    fixture.begin();
    fixture.expect_work();
  });
}

}  // namespace
}  // namespace pcie
