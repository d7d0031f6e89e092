// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/hot_plug_slot.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned at = 0x54;  // where the registers of the hot-plug slot begin
constexpr unsigned control = at + 4;
constexpr unsigned status = at + 6;

constexpr HotPlugSlotConfig none{};
constexpr HotPlugSlotConfig everything =
    HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise, &HotPlugSlotConfig::button,
                             &HotPlugSlotConfig::indicators, &HotPlugSlotConfig::power});

constexpr std::uint32_t button = HotPlugSlot::StatusBit::button_pressed;
constexpr std::uint32_t presence = HotPlugSlot::StatusBit::presence_changed;
constexpr std::uint32_t present = HotPlugSlot::StatusBit::presence_detect;
constexpr std::uint32_t link = HotPlugSlot::StatusBit::link_changed;

struct Registers {
  explicit Registers(const HotPlugSlotConfig& config) : hot_plug(space, at, config, 5) {}
  std::uint32_t read(unsigned offset) const { return space.read(offset, 2); }
  void write(unsigned offset, std::uint32_t value) { space.write(offset, 2, value); }
  ConfigSpace space;
  HotPlugSlot hot_plug;
};

TEST(HotPlugSlot, CapabilitiesSayWhatThereIs) {
  auto capabilities = [](const HotPlugSlotConfig& config) {
    return Registers(config).space.read(at, 4);
  };
  const std::uint32_t number = 5u << 19, hot_plug = 1u << 6 | 1u << 18;
  EXPECT_EQ(capabilities(none), number);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({})), number | hot_plug);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise})),
            number | hot_plug | 1u << 5);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({&HotPlugSlotConfig::button})),
            number | hot_plug | 1u << 0);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({&HotPlugSlotConfig::indicators})),
            number | hot_plug | 3u << 3);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({&HotPlugSlotConfig::power})),
            number | hot_plug | 1u << 1);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({&HotPlugSlotConfig::latch})),
            number | hot_plug | 1u << 2);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({&HotPlugSlotConfig::interlock})),
            number | hot_plug | 1u << 17);
  EXPECT_EQ(capabilities(HotPlugSlotConfig::with({}, 1)), number | 1u << 6);
}

TEST(HotPlugSlot, ControlsExistWithWhatTheyControl) {
  auto writable = [](const HotPlugSlotConfig& config) {
    Registers registers(config);
    registers.write(control, 0xffff);
    const std::uint32_t ones = registers.read(control);
    registers.write(control, 0);
    EXPECT_EQ(registers.read(control), 0u);
    return ones;
  };
  EXPECT_EQ(writable(none), 0u);
  EXPECT_EQ(writable(HotPlugSlotConfig::with({})), 0x1028u);
  EXPECT_EQ(writable(HotPlugSlotConfig::with({&HotPlugSlotConfig::button})), 0x1029u);
  EXPECT_EQ(writable(HotPlugSlotConfig::with({&HotPlugSlotConfig::indicators})), 0x13e8u);
  EXPECT_EQ(writable(HotPlugSlotConfig::with({&HotPlugSlotConfig::power})), 0x142au);
  EXPECT_EQ(writable(HotPlugSlotConfig::with({&HotPlugSlotConfig::latch})), 0x102cu);
  EXPECT_EQ(writable(HotPlugSlotConfig::with({&HotPlugSlotConfig::interlock})), 0x1028u)
      << "reads as 0";
  EXPECT_EQ(writable(HotPlugSlotConfig::with({}, 1)), 0x1038u);
  EXPECT_EQ(Registers(everything).read(control), 0x03c0u) << "indicators are off";
}

TEST(HotPlugSlot, OnlyAHotPlugSlotHasMore) {
  for (unsigned set = 1; set < 128; ++set) {
    const HotPlugSlotConfig config{false,          (set & 1) != 0,  (set & 2) != 0,  (set & 4) != 0,
                                   (set & 8) != 0, (set & 16) != 0, (set & 32) != 0, set >> 6};
    EXPECT_THROW(Registers{config}, ConfigurationError) << set;
  }
  ConfigSpace a, b;
  EXPECT_NO_THROW(HotPlugSlot(a, at, none, 0x1fff));
  EXPECT_THROW(HotPlugSlot(b, at, none, 0x2000), ConfigurationError);
  ConfigSpace c;
  EXPECT_THROW(HotPlugSlot(c, at, HotPlugSlotConfig::with({}, -1), 1), ConfigurationError);
}

