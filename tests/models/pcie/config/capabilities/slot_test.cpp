// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/slot.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

constexpr unsigned at = 0x54;  // where the slot's registers begin
constexpr unsigned control = at + 4;
constexpr unsigned status = at + 6;

constexpr SlotConfig none{};
constexpr SlotConfig everything = SlotConfig::with(
    {&SlotConfig::surprise, &SlotConfig::button, &SlotConfig::indicators, &SlotConfig::power});

constexpr std::uint32_t button = Slot::StatusBit::button_pressed;
constexpr std::uint32_t presence = Slot::StatusBit::presence_changed;
constexpr std::uint32_t present = Slot::StatusBit::presence_detect;
constexpr std::uint32_t link = Slot::StatusBit::link_changed;

struct Registers {
  explicit Registers(const SlotConfig& config) : slot(space, at, config, 5) {}
  std::uint32_t read(unsigned offset) const { return space.read(offset, 2); }
  void write(unsigned offset, std::uint32_t value) { space.write(offset, 2, value); }
  ConfigSpace space;
  Slot slot;
};

TEST(Slot, CapabilitiesSayWhatThereIs) {
  auto capabilities = [](const SlotConfig& config) { return Registers(config).space.read(at, 4); };
  const std::uint32_t number = 5u << 19, hot_plug = 1u << 6 | 1u << 18;
  EXPECT_EQ(capabilities(none), number);
  EXPECT_EQ(capabilities(SlotConfig::with({})), number | hot_plug);
  EXPECT_EQ(capabilities(SlotConfig::with({&SlotConfig::surprise})), number | hot_plug | 1u << 5);
  EXPECT_EQ(capabilities(SlotConfig::with({&SlotConfig::button})), number | hot_plug | 1u << 0);
  EXPECT_EQ(capabilities(SlotConfig::with({&SlotConfig::indicators})), number | hot_plug | 3u << 3);
  EXPECT_EQ(capabilities(SlotConfig::with({&SlotConfig::power})), number | hot_plug | 1u << 1);
  EXPECT_EQ(capabilities(SlotConfig::with({&SlotConfig::latch})), number | hot_plug | 1u << 2);
  EXPECT_EQ(capabilities(SlotConfig::with({&SlotConfig::interlock})), number | hot_plug | 1u << 17);
  EXPECT_EQ(capabilities(SlotConfig::with({}, 1)), number | 1u << 6);
}

TEST(Slot, ControlsExistWithWhatTheyControl) {
  auto writable = [](const SlotConfig& config) {
    Registers slot(config);
    slot.write(control, 0xffff);
    const std::uint32_t ones = slot.read(control);
    slot.write(control, 0);
    EXPECT_EQ(slot.read(control), 0u);
    return ones;
  };
  EXPECT_EQ(writable(none), 0u);
  EXPECT_EQ(writable(SlotConfig::with({})), 0x1028u);
  EXPECT_EQ(writable(SlotConfig::with({&SlotConfig::button})), 0x1029u);
  EXPECT_EQ(writable(SlotConfig::with({&SlotConfig::indicators})), 0x13e8u);
  EXPECT_EQ(writable(SlotConfig::with({&SlotConfig::power})), 0x142au);
  EXPECT_EQ(writable(SlotConfig::with({&SlotConfig::latch})), 0x102cu);
  EXPECT_EQ(writable(SlotConfig::with({&SlotConfig::interlock})), 0x1028u) << "reads as 0";
  EXPECT_EQ(writable(SlotConfig::with({}, 1)), 0x1038u);
  EXPECT_EQ(Registers(everything).read(control), 0x03c0u) << "indicators are off";
}

TEST(Slot, OnlyAHotPlugSlotHasMore) {
  for (unsigned set = 1; set < 128; ++set) {
    const SlotConfig config{false,          (set & 1) != 0,  (set & 2) != 0,  (set & 4) != 0,
                            (set & 8) != 0, (set & 16) != 0, (set & 32) != 0, set >> 6};
    EXPECT_THROW(Registers{config}, ConfigurationError) << set;
  }
  ConfigSpace a, b;
  EXPECT_NO_THROW(Slot(a, at, none, 0x1fff));
  EXPECT_THROW(Slot(b, at, none, 0x2000), ConfigurationError);
  ConfigSpace c;
  EXPECT_THROW(Slot(c, at, SlotConfig::with({}, -1), 1), ConfigurationError);
}

