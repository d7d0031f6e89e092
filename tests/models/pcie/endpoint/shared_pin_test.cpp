// SPDX-License-Identifier: Apache-2.0
// Functions that share a pin (PCIe 6.0, 2.2.8.1): the line is asserted while one of them asserts
// it.
#include <gtest/gtest.h>

#include "tests/models/pcie/fixture.h"

namespace pcie {
namespace {

struct Sharing {
  static Fixture::Config config() {
    Fixture::Config config;
    config.endpoint.functions[0].interrupt_pin = 1;
    config.endpoint.functions.resize(3, config.endpoint.functions[0]);
    config.endpoint.functions[2].interrupt_pin = 2;
    return config;
  }

  static Id id(unsigned number) { return make_id(1, 0, number); }
  Function& function(unsigned number) { return fixture.endpoint.function(number); }
  void set(unsigned number, bool level) {
    function(number).set_intx(level);
    pause(1 * vp::us);
  }
  /// The levels of all changes of the line so far.
  std::vector<bool> levels() const { return fixture.lines.levels(); }
  bool status(unsigned number) { return fixture.config_read(id(number), Header::status, 2) & 8; }
  void reset_bus() {
    constexpr unsigned control = Type1Header::bridge_control;
    fixture.config_write(Fixture::root_port, control,
                         Type1Header::BridgeControlBit::secondary_bus_reset, 2);
    pause(2 * vp::ms);
    fixture.config_write(Fixture::root_port, control, 0, 2);
    pause(200 * vp::ms);
  }
  void write_control(unsigned number, std::uint16_t capability, unsigned at, unsigned value) {
    const unsigned offset = fixture.find_capability(id(number), capability);
    fixture.config_write(id(number), offset + at, value, 2);
    pause(1 * vp::us);
  }

  Fixture fixture{config()};
};

using Levels = std::vector<bool>;

TEST(SharedPin, IsAssertedWhileOneFunctionAssertsIt) {
  Sharing device;
  device.fixture.run([&] {
    device.fixture.enumerate();
    device.set(0, true);
    device.set(1, true);
    EXPECT_EQ(device.levels(), Levels({true}));
    device.set(0, false);
    EXPECT_EQ(device.levels(), Levels({true})) << "function 1 still asserts it";
    EXPECT_FALSE(device.status(0));
    EXPECT_TRUE(device.status(1));
    device.set(0, true);
    device.set(1, false);
    EXPECT_EQ(device.levels(), Levels({true}));
    device.set(0, false);
    EXPECT_EQ(device.levels(), Levels({true, false}));
    device.set(1, true);
    EXPECT_EQ(device.levels(), Levels({true, false, true}));
  });
}

TEST(SharedPin, OtherPinsAreOtherLines) {
  Sharing device;
  device.fixture.run([&] {
    device.fixture.enumerate();
    device.set(0, true);
    device.set(2, true);
    EXPECT_EQ(device.levels(), Levels({true, true}));
    EXPECT_NE(device.fixture.lines.changes[0].first, device.fixture.lines.changes[1].first);
    device.set(0, false);
    EXPECT_EQ(device.fixture.lines.changes[2],
              std::pair(device.fixture.lines.changes[0].first, false));
  });
}

// Whatever takes the level of one function away leaves that of the other.
TEST(SharedPin, StaysAssertedWhenAFunctionCanNoLongerAssertIt) {
  Sharing device;
  device.fixture.run([&] {
    device.fixture.enumerate();
    device.set(0, true);
    device.set(1, true);
    const Id first = Sharing::id(0);
    const unsigned command = device.fixture.config_read(first, Header::command, 2);
    device.fixture.config_write(first, Header::command,
                                command | Header::CommandBit::interrupt_disable, 2);
    device.fixture.config_write(first, Header::command, command, 2);
    device.write_control(0, Msi::id, Msi::message_control, Msi::ControlBit::enable);
    device.write_control(0, Msi::id, Msi::message_control, 0);
    device.write_control(0, PowerManagement::id, PowerManagement::control, 3);
    device.write_control(0, PowerManagement::id, PowerManagement::control, 0);
    device.write_control(0, PciExpress::id, PciExpress::device_control, 0x8000);
    EXPECT_EQ(device.levels(), Levels({true}));
    device.set(1, false);
    EXPECT_EQ(device.levels(), Levels({true, false})) << "the reset has ended that of function 0";
  });
}

TEST(SharedPin, IsForgottenWithTheLink) {
  Sharing device;
  device.fixture.run([&] {
    device.fixture.enumerate();
    device.set(0, true);
    device.set(1, true);
    device.reset_bus();
    EXPECT_EQ(device.levels(), Levels({true, false}));
    device.set(1, true);
    EXPECT_EQ(device.levels(), Levels({true, false, true}));
    device.set(1, false);
    EXPECT_EQ(device.levels(), Levels({true, false, true, false}));
  });
}

}  // namespace
}  // namespace pcie
