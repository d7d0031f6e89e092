// SPDX-License-Identifier: Apache-2.0
// Interrupt inputs have levels, which change at their exact times.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

constexpr std::uint64_t spurious = 1023;

class InstanceLinesTest : public testing::Test {
 protected:
  InstanceLinesTest() : machine_(ipu("lines")) { run(1 * us); }

  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> found;
    for (const Access& one : machine_.device.accesses) found.push_back(one.value);
    return found;
  }
  /// The device lowers the line whose interrupt the guest has noted.
  void take_back() {
    machine_.device.on_access = [this](Access& access) {
      if (access.value != spurious) {
        machine_.qemu.set_line(static_cast<unsigned>(access.value) - 32, false);
      }
    };
  }

  Machine machine_;
};

TEST_F(InstanceLinesTest, EachIsItsSpi) {
  take_back();
  std::vector<std::uint64_t> expected;
  for (unsigned line = 0; line < 64; ++line) {
    machine_.qemu.set_line(line, true);
    run(1 * us);
    expected.push_back(32 + line);
  }
  EXPECT_EQ(numbers(), expected);
}

TEST_F(InstanceLinesTest, ALevelInterruptsUntilItIsTakenBack) {
  Picoseconds lowered = 0;
  machine_.device.on_access = [&](Access&) {
    if (machine_.device.accesses.size() == 5) {
      machine_.qemu.set_line(3, false);
      lowered = now();
    }
  };
  machine_.qemu.set_line(3, true);
  run(10 * us);
  EXPECT_EQ(numbers(), std::vector<std::uint64_t>(5, 35));
  EXPECT_GT(lowered, 0);
}

TEST_F(InstanceLinesTest, ALevelThatIsSetTwiceIsOne) {
  take_back();
  machine_.qemu.set_line(3, true);
  machine_.qemu.set_line(3, true);
  run(10 * us);
  EXPECT_THAT(numbers(), testing::ElementsAre(35));
}

// The sleeper wakes, since there was an interrupt, and finds that it is gone.
TEST_F(InstanceLinesTest, ALevelThatGoesBeforeItIsSeenIsSpurious) {
  machine_.qemu.set_line(3, true);
  machine_.qemu.set_line(3, false);
  run(10 * us);
  for (const std::uint64_t number : numbers()) EXPECT_EQ(number, spurious);
  EXPECT_LE(numbers().size(), 1u);
}

TEST_F(InstanceLinesTest, SeveralAtOnceComeByNumber) {
  take_back();
  for (const unsigned line : {9u, 2u, 63u, 0u}) machine_.qemu.set_line(line, true);
  run(10 * us);
  EXPECT_THAT(numbers(), testing::ElementsAre(32, 34, 41, 95));
}

TEST_F(InstanceLinesTest, WakesAtTheInstantAtWhichItRises) {
  take_back();
  std::vector<Picoseconds> risen;
  Event rise(machine_.domain, [&] {
    risen.push_back(now());
    machine_.qemu.set_line(7, true);
    if (risen.size() < 100) rise.after(12'345'679);
  });
  rise.at(5'000'001);
  run(2 * ms);
  ASSERT_EQ(machine_.device.accesses.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(machine_.device.accesses[i].time, risen[i] + 2 * ns);  // MRS, STR
  }
}

TEST_F(InstanceLinesTest, NumbersThatAreNoLineAreIgnored) {
  machine_.qemu.set_line(64, true);
  machine_.qemu.set_line(~0u, true);
  machine_.qemu.set_line(1u << 31, true);
  run(10 * us);
  EXPECT_TRUE(numbers().empty());
}

}  // namespace
}  // namespace vp::qemu