TEST(Slot, PresenceIsAStateAndItsChangeAnEvent) {
  Registers slot(everything);
  EXPECT_EQ(slot.read(status), 0u);
  slot.slot.seat();
  EXPECT_EQ(slot.read(status), present) << "from power-up on";
  slot.slot.set_occupied(true);
  EXPECT_EQ(slot.read(status), present) << "no change";
  slot.slot.set_occupied(false);
  EXPECT_EQ(slot.read(status), presence);
  slot.write(status, 0xffff);
  EXPECT_EQ(slot.read(status), 0u);
  slot.slot.set_occupied(true);
  EXPECT_EQ(slot.read(status), present | presence);
  slot.write(status, 0xffff);
  EXPECT_EQ(slot.read(status), present) << "the state is read-only";
}

TEST(Slot, EventsAreClearedOneByOne) {
  Registers slot(everything);
  slot.slot.set_occupied(true);
  EXPECT_TRUE(slot.slot.press_button());
  slot.slot.link_changed();
  EXPECT_EQ(slot.read(status), present | presence | button | link);
  slot.write(status, button);
  EXPECT_EQ(slot.read(status), present | presence | link);
  slot.write(status, link);
  EXPECT_EQ(slot.read(status), present | presence);
}

TEST(Slot, WithoutHotPlugThereIsPresenceButNoEvent) {
  Registers slot(none);
  slot.slot.set_occupied(true);
  slot.slot.link_changed();
  EXPECT_FALSE(slot.slot.press_button());
  EXPECT_EQ(slot.read(status), present);
  slot.slot.set_occupied(false);
  EXPECT_EQ(slot.read(status), 0u);
  slot.write(control, 0xffff);
  EXPECT_FALSE(slot.slot.interrupting());
  EXPECT_TRUE(slot.slot.powered());
}

TEST(Slot, WithoutAButtonNoneIsPressed) {
  Registers slot(SlotConfig::with({&SlotConfig::surprise}));
  EXPECT_FALSE(slot.slot.press_button());
  EXPECT_EQ(slot.read(status), 0u);
}

// Each event with each set of enables: 0 button, 3 presence, 12 link, and 5 over all.
TEST(Slot, InterruptsAreOfEnabledEvents) {
  const std::uint32_t enable_of[] = {1u << 0, 1u << 3, 1u << 12};
  for (unsigned event = 0; event < 3; ++event) {
    for (unsigned set = 0; set < 16; ++set) {
      Registers slot(everything);
      std::uint32_t enables = set & 8 ? 1u << 5 : 0;
      for (unsigned i = 0; i < 3; ++i) enables |= set >> i & 1 ? enable_of[i] : 0;
      slot.write(control, enables);
      EXPECT_FALSE(slot.slot.interrupting());
      if (event == 0) slot.slot.press_button();
      if (event == 1) slot.slot.set_occupied(true);
      if (event == 2) slot.slot.link_changed();
      EXPECT_EQ(slot.slot.interrupting(), (set & 8) != 0 && (set >> event & 1) != 0)
          << event << ' ' << set;
      slot.write(status, 0xffff);
      EXPECT_FALSE(slot.slot.interrupting());
    }
  }
}

TEST(Slot, AResetMovesNoCard) {
  Registers slot(everything);
  slot.slot.set_occupied(true);
  slot.write(control, 0x0400);
  slot.slot.complete_command();
  EXPECT_FALSE(slot.slot.powered());
  slot.space.reset();
  slot.slot.reset();
  EXPECT_EQ(slot.read(status), present);
  EXPECT_TRUE(slot.slot.powered());
  EXPECT_TRUE(slot.slot.occupied());
}

TEST(Slot, TellsOfWritesToControlAndStatus) {
  Registers slot(everything);
  unsigned commands = 0, cleared = 0;
  slot.slot.on_write([&] { ++commands; }, [&] { ++cleared; });
  slot.space.write(at, 4, ~0u);
  EXPECT_EQ(commands + cleared, 0u);
  slot.write(control, 0);
  EXPECT_EQ(commands, 1u);
  slot.space.write(status + 1, 1, 1);
  EXPECT_EQ(commands, 1u);
  EXPECT_EQ(cleared, 1u);
}

constexpr SlotConfig with_lock =
    SlotConfig::with({&SlotConfig::surprise, &SlotConfig::button, &SlotConfig::indicators,
                      &SlotConfig::power, &SlotConfig::latch, &SlotConfig::interlock},
                     1 * vp::us);