TEST(HotPlugSlot, PresenceIsAStateAndItsChangeAnEvent) {
  Registers registers(everything);
  EXPECT_EQ(registers.read(status), 0u);
  registers.hot_plug.seat();
  EXPECT_EQ(registers.read(status), present) << "from power-up on";
  registers.hot_plug.set_occupied(true);
  EXPECT_EQ(registers.read(status), present) << "no change";
  registers.hot_plug.set_occupied(false);
  EXPECT_EQ(registers.read(status), presence);
  registers.write(status, 0xffff);
  EXPECT_EQ(registers.read(status), 0u);
  registers.hot_plug.set_occupied(true);
  EXPECT_EQ(registers.read(status), present | presence);
  registers.write(status, 0xffff);
  EXPECT_EQ(registers.read(status), present) << "the state is read-only";
}

TEST(HotPlugSlot, EventsAreClearedOneByOne) {
  Registers registers(everything);
  registers.hot_plug.set_occupied(true);
  EXPECT_TRUE(registers.hot_plug.press_button());
  registers.hot_plug.link_changed();
  EXPECT_EQ(registers.read(status), present | presence | button | link);
  registers.write(status, button);
  EXPECT_EQ(registers.read(status), present | presence | link);
  registers.write(status, link);
  EXPECT_EQ(registers.read(status), present | presence);
}

TEST(HotPlugSlot, WithoutHotPlugThereIsPresenceButNoEvent) {
  Registers registers(none);
  registers.hot_plug.set_occupied(true);
  registers.hot_plug.link_changed();
  EXPECT_FALSE(registers.hot_plug.press_button());
  EXPECT_EQ(registers.read(status), present);
  registers.hot_plug.set_occupied(false);
  EXPECT_EQ(registers.read(status), 0u);
  registers.write(control, 0xffff);
  EXPECT_FALSE(registers.hot_plug.interrupting());
  EXPECT_TRUE(registers.hot_plug.powered());
}

TEST(HotPlugSlot, WithoutAButtonNoneIsPressed) {
  Registers registers(HotPlugSlotConfig::with({&HotPlugSlotConfig::surprise}));
  EXPECT_FALSE(registers.hot_plug.press_button());
  EXPECT_EQ(registers.read(status), 0u);
}

// Each event with each set of enables: 0 button, 3 presence, 12 link, and 5 over all.
TEST(HotPlugSlot, InterruptsAreOfEnabledEvents) {
  const std::uint32_t enable_of[] = {1u << 0, 1u << 3, 1u << 12};
  for (unsigned event = 0; event < 3; ++event) {
    for (unsigned set = 0; set < 16; ++set) {
      Registers registers(everything);
      std::uint32_t enables = set & 8 ? 1u << 5 : 0;
      for (unsigned i = 0; i < 3; ++i) enables |= set >> i & 1 ? enable_of[i] : 0;
      registers.write(control, enables);
      EXPECT_FALSE(registers.hot_plug.interrupting());
      if (event == 0) registers.hot_plug.press_button();
      if (event == 1) registers.hot_plug.set_occupied(true);
      if (event == 2) registers.hot_plug.link_changed();
      EXPECT_EQ(registers.hot_plug.interrupting(), (set & 8) != 0 && (set >> event & 1) != 0)
          << event << ' ' << set;
      registers.write(status, 0xffff);
      EXPECT_FALSE(registers.hot_plug.interrupting());
    }
  }
}

TEST(HotPlugSlot, AResetMovesNoCard) {
  Registers registers(everything);
  registers.hot_plug.set_occupied(true);
  registers.write(control, 0x0400);
  registers.hot_plug.complete_command();
  EXPECT_FALSE(registers.hot_plug.powered());
  registers.space.reset();
  registers.hot_plug.reset();
  EXPECT_EQ(registers.read(status), present);
  EXPECT_TRUE(registers.hot_plug.powered());
  EXPECT_TRUE(registers.hot_plug.occupied());
}

TEST(HotPlugSlot, ReportsWritesToControlAndStatus) {
  Registers registers(everything);
  unsigned commands = 0, cleared = 0;
  registers.hot_plug.on_write([&] { ++commands; }, [&] { ++cleared; });
  registers.space.write(at, 4, ~0u);
  EXPECT_EQ(commands + cleared, 0u);
  registers.write(control, 0);
  EXPECT_EQ(commands, 1u);
  registers.space.write(status + 1, 1, 1);
  EXPECT_EQ(commands, 1u);
  EXPECT_EQ(cleared, 1u);
}

constexpr HotPlugSlotConfig with_lock = HotPlugSlotConfig::with(
    {&HotPlugSlotConfig::surprise, &HotPlugSlotConfig::button, &HotPlugSlotConfig::indicators,
     &HotPlugSlotConfig::power, &HotPlugSlotConfig::latch, &HotPlugSlotConfig::interlock},
    1 * vp::us);
constexpr std::uint32_t completed = HotPlugSlot::StatusBit::command_completed,
                        engaged = HotPlugSlot::StatusBit::interlock_engaged;
