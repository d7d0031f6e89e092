// SPDX-License-Identifier: Apache-2.0
// The vCPUs of one machine each have a local time, and none delays another.
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

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

// The turns of the machines end at other times, so the vCPU that waits last is not always the same.
TEST(CarriersTest, OneProcessExecutesAllTurns) {
  Instance::Config config = ipu("compute", 2), other_config = config;
  other_config.slice = 700 * ns;
  Machine one(config, "one"), other(other_config, "other");
  Domain apart("apart");
  std::set<std::string> keepers;
  Event look(apart, [&] {
    if (now() > 10 * us) keepers.insert(sc_core::sc_get_current_process_handle().name());
    look.after(330 * ns);
  });
  look.at(0);
  run(100 * us);
  EXPECT_EQ(keepers.size(), 1u) << testing::PrintToString(keepers);
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

/// How much too early or too late core 1 sees what core 0 has stored, at most: before and after
/// `border`. Core 1 yields `yields` times.
std::array<Picoseconds, 2> wrong(std::uint64_t yields, Picoseconds spin_slice, Picoseconds border,
                                 Picoseconds until = 100 * us) {
  constexpr std::uint64_t turns = 400, period = 3 * turns + 4, first = 3 * turns + 14;
  Instance::Config config = ipu("spin", 2);
  config.spin_slice = spin_slice;
  Machine machine(config);
  machine.parameter(0, turns);
  machine.parameter(1, yields);
  std::array<Picoseconds, 2> most{};
  machine.device.on_access = [&](Access& access) {
    const auto stored = static_cast<Picoseconds>(first + (access.value - 1) * period) * ns;
    Picoseconds& found = most[access.time < border ? 0 : 1];
    found = std::max(found, std::abs(access.time - stored));
  };
  run(until);
  EXPECT_GT(static_cast<Picoseconds>(machine.device.accesses.size()), until / (2 * us));
  return most;
}

// A look takes 5 instructions.
constexpr Picoseconds look_time = 5 * ns;

TEST(SpinSliceTest, WhoSpinsSeesStoresNearlyAtTheirTimes) {
  constexpr std::uint64_t always = 1'000'000;
  for (const Picoseconds slice : {10 * ns, 50 * ns, 200 * ns}) {
    const std::string most = in_child([&] { return std::to_string(wrong(always, slice, 0)[1]); });
    EXPECT_LE(std::stoll(most), slice + look_time) << slice;
    EXPECT_GE(std::stoll(most), slice / 2) << slice;
  }
}

TEST(SpinSliceTest, OthersSeeThemUpToASliceLate) {
  EXPECT_GT(wrong(0, 10 * ns, 0)[1], 500 * ns);
}

TEST(SpinSliceTest, ALongerOneThanTheSliceDoesNotCount) {
  const Picoseconds most = wrong(1'000'000, 1 * ms, 0)[1];
  EXPECT_GT(most, 500 * ns);
  EXPECT_LE(most, 1 * us + look_time);
}

// 100 yields end after 100 looks.
TEST(SpinSliceTest, OneThatHasYieldedSpinsForTenMicroseconds) {
  const auto [before, after] = wrong(100, 20 * ns, 10 * us, 18 * us);
  EXPECT_LE(before, 20 * ns + look_time);
  EXPECT_GT(after, 500 * ns);
}

/// What core 1 writes after core 0 has woken it. Until then core 0 is alone, so that it runs as far
/// as the quantum allows, and is stopped when it wakes core 1.
std::vector<Access> after_waking(Picoseconds quantum) {
  Instance::Config config = ipu("spin", 2);
  config.spin_slice = 10 * ns;
  config.max_quantum = quantum;
  Machine machine(config);
  machine.parameter(0, 400);
  machine.parameter(2, 1);
  machine.device.at[device + 8].wait = 750 * ns;
  run(49 * us);  // 20,000 turns of two instructions, and then 8 us
  return machine.device.of(device);
}

TEST(SpinSliceTest, WhoWakesASiblingDoesNotSpin) {
  constexpr Picoseconds period = (3 * 400 + 4) * ns;
  Picoseconds least = never, most = 0;
  const std::vector<Access> seen = after_waking(100 * us);
  for (const Access& access : seen) {
    const Picoseconds late = access.time - static_cast<Picoseconds>(access.value) * period;
    least = std::min(least, late);
    most = std::max(most, late);
  }
  EXPECT_GT(seen.size(), 4u);
  EXPECT_GT(most - least, 400 * ns);
}

TEST(SpinSliceTest, TheTraceDoesNotDependOnTheQuantum) {
  const auto trace = [](Picoseconds quantum) {
    return in_child([&] {
      std::string text;
      for (const Access& access : after_waking(quantum)) text += access.text();
      return text;
    });
  };
  const std::string expected = trace(50 * ns);
  for (const Picoseconds quantum : {200 * ns, 1 * us, 10 * us, 1 * ms}) {
    EXPECT_EQ(trace(quantum), expected) << quantum;
  }
}

/// The cores of two machines race. Over a link each machine writes into the other's memory and
/// interrupts it.
std::string race(Picoseconds quantum, Picoseconds slice, Picoseconds latency, unsigned cores) {
  return in_child([&] {
    Instance::Config config = ipu("race", cores);
    config.max_quantum = quantum;
    config.slice = slice;
    config.spin_slice = 20 * ns;  // of no account: who wakes others or arms a timer does not spin
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

/// Answers 50 ns after an access, which waits meanwhile, also if its processor may stay ahead.
/// Changes the level of a line 10 ns before.
struct Slow : sc_core::sc_module {
  Slow(const sc_core::sc_module_name& name, Domain& domain, Instance& qemu)
      : sc_module(name), change(domain, [this, &qemu] {
          level = !level;
          qemu.set_line(3, level);
          ++changes;
        }) {
    socket.register_b_transport(this, &Slow::b_transport);
  }

  void b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ahead += delay != sc_core::SC_ZERO_TIME;
    change.after(static_cast<Picoseconds>(delay.value()) + 40 * ns);
    wait(delay + to_sc_time(50 * ns));
    delay = sc_core::SC_ZERO_TIME;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  tlm_utils::multi_passthrough_target_socket<Slow> socket{"socket"};
  Event change;
  bool level = false;
  unsigned changes = 0;
  unsigned ahead = 0;
};

// What happens to a machine while an access waits happens at its own time, although the access has
// begun ahead of the kernel's, and a sibling that has woken meanwhile may be further.
TEST(WaitingAccessTest, LinesChangeAtTheirTime) {
  Domain domain("domain");
  Instance::Config config = ipu("late", 2);
  config.decoupled = true;
  Instance qemu("qemu", domain, config);
  qemu.map_memory(device, 0x1000, 1);
  Slow target("target", domain, qemu);
  qemu.cpu[0].socket.bind(target.socket);
  qemu.cpu[1].socket.bind(target.socket);
  run(200 * us);
  EXPECT_GT(target.changes, 1'000u);
  EXPECT_GT(target.ahead, 200u);
}

}  // namespace
}  // namespace vp::qemu
