// SPDX-License-Identifier: Apache-2.0
// A vCPU lets the kernel pause when the user is to be heard, and nothing that is simulated changes.
#include <optional>
#include <string>
#include <tuple>

#include "tests/vp/qemu/machine.h"
#include "vp/time/wall_clock.h"

namespace vp::qemu {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Its exception vectors lie nowhere: each instruction is an exception.
TEST(CpuPauseTest, FirmwareThatFaultsForEverIsPaused) {
  Instance::Config config = ipu("endless");
  config.max_quantum = 1 * s;
  Machine machine(config);
  machine.parameter(0, 4);
  WallClock::start(milliseconds(20));
  const auto begin = steady_clock::now();
  run(10 * s);
  WallClock::stop();
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_LT(now(), 10 * s);
}

constexpr Picoseconds end = 5 * ms;

std::string trace(const Instance::Config& config, std::optional<milliseconds> tick) {
  return in_child([&] {
    Machine machine(config);
    // In some rounds of the programs that arm a timer, the instruction which does so is the last
    // one before the vCPU looks whether it is to pause.
    const std::uint16_t turns = 24'990;
    if (config.library.find("x86_64") == std::string::npos) {
      machine.parameter(0, turns);
    } else {
      EXPECT_TRUE(machine.qemu.write_memory(0x500, &turns, sizeof turns));
      machine.qemu.map_memory(0xd0000, 0x1000, 1);
    }
    // A vCPU is granted to the very instruction.
    Event appointment(machine.domain, [] {});
    appointment.at(end);
    if (tick) WallClock::start(*tick);
    unsigned pauses = 0;
    for (; now() < end; ++pauses) {
      WallClock::look();
      run(end - now());
    }
    WallClock::stop();
    EXPECT_EQ(pauses > 1, tick.has_value());
    EXPECT_GT(machine.device.accesses.size(), 1u);
    return machine.device.trace() + std::to_string(machine.qemu.instructions());
  });
}

void expect_pauses_to_change_nothing(Instance::Config config, milliseconds tick) {
  config.max_quantum = 1 * s;
  config.slice = 1 * ms;
  EXPECT_EQ(trace(config, tick), trace(config, std::nullopt)) << config.arguments.back();
}

TEST(CpuPauseTest, APauseChangesNothing) {
  expect_pauses_to_change_nothing(ipu("mixed"), milliseconds(1));
}

TEST(CpuPauseTest, APauseChangesNothingForSiblings) {
  expect_pauses_to_change_nothing(ipu("race", 3), milliseconds(1));
  expect_pauses_to_change_nothing(ipu("tally", 3), milliseconds(1));
}

class PausesTest : public testing::TestWithParam<std::tuple<const char*, unsigned>> {
 protected:
  Instance::Config config() const {
    const auto [machine, cpus] = GetParam();
    return machine == std::string("Ipu") ? ipu("alarms", cpus) : host("alarms-host", cpus);
  }
};

INSTANTIATE_TEST_SUITE_P(, PausesTest,
                         testing::Combine(testing::Values("Ipu", "Host"), testing::Values(1, 2)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + std::to_string(std::get<1>(info.param));
                         });

TEST_P(PausesTest, AtEveryLookChangeNothing) {
  expect_pauses_to_change_nothing(config(), milliseconds(0));
}

// A vCPU looks after so many instructions whether it is to pause, also if nobody wants it to.
TEST_P(PausesTest, AreLookedForWithoutMissingATimer) {
  Instance::Config often = config(), seldom = config();
  often.max_quantum = 1 * us;
  seldom.max_quantum = 1 * s;
  EXPECT_EQ(trace(often, std::nullopt), trace(seldom, std::nullopt));
}

// A user types during a pause, for which the vCPU has run ahead of the kernel's time.
TEST(CpuPauseTest, WhatIsTypedDuringAPauseComesInTime) {
  Instance::Config config = ipu("compute");
  config.max_quantum = 1 * s;
  Machine machine(config);
  const Picoseconds end = now() + 300 * ms;
  Event appointment(machine.domain, [] {});  // up to which the vCPU is granted
  appointment.at(end);
  std::vector<Picoseconds> typed, heard;
  Event input(machine.domain, [&] {
    heard.push_back(now());
    machine.qemu.set_line(0, heard.size() % 2 != 0);
  });
  WallClock::start(milliseconds(1));
  while (now() < end) {
    WallClock::look();
    run(end - now());
    const Picoseconds reached = machine.domain.reached();
    if (reached <= now() || reached >= end || input.pending()) continue;
    typed.push_back(reached);
    input.at(reached);
  }
  WallClock::stop();
  EXPECT_GT(typed.size(), 2u);
  EXPECT_EQ(heard, typed);
}

}  // namespace
}  // namespace vp::qemu
