// SPDX-License-Identifier: Apache-2.0
// A machine loses its power, and begins anew when it has power again.
#include <algorithm>
#include <utility>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

const std::vector<Picoseconds> quanta{10 * ns, 200 * ns, 1 * us, 10 * us, 1 * ms};

/// A machine whose power comes and goes at given times. They have to be given before its vCPUs have
/// run past them.
struct Powered : Machine {
  explicit Powered(Instance::Config config) : Machine(std::move(config)) {}

  void cycle(Picoseconds loss, Picoseconds back) {
    loss_.at(loss);
    up_.at(back);
  }
  /// The first accesses from `from` on, with their times since then.
  std::string since(Picoseconds from, std::size_t most) const {
    std::string text;
    for (Access access : device.accesses) {
      if (access.time < from || most == 0) continue;
      access.time -= from;
      text += access.text();
      --most;
    }
    return text;
  }
  std::size_t between(Picoseconds from, Picoseconds to) const {
    return static_cast<std::size_t>(std::count_if(
        device.accesses.begin(), device.accesses.end(),
        [&](const Access& access) { return access.time >= from && access.time < to; }));
  }

  std::function<void()> on_power_up;
  Picoseconds refused_until = -1;  ///< the last time at which power could not come back
  Picoseconds up_at = -1;

 private:
  Event loss_{domain, [this] { qemu.lose_power(); }};
  Event up_{domain, [this] {
              if (!qemu.power_up()) {
                refused_until = now();
                return up_.after(10 * ns);
              }
              up_at = now();
              if (on_power_up) on_power_up();
            }};
};

constexpr Picoseconds notice = 2 * us;  // more than a vCPU runs ahead

/// The first accesses of a boot.
std::string boot(const std::string& guest, unsigned cpus, std::size_t most) {
  return in_child([&] {
    Powered machine(ipu(guest, cpus));
    run(5 * us);
    EXPECT_GE(machine.device.accesses.size(), 1u);
    return machine.since(0, most);
  });
}

// Accesses are made each 3 ns, so that losses come at that instant, and between two.
TEST(InstancePowerTest, NoAccessIsMadeFromTheInstantOfTheLossOn) {
  const std::string expected = boot("beats", 1, 50);
  Powered machine(ipu("beats"));
  for (unsigned round = 0; round < 40; ++round) {
    const Picoseconds loss = now() + notice + round * 500, back = loss + (round % 4) * 333 * ns;
    machine.cycle(loss, back);
    run(back - now() + 1 * us);
    EXPECT_EQ(machine.between(loss, back), 0u) << loss;
    EXPECT_GE(machine.between(loss - 3 * ns, loss), 1u) << loss;
    // An access of that instant, and an instruction that is not complete yet, still end.
    if (back > loss) {
      EXPECT_EQ(machine.up_at, back);
      EXPECT_EQ(machine.since(back, 50), expected) << loss;
    } else {
      EXPECT_EQ(machine.up_at, machine.refused_until == loss ? loss + 10 * ns : loss);
      EXPECT_EQ(machine.since((machine.up_at + 999) / 1'000 * 1'000, 50), expected) << loss;
    }
    machine.device.accesses.clear();
  }
}

TEST(InstancePowerTest, WithoutPowerNothingHappens) {
  for (const char* guest : {"beats", "sleep", "alarms", "siblings", "race"}) {
    in_child([&] {
      Powered machine(ipu(guest, 2));
      machine.cycle(20 * us, 1 * s);
      run(20 * us + 1);
      const std::size_t accesses = machine.device.accesses.size();
      EXPECT_GT(accesses, 0u);
      EXPECT_EQ(machine.qemu.floor(), never) << guest;
      EXPECT_EQ(machine.domain.next_event(), 1 * s) << guest;
      machine.qemu.set_line(4, true);
      run(10 * ms);
      machine.qemu.set_line(4, false);
      machine.qemu.lose_power();
      run(10 * ms);
      EXPECT_EQ(machine.device.accesses.size(), accesses) << guest;
      return std::string();
    });
  }
}