constexpr std::uint32_t completed = Slot::StatusBit::command_completed,
                        engaged = Slot::StatusBit::interlock_engaged;
constexpr std::uint32_t latch_moved = Slot::StatusBit::latch_changed,
                        latch_open = Slot::StatusBit::latch_open,
                        fault = Slot::StatusBit::power_fault;
constexpr std::uint32_t toggle = Slot::ControlBit::toggle_interlock,
                        off = Slot::ControlBit::power_off;

TEST(Slot, TheInterlockIsToggledByEachCommandThatSaysSo) {
  Registers slot(with_lock);
  slot.write(control, toggle);
  EXPECT_EQ(slot.read(control), 0u);
  EXPECT_FALSE(slot.slot.locked()) << "not yet";
  slot.slot.complete_command();
  EXPECT_TRUE(slot.slot.locked());
  EXPECT_EQ(slot.read(status), completed | engaged);
  slot.write(control, 0);
  slot.slot.complete_command();
  EXPECT_TRUE(slot.slot.locked());
  slot.space.reset();
  slot.slot.reset();
  EXPECT_EQ(slot.read(status), engaged) << "no reset opens it";
  slot.write(control, toggle);
  slot.slot.complete_command();
  EXPECT_FALSE(slot.slot.locked());
}

TEST(Slot, AnOpenLatchIsAStateItsMoveAnEventAndTakesThePower) {
  Registers slot(with_lock);
  EXPECT_TRUE(slot.slot.latched());
  EXPECT_FALSE(slot.slot.move_latch(false)) << "it is closed";
  EXPECT_TRUE(slot.slot.move_latch(true));
  EXPECT_EQ(slot.read(status), latch_moved | latch_open);
  EXPECT_FALSE(slot.slot.latched());
  EXPECT_FALSE(slot.slot.powered());
  slot.write(status, 0xffff);
  EXPECT_EQ(slot.read(status), latch_open);
  // Neither on nor off and on give power while it is open.
  for (const std::uint32_t value : {0u, off, 0u}) {
    slot.write(control, value);
    slot.slot.complete_command();
    EXPECT_FALSE(slot.slot.powered());
  }
  EXPECT_TRUE(slot.slot.move_latch(false));
  EXPECT_FALSE(slot.slot.powered()) << "software has to turn it on";
  slot.write(control, off);
  slot.slot.complete_command();
  slot.write(control, 0);
  EXPECT_FALSE(slot.slot.powered()) << "not before that is done";
  slot.slot.complete_command();
  EXPECT_TRUE(slot.slot.powered());
  Registers without(SlotConfig::with({&SlotConfig::latch}));
  EXPECT_TRUE(without.slot.move_latch(true));
  EXPECT_TRUE(without.slot.powered()) << "there is nothing that could take it";
  EXPECT_FALSE(Registers(SlotConfig::with({})).slot.move_latch(true));
}

TEST(Slot, APowerFaultLastsUntilSoftwareTurnsThePowerOff) {
  Registers slot(with_lock);
  EXPECT_TRUE(slot.slot.fail_power());
  EXPECT_EQ(slot.read(status), fault);
  EXPECT_FALSE(slot.slot.powered());
  EXPECT_FALSE(slot.slot.fail_power()) << "there is none";
  slot.write(control, 0);
  slot.slot.complete_command();
  EXPECT_FALSE(slot.slot.powered());
  slot.write(control, off);
  slot.slot.complete_command();
  slot.write(control, 0);
  slot.slot.complete_command();
  EXPECT_TRUE(slot.slot.powered());
  EXPECT_EQ(slot.read(status), fault | completed) << "until it is cleared";
  EXPECT_FALSE(Registers(SlotConfig::with({})).slot.fail_power());
}

// Those that there are only with what they are about.
TEST(Slot, MoreEventsAndTheirEnables) {
  for (const unsigned event : {1u, 2u, 4u}) {
    for (unsigned enabled = 0; enabled < 5; ++enabled) {
      Registers slot(with_lock);
      slot.write(control, 1u << 5 | 1u << enabled);
      if (event == 1) slot.slot.fail_power();
      if (event == 2) slot.slot.move_latch(true);
      if (event == 4) slot.slot.complete_command();
      EXPECT_EQ(slot.read(status) & 0x1f, 1u << event);
      EXPECT_EQ(slot.slot.interrupting(), enabled == event) << event << ' ' << enabled;
    }
  }
}

}  // namespace
}  // namespace pcie
