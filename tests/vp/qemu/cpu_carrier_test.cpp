// SPDX-License-Identifier: Apache-2.0
// vCPUs of several machines take turns without the kernel. No guest can notice that.
#include <optional>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

constexpr Picoseconds lookahead = 300 * ns, end = 100 * us;
const std::vector<Picoseconds> quanta{50 * ns, 200 * ns, 1 * us, 10 * us, 1 * ms};

/// A machine that computes, and the number of instructions that it has executed at an instant.
struct Computer {
  Computer(const std::string& name, Picoseconds quantum, std::uint64_t ips = 1'000'000'000)
      : machine(configuration(quantum, ips), name),
        count(machine.domain, [this] { executed = machine.qemu.instructions(); }) {
    count.at(end);
  }
  static Instance::Config configuration(Picoseconds quantum, std::uint64_t ips) {
    Instance::Config config = ipu("compute");
    config.max_quantum = quantum;
    config.ips = ips;
    return config;
  }
  void accesses_every(std::uint64_t turns) { machine.parameter(0, turns); }
  void sleeps() { machine.parameter(1, 1); }

  Machine machine;
  Event count;
  std::uint64_t executed = 0;
};

void link(Computer& one, Computer& other) {
  one.machine.domain.add_peer(other.machine.domain, lookahead);
  other.machine.domain.add_peer(one.machine.domain, lookahead);
}

std::string alone(Picoseconds quantum, std::uint64_t ips, std::uint64_t turns) {
  return in_child([&] {
    Computer computer("one", quantum, ips);
    computer.accesses_every(turns);
    run(end + 1);  // with what is due just then
    return std::to_string(computer.executed) + '\n' + computer.machine.device.trace();
  });
}

class CpuCarrierTest : public testing::TestWithParam<Picoseconds> {};
INSTANTIATE_TEST_SUITE_P(Quanta, CpuCarrierTest, testing::ValuesIn(quanta),
                         [](const auto& param) { return std::to_string(param.param / ns); });

TEST_P(CpuCarrierTest, TwoExecuteAsMuchAsAlone) {
  constexpr std::uint64_t odd = 333'333'333;
  const std::string expected = alone(GetParam(), 1'000'000'000, 0);
  const std::string other_expected = alone(GetParam(), odd, 0);
  Computer one("one", GetParam()), other("other", GetParam(), odd);
  link(one, other);
  const auto before = sc_core::sc_delta_count();
  run(end + 1);
  EXPECT_EQ(one.executed, 100'000u);
  EXPECT_EQ(other.executed, 33'334u);  // the first boundary that is not before it
  EXPECT_EQ(std::to_string(one.executed) + '\n', expected);
  EXPECT_EQ(std::to_string(other.executed) + '\n', other_expected);
  EXPECT_EQ(one.machine.device.accesses.size() + other.machine.device.accesses.size(), 0u);
  // A turn is at most twice the lookahead, so there are 333 or more. The kernel only has to follow
  // as far as one may run ahead of it.
  constexpr std::uint64_t turns = 2 * end / (2 * lookahead);
  const std::uint64_t steps = sc_core::sc_delta_count() - before;
  EXPECT_LE(steps, 10 + 3 * static_cast<std::uint64_t>(end / GetParam()));
  if (GetParam() >= 10 * us) {
    EXPECT_LT(steps, turns / 4);
  }
}

/// Both access their devices, which answer late, and the trace is in the order of the kernel.
std::string accesses(Picoseconds quantum, Picoseconds other_quantum) {
  return in_child([&] {
    Computer one("one", quantum), other("other", other_quantum, 2'900'000'001);
    link(one, other);
    one.accesses_every(1234);
    other.accesses_every(777);
    std::string trace;
    for (Computer* computer : {&one, &other}) {
      computer->machine.device.at[device] = {0, 123 * ns, 45 * ns};
      computer->machine.device.on_access = [&trace, computer](Access& access) {
        trace += computer->machine.qemu.name() + (" " + access.text());
      };
    }
    run(end + 1);
    EXPECT_GT(one.machine.device.accesses.size(), 20u);
    EXPECT_GT(other.machine.device.accesses.size(), 80u);
    return trace + std::to_string(one.executed) + ' ' + std::to_string(other.executed);
  });
}

TEST_P(CpuCarrierTest, AccessesHaveTheSameTimes) {
  const std::string expected = accesses(quanta[0], quanta[0]);
  EXPECT_TRUE(accesses(GetParam(), GetParam()) == expected);
  EXPECT_TRUE(accesses(GetParam(), 1 * ms) == expected);
  EXPECT_TRUE(accesses(200 * ns, GetParam()) == expected);
}

// What one machine writes arrives at the other after the lookahead. Until then the other sleeps or
// computes.
std::string woken(Picoseconds quantum, bool both_sleep) {
  return in_child([&] {
    Computer one("one", quantum), other("other", quantum);
    link(one, other);
    one.accesses_every(500);
    other.accesses_every(100);
    other.sleeps();
    if (both_sleep) one.sleeps();
    std::string trace;
    std::vector<std::unique_ptr<Event>> arrivals;
    const auto connect = [&](Computer& from, Computer& to) {
      arrivals.push_back(
          std::make_unique<Event>(to.machine.domain, [&to] { to.machine.qemu.set_line(4, true); }));
      Event& arrival = *arrivals.back();
      from.machine.device.on_access = [&](Access& access) {
        trace += from.machine.qemu.name() + (" " + access.text());
        if (access.address == device && !arrival.pending()) arrival.after(lookahead);
        if (access.address == device + 8) from.machine.qemu.set_line(4, false);
      };
    };
    connect(one, other);
    connect(other, one);
    // Otherwise both would sleep for ever.
    std::optional<Event> first;
    if (both_sleep) {
      first.emplace(one.machine.domain, [&] { one.machine.qemu.set_line(4, true); });
      first->at(5 * us);
    }
    run(end + 1);
    EXPECT_GT(one.machine.device.of(device).size(), 20u);
    EXPECT_GT(other.machine.device.of(device + 8).size(), 20u);
    return trace;
  });
}

TEST_P(CpuCarrierTest, OneThatSleepsIsWokenInTime) {
  const std::string expected = woken(quanta[0], false);
  EXPECT_TRUE(woken(GetParam(), false) == expected);
}

TEST_P(CpuCarrierTest, TwoThatWakeEachOtherInTime) {
  const std::string expected = woken(quanta[0], true);
  EXPECT_TRUE(woken(GetParam(), true) == expected);
}

TEST_P(CpuCarrierTest, OnePowersOffAndTheOtherGoesOn) {
  constexpr std::uint64_t mmio = 0xd0000;
  const std::string expected = alone(GetParam(), 1'000'000'000, 1000);
  Computer one("one", GetParam());
  one.accesses_every(1000);
  Instance::Config config = host("requests");
  config.max_quantum = GetParam();
  Machine other(std::move(config), "other");
  one.machine.domain.add_peer(other.domain, lookahead);
  other.domain.add_peer(one.machine.domain, lookahead);
  other.qemu.map_memory(mmio, 0x1000, 10);
  const std::uint8_t power_off = 3;
  ASSERT_TRUE(other.qemu.write_memory(0x500, &power_off, 1));
  other.device.at[mmio].wait = 40 * us;
  Picoseconds off = 0;
  other.qemu.on_requests(
      {[&] { off = now(); }, [] { ADD_FAILURE() << "reset"; }, [] { ADD_FAILURE() << "stopped"; }});
  run(end + 1);
  EXPECT_GT(off, 40 * us);
  EXPECT_LT(off, 40 * us + 100 * ns);
  EXPECT_EQ(other.domain.floor(), never);
  EXPECT_EQ(one.executed, 100'000u);
  EXPECT_EQ(std::to_string(one.executed) + '\n' + one.machine.device.trace(), expected);
}

TEST_P(CpuCarrierTest, WhatADeviceThrowsReachesTheKernel) {
  Computer one("one", GetParam()), other("other", GetParam());
  link(one, other);
  other.accesses_every(10'000);
  other.machine.device.on_access = [](Access&) { throw BrokenPromise("delivered too early"); };
  try {
    run(end + 1);
    FAIL() << "nothing thrown";
  } catch (const sc_core::sc_report& report) {
    EXPECT_THAT(report.what(), testing::HasSubstr("delivered too early"));
  }
  ASSERT_EQ(other.machine.device.accesses.size(), 1u) << "nothing more is executed";
  EXPECT_GT(now(), 30 * us);
  EXPECT_EQ(now(), other.machine.device.accesses[0].time);
}

TEST(CpuCarriersTest, ThreeTakeTurns) {
  Computer one("one", 1 * ms), other("other", 1 * ms, 333'333'333), third("third", 1 * ms);
  link(one, other);
  link(other, third);
  third.accesses_every(5'000);
  const auto before = sc_core::sc_delta_count();
  run(end + 1);
  EXPECT_EQ(one.executed, 100'000u);
  EXPECT_EQ(other.executed, 33'334u);
  EXPECT_EQ(third.executed, 100'000u);
  EXPECT_EQ(third.machine.device.accesses.size(), 6u);
  EXPECT_LT(sc_core::sc_delta_count() - before, 100u);
}

}  // namespace
}  // namespace vp::qemu