/// Cores that run, cores that sleep, and cores that do both by turns begin anew at once.
class BootTest : public testing::TestWithParam<std::pair<const char*, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(Guests, BootTest,
                         testing::Values(std::pair{"beats", 1u}, std::pair{"sleep", 1u},
                                         std::pair{"sleep", 2u}, std::pair{"siblings", 2u},
                                         std::pair{"rewritten", 1u}, std::pair{"rewritten", 2u},
                                         std::pair{"mixed", 1u}),
                         [](const auto& one) {
                           return std::string(one.param.first) + std::to_string(one.param.second);
                         });

TEST_P(BootTest, EachPowerUpIsABoot) {
  const auto [guest, cpus] = GetParam();
  const std::string expected = boot(guest, cpus, 100);
  Powered machine(ipu(guest, cpus));
  const Picoseconds losses[] = {0, 1, 17 * ns, 2 * us, 3'141'592, 12'345'678, 50 * us + 1};
  for (const Picoseconds loss : losses) {
    const Picoseconds at = now() + notice + loss, back = at + 777'777;
    machine.cycle(at, back);
    machine.device.accesses.clear();
    run(back - now() + 5 * us);
    EXPECT_EQ(machine.between(at, back), 0u) << loss;
    EXPECT_EQ(machine.up_at, back);
    EXPECT_TRUE(machine.since(back, 100) == expected) << loss << ":\n"
                                                      << machine.since(back, 20) << "instead of\n"
                                                      << expected.substr(0, 500);
  }
}

// The core is inside an access, which ends later. Whatever it would do after that, it does not.
class WaitTest : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Cores, WaitTest, testing::Values(1, 2), testing::PrintToStringParamName());

TEST_P(WaitTest, ACoreThatIsInsideAnAccessMakesNoOther) {
  constexpr Picoseconds span = 500 * ns;
  const char* guest = GetParam() == 1 ? "beats" : "siblings";
  const std::string expected = boot(guest, GetParam(), 20);
  const std::uint64_t address = GetParam() == 1 ? device : device + 8;
  Powered machine(ipu(guest, GetParam()));
  unsigned waited = 0, ended = 0;
  for (unsigned round = 0; round < 40; ++round) {
    machine.device.accesses.clear();
    machine.device.at[address].wait = span;
    machine.on_power_up = [&] { machine.device.at[address].wait = 0; };
    const Picoseconds loss = now() + notice + round * 31 * ns;
    const Picoseconds back = loss + round % 5 * 100 * ns;
    machine.cycle(loss, back);
    run(back - now() + 2 * us);
    EXPECT_EQ(machine.between(loss, machine.up_at), 0u) << round;
    Picoseconds left = 0;
    for (const Access& access : machine.device.of(address)) {
      if (access.time < loss) left = access.time + span;
    }
    if (left > back) {
      ++waited;
      EXPECT_GE(machine.refused_until, back);
      EXPECT_LE(machine.refused_until, left);
      EXPECT_GE(machine.up_at, left);
      EXPECT_LE(machine.up_at, left + 10 * ns);
    } else {
      ++ended;
      EXPECT_EQ(machine.up_at, back);
    }
    EXPECT_EQ(machine.since(machine.up_at, 20), expected) << round;
  }
  EXPECT_GT(waited, 10u);
  EXPECT_GT(ended, 10u);
}

// The access is over for the device, and its core would go on later: its clock stands there.
TEST(InstancePowerTest, ACoreThatIsStalledBeginsAnewWithPowerOrAtTheEndOfItsStall) {
  constexpr Picoseconds stall = 300 * ns;
  const std::string expected = boot("beats", 1, 20);
  Powered machine(ipu("beats"));
  for (unsigned round = 0; round < 20; ++round) {
    machine.device.accesses.clear();
    machine.device.at[device].delay = stall;
    machine.on_power_up = [&] { machine.device.at[device].delay = 0; };
    const Picoseconds loss = now() + notice + round * 17 * ns;
    const Picoseconds back = loss + round % 5 * 100 * ns;
    machine.cycle(loss, back);
    run(back - now() + 1 * us);
    EXPECT_EQ(machine.up_at, back);
    EXPECT_EQ(machine.between(loss, back), 0u);
    Picoseconds begin = back;
    for (const Access& access : machine.device.accesses) {
      if (access.time < loss) begin = std::max(begin, access.time + stall);
    }
    EXPECT_EQ(machine.between(back, begin), 0u);
    EXPECT_EQ(machine.since(begin, 20), expected) << round;
  }
}

