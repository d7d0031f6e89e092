// SPDX-License-Identifier: Apache-2.0
// Commands of a slot, its latch, its interlock and power that fails (PCIe 5.0, 6.7.1 and 6.7.3), by
// the registers of the port and what becomes of the card.
#include <gtest/gtest.h>

#include "tests/models/pcie/reset_bench.h"

namespace pcie {
namespace {

constexpr vp::Picoseconds command_time = 10 * vp::us;
constexpr SlotConfig everything{true, true, true, true, true, true, true, command_time};

constexpr std::uint32_t power_fault = 1u << 1;  // Slot Status
constexpr std::uint32_t latch_moved = 1u << 2;
constexpr std::uint32_t presence_changed = 1u << 3;
constexpr std::uint32_t completed = 1u << 4;
constexpr std::uint32_t latch_open = 1u << 5;
constexpr std::uint32_t present = 1u << 6;
constexpr std::uint32_t engaged = 1u << 7;
constexpr std::uint32_t link_changed = 1u << 8;

constexpr std::uint32_t interrupts = 0x1f | 1u << 5 | 1u << 12;  // Slot Control
constexpr std::uint32_t power_off = 1u << 10;
constexpr std::uint32_t toggle = 1u << 11;

struct CommandBench : ResetBench {
  explicit CommandBench(const SlotConfig& slot = everything) : ResetBench(configuration(slot)) {}
  static Config configuration(const SlotConfig& slot) {
    Config config = ResetBench::configuration();
    config.root_complex.ports[0].slot = slot;
    return config;
  }
  RootPort& port() { return root_complex.port(0); }
  void listen() {
    begin();
    const unsigned msi = find_capability(root_port, 5);
    config_write(root_port, msi + 4, 0xfee01000, 4);
    config_write(root_port, msi + 2, 1, 2);
    config_write(root_port, port_express + 8, 0x281f, 2);
    clear();  // the link has come up
    command(interrupts);
    memory.messages.clear();
  }
  std::uint32_t status() { return config_read(root_port, port_express + 0x1a, 2); }
  void clear() { config_write(root_port, port_express + 0x1a, 0xffff, 2); }
  void write_control(std::uint32_t value) {
    config_write(root_port, port_express + 0x18, value, 2);
  }
  // As software that waits for its commands.
  void command(std::uint32_t value) {
    write_control(value);
    while (!(status() & completed)) pause(1 * vp::us);
    config_write(root_port, port_express + 0x1a, completed, 2);
    pause(1);
  }
  bool up() { return (link_status() & link_active) != 0; }
};

TEST(SlotCommand, TakesEffectWhenItIsCompletedAndThenTells) {
  CommandBench bench;
  bench.run([&] {
    bench.listen();
    EXPECT_EQ(bench.status(), present);
    bench.write_control(interrupts | power_off);
    const vp::Picoseconds start = vp::now();
    EXPECT_EQ(bench.status(), present);
    pause(start + command_time - 1 - vp::now());
    EXPECT_EQ(bench.status(), present);
    EXPECT_TRUE(bench.up());
    pause(1);
    EXPECT_EQ(bench.status(), present | completed | link_changed);
    EXPECT_FALSE(bench.up());
    pause(1 * vp::us);
    EXPECT_EQ(bench.memory.messages.size(), 1u);
    bench.clear();
    // An enable is a command, too.
    bench.write_control(interrupts | power_off);
    pause(command_time);
    EXPECT_EQ(bench.status(), present | completed);
    bench.clear();
    // Two at a time are one, whose effect is that of the last.
    bench.write_control(interrupts);
    pause(command_time / 2);
    bench.write_control(interrupts | power_off);
    pause(command_time / 2);
    EXPECT_EQ(bench.status(), present | completed);
    bench.clear();
    pause(1 * vp::ms);
    EXPECT_EQ(bench.status(), present);
    EXPECT_FALSE(bench.up());
    bench.command(interrupts);
    bench.wait_for_link();
    bench.begin();
    bench.expect_work();
  });
}

TEST(SlotCommand, IsForgottenByAReset) {
  CommandBench bench;
  bench.run([&] {
    bench.listen();
    bench.write_control(interrupts | power_off | toggle);
    bench.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_EQ(bench.status(), present | link_changed);
    EXPECT_TRUE(bench.up());
    bench.listen();
    bench.expect_work();
  });
}

TEST(SlotCommand, AnInterlockHoldsTheCard) {
  SlotConfig config = everything;
  config.latch = false;
  CommandBench bench(config);
  bench.run([&] {
    bench.listen();
    bench.command(interrupts | toggle);
    EXPECT_EQ(bench.status(), present | engaged);
    EXPECT_FALSE(bench.port().remove_card());
    bench.expect_work();
    bench.command(interrupts | toggle);
    EXPECT_TRUE(bench.port().remove_card());
    bench.command(interrupts | toggle);
    EXPECT_FALSE(bench.port().insert_card()) << "nor is one let in";
    EXPECT_EQ(bench.status() & (present | engaged), engaged);
    bench.command(interrupts | toggle);
    EXPECT_TRUE(bench.port().insert_card());
  });
}

TEST(SlotCommand, ALatchHoldsTheCardAndTakesItsPower) {
  CommandBench bench;
  bench.run([&] {
    bench.listen();
    EXPECT_FALSE(bench.port().remove_card()) << "closed";
    EXPECT_FALSE(bench.port().close_latch());
    EXPECT_TRUE(bench.port().open_latch());
    EXPECT_FALSE(bench.port().open_latch());
    EXPECT_EQ(bench.status(), present | latch_open | latch_moved | link_changed);
    EXPECT_FALSE(bench.up());
    pause(1 * vp::us);
    EXPECT_EQ(bench.memory.messages.size(), 1u);
    bench.clear();
    EXPECT_TRUE(bench.port().remove_card());
    EXPECT_TRUE(bench.port().insert_card());
    EXPECT_EQ(bench.status(), present | latch_open | presence_changed);
    bench.command(interrupts | power_off);
    bench.command(interrupts);
    pause(1 * vp::ms);
    EXPECT_FALSE(bench.up()) << "open";
    bench.root_complex.reset();
    pause(1 * vp::ms);
    EXPECT_FALSE(bench.up()) << "a reset does not close it";
    EXPECT_TRUE(bench.port().close_latch());
    pause(1 * vp::ms);
    EXPECT_FALSE(bench.up()) << "software has to ask for power";
    bench.write_control(power_off);
    pause(command_time);
    bench.write_control(0);
    pause(command_time);
    bench.wait_for_link();
    bench.listen();
    bench.expect_work();
  });
}

TEST(SlotCommand, PowerFails) {
  SlotConfig config = everything;
  config.surprise = false;
  CommandBench bench(config);
  bench.run([&] {
    bench.listen();
    EXPECT_TRUE(bench.port().fail_power());
    EXPECT_FALSE(bench.port().fail_power());
    EXPECT_EQ(bench.status(), present | power_fault | link_changed);
    EXPECT_EQ(bench.read(Bench::bar0, 4), ~0u);
    pause(1 * vp::us);
    EXPECT_EQ(bench.memory.messages.size(), 1u);
    // AER is the first: a link that goes down so is a surprise where none is to be expected.
    EXPECT_EQ(bench.config_read(Bench::root_port, 0x104, 4), bit_of(Error::surprise_down));
    bench.clear();
    bench.command(interrupts);
    pause(1 * vp::ms);
    EXPECT_FALSE(bench.up());
    bench.command(interrupts | power_off);
    bench.command(interrupts);
    bench.wait_for_link();
    bench.begin();
    bench.expect_work();
  });
}

}  // namespace
}  // namespace pcie
