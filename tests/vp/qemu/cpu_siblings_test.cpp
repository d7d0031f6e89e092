// SPDX-License-Identifier: Apache-2.0
// The vCPUs of one machine each have a local time, and none delays another.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

class SiblingsTest : public testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Cores, SiblingsTest, testing::Values(2, 3, 16, 24),
                         testing::PrintToStringParamName());

void expect_beats(const Machine& machine, unsigned cores, Picoseconds until) {
  for (unsigned core = 1; core < cores; ++core) {
    const auto beats = machine.device.of(device + 0x100 + 8 * core);
    ASSERT_GE(static_cast<Picoseconds>(beats.size()) * 3 * ns, until - 10 * ns);
    for (std::size_t i = 0; i < beats.size(); ++i) {
      const Access expected{
          static_cast<Picoseconds>(6 + 3 * i) * ns, core, 'w', device + 0x100 + 8 * core, 8, i};
      ASSERT_EQ(beats[i], expected);
    }
  }
}

TEST_P(SiblingsTest, AStalledCoreDoesNotStallTheOthers) {
  Machine machine(ipu("siblings", GetParam()));
  machine.device.at[device + 8].wait = 7 * us;
  run(24 * us);
  expect_beats(machine, GetParam(), 24 * us);
  EXPECT_EQ(machine.device.of(device + 8).size(), 4u);
}

TEST_P(SiblingsTest, ACoreWithADelayDoesNotStallTheOthers) {
  Machine machine(ipu("siblings", GetParam()));
  machine.device.at[device + 8].delay = 7 * us;
  run(24 * us);
  expect_beats(machine, GetParam(), 24 * us);
  EXPECT_EQ(machine.device.of(device + 8).size(), 4u);
}

// A software-generated interrupt of the GICv3 names its targets in a mask of 16 bits, so 16 cores
// can be interrupted one by one.
class InterruptTest : public testing::TestWithParam<unsigned> {};

INSTANTIATE_TEST_SUITE_P(Cores, InterruptTest, testing::Values(2, 5, 16),
                         testing::PrintToStringParamName());

TEST_P(InterruptTest, GoesRoundAndWakesEachAtItsTime) {
  const unsigned cores = GetParam();
  Machine machine(ipu("ipi", cores));
  machine.parameter(0, cores);
  run(60 * us);
  const auto& notes = machine.device.accesses;
  ASSERT_GE(notes.size(), 1000u);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    ASSERT_EQ(notes[i].cpu, i % cores);
    ASSERT_EQ(notes[i].value, i % cores);
    // The sender's MSR, then MRS, MSR, CMP, B and STR of the one that it wakes.
    const Picoseconds expected = i == 0 ? notes[0].time : notes[i - 1].time + 6 * ns;
    ASSERT_EQ(notes[i].time, expected) << i;
  }
}

TEST_P(SiblingsTest, TurnsNeedNoKernel) {
  constexpr std::uint64_t turns = 100;
  Machine machine(ipu("compute", GetParam()));
  const auto deltas = sc_core::sc_delta_count();
  run(turns * us);
  EXPECT_GE(machine.qemu.instructions(), turns * GetParam() * 900);  // by each in a turn of 1 us
  EXPECT_LE(sc_core::sc_delta_count() - deltas, 10u + GetParam());
}

TEST_P(SiblingsTest, SleepersDoNothing) {
  Machine machine(ipu("sleep", GetParam()));
  run(10 * us);
  EXPECT_EQ(machine.device.accesses.size(), GetParam());
  EXPECT_EQ(machine.domain.floor(), never);
  EXPECT_FALSE(sc_core::sc_pending_activity());
  const std::uint64_t instructions = machine.qemu.instructions();
  const auto deltas = sc_core::sc_delta_count();
  run(1000 * s);
  EXPECT_EQ(machine.qemu.instructions(), instructions);
  EXPECT_EQ(machine.device.accesses.size(), GetParam());
  EXPECT_LE(sc_core::sc_delta_count(), deltas + 1);

  // The interrupted core executes its few instructions at the exact time.
  machine.qemu.set_line(9, true);
  machine.device.accesses.clear();
  machine.device.on_access = [&](Access&) { machine.qemu.set_line(9, false); };
  run(1 * us);
  ASSERT_EQ(machine.device.accesses.size(), 1u);
  EXPECT_EQ(machine.device.accesses[0].cpu, 0u);
  EXPECT_EQ(machine.device.accesses[0].time, 10 * us + 1000 * s + 4 * ns);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

/// The cores of two machines race. Over a link each machine writes into the other's memory and
/// interrupts it.
std::string race(Picoseconds quantum, Picoseconds slice, Picoseconds latency, unsigned cores) {
  return in_child([&] {
    Instance::Config config = ipu("race", cores);
    config.max_quantum = quantum;
    config.slice = slice;
    Machine one(config, "one"), other(config, "other");
    one.domain.add_peer(other.domain, latency);
    other.domain.add_peer(one.domain, latency);
    std::string trace;
    std::vector<std::unique_ptr<Event>> arrivals;
    const auto connect = [&](Machine& from, Machine& to) {
      arrivals.push_back(std::make_unique<Event>(to.domain, [&] {
        const auto word = static_cast<std::uint64_t>(now());
        EXPECT_TRUE(to.qemu.write_memory(sram + 0x108, &word, sizeof word));
        to.qemu.set_line(4, true);
      }));
      Event& arrival = *arrivals.back();
      from.device.on_access = [&](Access& access) {
        trace += from.qemu.name() + (" " + access.text());
        if (access.address == device + 0x100 && access.value == 32 + 4) {
          from.qemu.set_line(4, false);
        }
        if (access.value % 7 == 0 && !arrival.pending()) arrival.after(latency);
      };
    };
    connect(one, other);
    connect(other, one);
    run(60 * us);
    EXPECT_GT(one.device.accesses.size(), 200u);
    EXPECT_GT(one.device.of(device + 0x100).size(), 5u);
    return trace;
  });
}

class RaceTest : public testing::TestWithParam<std::tuple<Picoseconds, Picoseconds>> {};

INSTANTIATE_TEST_SUITE_P(, RaceTest,
                         testing::Combine(testing::Values(50 * ns, 1 * us, 1 * ms),
                                          testing::Values(20 * ns, 250 * ns, 3 * us)),
                         [](const auto& param) {
                           return "Slice" + std::to_string(std::get<0>(param.param)) + "Latency" +
                                  std::to_string(std::get<1>(param.param));
                         });

TEST_P(RaceTest, TheTraceDependsOnTheSliceOnly) {
  const auto [slice, latency] = GetParam();
  const std::string expected = race(50 * ns, slice, latency, 3);
  for (const Picoseconds quantum : {50 * ns, 200 * ns, 1 * us, 10 * us, 1 * ms}) {
    EXPECT_TRUE(race(quantum, slice, latency, 3) == expected) << quantum;
  }
}

}  // namespace
}  // namespace vp::qemu