TEST(InstancePowerTest, MemoryIsEmptyButForTheImage) {
  Powered machine(ipu("race", 2));
  constexpr std::uint64_t sram_size = 4 << 20, dram_size = 128 << 20;
  std::vector<std::uint8_t> image(256), bytes(256);
  ASSERT_TRUE(machine.qemu.read_memory(dram, image.data(), image.size()));
  const std::vector<std::uint8_t> junk(256, 0xd5), zeros(256);
  for (unsigned round = 0; round < 3; ++round) {
    run(50 * us);
    std::uint64_t count = 0;
    ASSERT_TRUE(machine.qemu.read_memory(sram + 0x100, &count, 8));
    EXPECT_GT(count, 10u) << "the cores have counted";
    const auto places = {sram + 0x200, sram + sram_size - 256, dram + 0x10000, dram + 0x345'6789,
                         dram + dram_size - 256};
    machine.qemu.lose_power();
    run(1 * us);
    for (const std::uint64_t place : places) {
      ASSERT_TRUE(machine.qemu.write_memory(place, junk.data(), junk.size()));
    }
    ASSERT_TRUE(machine.qemu.write_memory(dram, junk.data(), junk.size()));
    ASSERT_TRUE(machine.qemu.power_up());
    for (const std::uint64_t place : places) {
      ASSERT_TRUE(machine.qemu.read_memory(place, bytes.data(), bytes.size()));
      EXPECT_EQ(bytes, zeros) << std::hex << place;
    }
    ASSERT_TRUE(machine.qemu.read_memory(sram + 0x100, &count, 8));
    EXPECT_EQ(count, 0u);
    ASSERT_TRUE(machine.qemu.read_memory(dram, bytes.data(), bytes.size()));
    EXPECT_EQ(bytes, image);
  }
}

// A model that has asked for the machine's memory once goes on using it.
TEST(InstancePowerTest, MemoryStaysWhereItIs) {
  Powered machine(ipu("sleep"));
  std::uint64_t left = 0;
  auto* const before = static_cast<std::uint8_t*>(machine.qemu.ram(sram + 0x100, left));
  *before = 7;
  run(1 * us);
  machine.qemu.lose_power();
  run(1 * us);
  ASSERT_TRUE(machine.qemu.power_up());
  EXPECT_EQ(machine.qemu.ram(sram + 0x100, left), before);
  EXPECT_EQ(*before, 0);
  *before = 8;
  std::uint8_t seen = 0;
  ASSERT_TRUE(machine.qemu.read_memory(sram + 0x100, &seen, 1));
  EXPECT_EQ(seen, 8);
}

// The image was changed in memory, and translated after that.
TEST(InstancePowerTest, CodeOfTheImageThatWasWrittenOverIsBack) {
  Powered machine(ipu("beats"));
  constexpr std::uint32_t add_two = 0x91000800;  // ADD X0, X0, #2
  run(100 * ns);
  ASSERT_TRUE(machine.qemu.write_memory(dram + 8, &add_two, sizeof add_two));
  run(10 * us);
  const std::size_t count = machine.device.accesses.size();
  EXPECT_EQ(machine.device.accesses[count - 1].value, machine.device.accesses[count - 2].value + 2);
  machine.qemu.lose_power();
  run(10 * us);
  EXPECT_TRUE(machine.qemu.power_up());
  run(10 * us);
  for (std::size_t i = count; i < machine.device.accesses.size(); ++i) {
    ASSERT_EQ(machine.device.accesses[i].value, i - count);
  }
  EXPECT_GT(machine.device.accesses.size(), count + 100);
}

