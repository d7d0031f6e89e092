// SPDX-License-Identifier: Apache-2.0
// A vCPU's local time is exact: floor(n * 10^12 / ips) after n instructions, plus its stalls.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

Picoseconds time_of(std::uint64_t instructions, std::uint64_t ips) {
  return static_cast<Picoseconds>(static_cast<unsigned __int128>(instructions) *
                                  1'000'000'000'000u / ips);
}

class RateTest : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Rates, RateTest,
                         testing::Values(1, 3, 7'777, 333'333'333, 999'999'999, 1'000'000'000,
                                         1'000'000'001, 2'500'000'000, 3'000'000'000,
                                         1'000'000'000'000, 1'700'000'000'000),
                         [](const auto& param) { return std::to_string(param.param); });

TEST_P(RateTest, AnAccessHappensAfterItsInstructions) {
  const std::uint64_t ips = GetParam();
  Instance::Config config = ipu("beats");
  config.ips = ips;
  Machine machine(std::move(config));
  constexpr std::uint64_t count = 1000;
  run(time_of(3 * count + 1, ips) + 1);

  ASSERT_GE(machine.device.accesses.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Access expected{time_of(2 + 3 * i, ips), 0, 'w', device, 8, i};
    ASSERT_EQ(machine.device.accesses[i], expected);
  }
}

TEST_P(RateTest, AStallCostsWhatItLasts) {
  const std::uint64_t ips = GetParam();
  const Picoseconds instruction = time_of(1, ips);
  Instance::Config config = ipu("stalls");
  config.ips = ips;
  Machine machine(std::move(config));
  machine.device.at[device + 8].wait = 750 * ns;
  constexpr std::uint64_t count = 300;
  run(static_cast<Picoseconds>(count) * (750 * ns + 6 * instruction + 6));

  const auto reads = machine.device.of(device + 8);
  const auto before = machine.device.of(device + 16);
  const auto after = machine.device.of(device + 24);
  ASSERT_GE(after.size(), count - 1);
  for (std::uint64_t i = 0; i < after.size(); ++i) {
    const auto stalled = static_cast<Picoseconds>(i) * 750 * ns;
    ASSERT_EQ(reads[i].time, time_of(3 + 6 * i, ips) + stalled);
    ASSERT_EQ(after[i].time, time_of(6 + 6 * i, ips) + stalled + 750 * ns);
    // The counter counts whole nanoseconds.
    ASSERT_EQ(before[i].value, (time_of(2 + 6 * i, ips) + stalled) / ns);
    ASSERT_EQ(after[i].value, (time_of(4 + 6 * i, ips) + stalled + 750 * ns) / ns);
  }
}

std::string stalled_by(Picoseconds wait, Picoseconds delay) {
  return in_child([&] {
    Machine machine(ipu("stalls"));
    machine.device.at[device + 8].wait = wait;
    machine.device.at[device + 8].delay = delay;
    run(1 * ms);
    return machine.device.trace();
  });
}

TEST(CpuTimeTest, AnnotatedDelayIsTimeWaited) {
  const std::string waited = stalled_by(750 * ns, 0);
  EXPECT_GT(waited.size(), 10'000u);
  EXPECT_EQ(stalled_by(0, 750 * ns), waited);
  EXPECT_EQ(stalled_by(300 * ns, 450 * ns), waited);
}

TEST(CpuTimeTest, ADelayLongerThanTheQuantumCountsInFull) {
  const std::string waited = stalled_by(33'333'333, 0);
  EXPECT_EQ(stalled_by(0, 33'333'333), waited);
}

TEST(CpuTimeTest, InstructionsAreThoseOfTheElapsedTime) {
  Instance::Config config = ipu("stalls");
  config.max_quantum = 10 * ns;
  Machine machine(std::move(config));
  machine.device.at[device + 8].wait = 500 * ns;
  run(506 * ns * 100);
  // The vCPU may be ahead of the kernel by its quantum.
  EXPECT_GE(machine.qemu.instructions(), 600u);
  EXPECT_LE(machine.qemu.instructions(), 610u);
}

// The program counts its writes in their values.
void expect_writes(const char* program, Picoseconds first, Picoseconds period, Picoseconds span) {
  std::string expected;
  std::uint64_t number = 0;
  for (Picoseconds time = first; time <= span; time += period) {
    expected += Access{time, 0, 'w', 0xd0000, 1, ++number % 256u}.text();
  }
  for (const Picoseconds quantum : {50 * ns, 1 * us, 100 * us}) {
    const std::string trace = in_child([&] {
      Instance::Config config = host(program);
      config.max_quantum = quantum;
      Machine machine(std::move(config));
      machine.qemu.map_memory(0xd0000, 0x1000, 10);
      run(span);
      return machine.device.trace();
    });
    EXPECT_EQ(trace.substr(0, 200), expected.substr(0, 200)) << quantum;
    EXPECT_TRUE(trace == expected) << quantum;
  }
}

// The vCPU writes every 4 instructions, of which one is a PAUSE.
TEST(CpuTimeTest, APauseTakesTime) {
  expect_writes("pause", 6 * ns, 44 * ns, 10 * us);
}

TEST(CpuTimeTest, InitTakesNoTime) {
  expect_writes("init", 8 * ns, 17 * ns, 100 * us);
}

// An instruction takes 1 ns, which is one count of the time stamp counter.
TEST(CpuTimeTest, AnMsrShowsTheTimeOfItsInstruction) {
  for (const Picoseconds quantum : {10 * ns, 50 * ns, 1 * us, 100 * us}) {
    in_child([quantum] {
      Instance::Config config = host("stamps");
      config.max_quantum = quantum;
      Machine machine(std::move(config));
      machine.qemu.map_memory(0xd0000, 0x1000, 10);
      run(10 * us);
      EXPECT_GT(machine.device.accesses.size(), 300u);
      for (const Access& one : machine.device.accesses) {
        EXPECT_EQ(one.value, one.address == 0xd0000 ? 6u : 22u) << quantum << ": " << one;
      }
      return std::string();
    });
  }
}

TEST(CpuTimeTest, ThereAreNoPerformanceCounters) {
  Machine machine(ipu("counters"));
  run(10 * us);
  constexpr std::uint64_t unknown_reason = 0;  // the class of an undefined instruction
  ASSERT_EQ(machine.device.accesses.size(), 2u);
  EXPECT_EQ(machine.device.of(device).at(0).value, 0u);
  EXPECT_EQ(machine.device.of(device + 8).at(0).value, unknown_reason);
}

}  // namespace
}  // namespace vp::qemu
