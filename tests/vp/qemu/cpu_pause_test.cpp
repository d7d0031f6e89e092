// SPDX-License-Identifier: Apache-2.0
// A vCPU lets the kernel pause when the user is to be heard, and nothing that is simulated changes.
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

std::string trace(const std::string& guest, unsigned cores, milliseconds tick) {
  return in_child([&] {
    Instance::Config config = ipu(guest, cores);
    config.max_quantum = 1 * ms;
    config.slice = 1 * ms;
    Machine machine(config);
    machine.parameter(0, cores);
    if (tick.count() > 0) WallClock::start(tick);
    unsigned pauses = 0;
    for (; now() < 5 * ms; ++pauses) {
      WallClock::look();
      run(5 * ms - now());
    }
    WallClock::stop();
    if (tick.count() > 0) EXPECT_GT(pauses, 1u);
    return machine.device.trace() + std::to_string(machine.qemu.instructions());
  });
}

TEST(CpuPauseTest, APauseChangesNothing) {
  EXPECT_EQ(trace("mixed", 1, milliseconds(1)), trace("mixed", 1, milliseconds(0)));
}

TEST(CpuPauseTest, APauseChangesNothingForSiblings) {
  EXPECT_EQ(trace("race", 3, milliseconds(1)), trace("race", 3, milliseconds(0)));
  EXPECT_EQ(trace("tally", 3, milliseconds(1)), trace("tally", 3, milliseconds(0)));
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