TEST(InstancePowerTest, CodeThatAModelHadWrittenIsGone) {
  Powered machine(ipu("code"));
  const std::uint32_t words[] = {0xd2800000 | 5 << 5, 0xd65f03c0};  // MOV X0, #5; RET
  ASSERT_TRUE(machine.qemu.write_memory(sram + 0x1000, words, sizeof words));
  run(10 * us);
  const std::size_t stores = machine.device.of(device).size();
  EXPECT_GT(stores, 100u);
  machine.qemu.lose_power();
  run(10 * us);
  EXPECT_TRUE(machine.qemu.power_up());
  run(10 * us);
  EXPECT_EQ(machine.device.of(device).size(), stores) << "an undefined instruction is there";
}

// Its parameters are in memory, so they are set again for the next life, with a later deadline.
TEST(InstancePowerTest, ATimerThatWasArmedDoesNotFireInTheNextLife) {
  for (const std::uint64_t sleeps : {0u, 1u}) {
    in_child([&] {
      Powered machine(ipu("timer"));
      const auto set = [&](std::uint64_t ticks) {
        machine.parameter(0, ticks);
        machine.parameter(1, sleeps);
        machine.parameter(2, 10);
      };
      machine.on_power_up = [&] { set(50'000); };
      set(20'000);
      machine.cycle(10 * us, 15 * us);
      run(15 * us + 50 * us);
      EXPECT_EQ(machine.device.of(device).size(), 2u);
      EXPECT_EQ(machine.device.of(device + 8).size(), 0u) << "at " << machine.device.trace();
      run(10 * us);
      const auto fired = machine.device.of(device + 8);
      EXPECT_EQ(fired.size(), 1u);
      const auto deadline = static_cast<Picoseconds>(machine.device.of(device)[1].value) * ns;
      EXPECT_GE(fired[0].time, deadline);
      EXPECT_LE(fired[0].time, deadline + 10 * ns);
      // The counters of the cores have gone on.
      EXPECT_GT(deadline, 15 * us + 50 * us);
      return std::string();
    });
  }
}

// The losses come at instants of accesses, while cores sleep or wait, and twice in a row.
std::string traced(const std::string& guest, unsigned cpus, Picoseconds quantum) {
  return in_child([&] {
    Instance::Config config = ipu(guest, cpus);
    config.max_quantum = quantum;
    Powered machine(std::move(config));
    machine.device.at[device + 8] = {3, 41 * ns, 0};
    machine.device.at[device + 16] = {5, 0, 57 * ns};
    std::string times;
    Picoseconds when = 5 * us;
    unsigned round = 0;
    Event cycle(machine.domain, [&] {
      machine.cycle(now(), now() + 100 * ns + round % 3 * 1'234'567);
      if (round % 4 == 0) machine.qemu.lose_power();
      if (++round < 12) cycle.after(6 * us + round * 100'001);
    });
    machine.on_power_up = [&] { times += std::to_string(now()) + '\n'; };
    cycle.at(when);
    run(120 * us);
    EXPECT_EQ(round, 12u);
    EXPECT_GT(machine.device.accesses.size(), 20u);
    return times + machine.device.trace();
  });
}

class QuantumPowerTest : public testing::TestWithParam<std::pair<const char*, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(Guests, QuantumPowerTest,
                         testing::Values(std::pair{"beats", 1u}, std::pair{"mixed", 1u},
                                         std::pair{"rewritten", 1u}, std::pair{"siblings", 2u},
                                         std::pair{"race", 2u}, std::pair{"alarms", 2u}),
                         [](const auto& one) {
                           return std::string(one.param.first) + std::to_string(one.param.second);
                         });

TEST_P(QuantumPowerTest, TheTraceIsTheSame) {
  const auto [guest, cpus] = GetParam();
  const std::string expected = traced(guest, cpus, quanta[0]);
  for (const Picoseconds quantum : quanta) {
    EXPECT_TRUE(traced(guest, cpus, quantum) == expected) << quantum;
  }
}

}  // namespace
}  // namespace vp::qemu