constexpr std::uint32_t latch_moved = HotPlugSlot::StatusBit::latch_changed,
                        latch_open = HotPlugSlot::StatusBit::latch_open,
                        fault = HotPlugSlot::StatusBit::power_fault;
constexpr std::uint32_t toggle = HotPlugSlot::ControlBit::toggle_interlock,
                        off = HotPlugSlot::ControlBit::power_off;

TEST(HotPlugSlot, TheInterlockIsToggledByEachCommandThatSaysSo) {
  Registers registers(with_lock);
  registers.write(control, toggle);
  EXPECT_EQ(registers.read(control), 0u);
  EXPECT_FALSE(registers.hot_plug.locked()) << "not yet";
  registers.hot_plug.complete_command();
  EXPECT_TRUE(registers.hot_plug.locked());
  EXPECT_EQ(registers.read(status), completed | engaged);
  registers.write(control, 0);
  registers.hot_plug.complete_command();
  EXPECT_TRUE(registers.hot_plug.locked());
  registers.space.reset();
  registers.hot_plug.reset();
  EXPECT_EQ(registers.read(status), engaged) << "no reset opens it";
  registers.write(control, toggle);
  registers.hot_plug.complete_command();
  EXPECT_FALSE(registers.hot_plug.locked());
}

TEST(HotPlugSlot, AnOpenLatchIsAStateItsMoveAnEventAndTakesThePower) {
  Registers registers(with_lock);
  EXPECT_TRUE(registers.hot_plug.latched());
  EXPECT_FALSE(registers.hot_plug.move_latch(false)) << "it is closed";
  EXPECT_TRUE(registers.hot_plug.move_latch(true));
  EXPECT_EQ(registers.read(status), latch_moved | latch_open);
  EXPECT_FALSE(registers.hot_plug.latched());
  EXPECT_FALSE(registers.hot_plug.powered());
  registers.write(status, 0xffff);
  EXPECT_EQ(registers.read(status), latch_open);
  // Neither on nor off and on give power while it is open.
  for (const std::uint32_t value : {0u, off, 0u}) {
    registers.write(control, value);
    registers.hot_plug.complete_command();
    EXPECT_FALSE(registers.hot_plug.powered());
  }
  EXPECT_TRUE(registers.hot_plug.move_latch(false));
  EXPECT_FALSE(registers.hot_plug.powered()) << "software has to turn it on";
  registers.write(control, off);
  registers.hot_plug.complete_command();
  registers.write(control, 0);
  EXPECT_FALSE(registers.hot_plug.powered()) << "not before that is done";
  registers.hot_plug.complete_command();
  EXPECT_TRUE(registers.hot_plug.powered());
  Registers without(HotPlugSlotConfig::with({&HotPlugSlotConfig::latch}));
  EXPECT_TRUE(without.hot_plug.move_latch(true));
  EXPECT_TRUE(without.hot_plug.powered()) << "there is nothing that could take it";
  EXPECT_FALSE(Registers(HotPlugSlotConfig::with({})).hot_plug.move_latch(true));
}

TEST(HotPlugSlot, APowerFaultLastsUntilSoftwareTurnsThePowerOff) {
  Registers registers(with_lock);
  EXPECT_TRUE(registers.hot_plug.fail_power());
  EXPECT_EQ(registers.read(status), fault);
  EXPECT_FALSE(registers.hot_plug.powered());
  EXPECT_FALSE(registers.hot_plug.fail_power()) << "there is none";
  registers.write(control, 0);
  registers.hot_plug.complete_command();
  EXPECT_FALSE(registers.hot_plug.powered());
  registers.write(control, off);
  registers.hot_plug.complete_command();
  registers.write(control, 0);
  registers.hot_plug.complete_command();
  EXPECT_TRUE(registers.hot_plug.powered());
  EXPECT_EQ(registers.read(status), fault | completed) << "until it is cleared";
  EXPECT_FALSE(Registers(HotPlugSlotConfig::with({})).hot_plug.fail_power());
}

// Those that there are only with what they are about.
TEST(HotPlugSlot, MoreEventsAndTheirEnables) {
  for (const unsigned event : {1u, 2u, 4u}) {
    for (unsigned enabled = 0; enabled < 5; ++enabled) {
      Registers registers(with_lock);
      registers.write(control, 1u << 5 | 1u << enabled);
      if (event == 1) registers.hot_plug.fail_power();
      if (event == 2) registers.hot_plug.move_latch(true);
      if (event == 4) registers.hot_plug.complete_command();
      EXPECT_EQ(registers.read(status) & 0x1f, 1u << event);
      EXPECT_EQ(registers.hot_plug.interrupting(), enabled == event) << event << ' ' << enabled;
    }
  }
}

}  // namespace
}  // namespace pcie
