// SPDX-License-Identifier: Apache-2.0
// A model that is plain SystemC is exact: what it does to a machine that runs real code does not
// depend on how far vCPUs may run ahead. One that lies about time is named.
#include "tests/vp/qemu/plain_models.h"

#include <optional>

#include "tests/vp/qemu/machine.h"
#include "vp/qemu/memory_target.h"

namespace vp::qemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<Picoseconds> quanta{50 * ns, 200 * ns, 1 * us, 10 * us, 1 * ms};

constexpr unsigned tick_line = 6, job_line = 7;

struct Habits {
  bool ticker, dma, job;
  std::uint64_t ips = 1'000'000'000;
};

/// A machine of which everything around is plain SystemC.
struct PlainMachine {
  PlainMachine(const std::string& name, const Habits& habits, Picoseconds quantum)
      : domain((name + "_domain").c_str()),
        qemu(name.c_str(), domain, config(habits, quantum)),
        bank((name + "_bank").c_str(), job_line,
             sc_core::sc_time(habits.job ? 3 : 0, sc_core::SC_US)) {
    qemu.cpu[0].socket.bind(bank.socket);
    bank.irq.bind(qemu);
    qemu.map_memory(0, 1ull << 40, -1000);
    if (habits.ticker) {
      ticker.emplace((name + "_ticker").c_str(), tick_line, sc_core::sc_time(10.3, sc_core::SC_US));
      ticker->irq.bind(qemu);
    }
    if (habits.dma) {
      memory.emplace((name + "_memory").c_str(), qemu);
      dma.emplace((name + "_dma").c_str(), sc_core::sc_time(13, sc_core::SC_NS), sram + 0x100, 97);
      dma->memory.bind(memory->socket);
    }
  }

  static Instance::Config config(const Habits& habits, Picoseconds quantum) {
    Instance::Config config = ipu("mixed");
    config.max_quantum = quantum;
    config.ips = habits.ips;
    return config;
  }

  Domain domain;
  Instance qemu;
  plain::RegisterBank bank;
  std::optional<MemoryTarget> memory;
  std::optional<plain::Ticker> ticker;
  std::optional<plain::ClockedDma> dma;
};

std::string trace(const Habits& habits, Picoseconds quantum) {
  return in_child([&] {
    PlainMachine machine("machine", habits, quantum);
    run(200 * us);
    if (habits.dma) EXPECT_GT(machine.bank.writes[1], 100u);  // words seen
    EXPECT_GT(machine.bank.writes[5], 15u);                   // interrupts taken
    return machine.bank.record;
  });
}

class PlainModelTest : public testing::TestWithParam<Habits> {};

INSTANTIATE_TEST_SUITE_P(
    , PlainModelTest,
    testing::Values(Habits{true, false, false}, Habits{false, true, false},
                    Habits{false, false, true}, Habits{true, true, true},
                    Habits{true, true, true, 333'333'333}),
    [](const auto& param) {
      const Habits& habits = param.param;
      return std::string(habits.ticker ? "Ticker" : "") + (habits.dma ? "Dma" : "") +
             (habits.job ? "Registers" : "") + std::to_string(habits.ips / 1'000'000);
    });

TEST_P(PlainModelTest, TheTraceIsTheSameForEveryQuantum) {
  const std::string expected = trace(GetParam(), quanta[0]);
  for (const Picoseconds quantum : quanta) {
    EXPECT_TRUE(trace(GetParam(), quantum) == expected) << quantum;
  }
}

// What is plain bounds every machine, and machines that nothing joins do not bound each other.
TEST(PlainModelsTest, SeveralMachinesAreExactTogether) {
  const auto record = [](Picoseconds quantum) {
    return in_child([quantum] {
      PlainMachine one("one", {true, false, true}, quantum), other("other", {true, true, true}, quantum);
      run(100 * us);
      EXPECT_GT(one.bank.writes[5], 8u);
      EXPECT_GT(other.bank.writes[1], 50u);
      return one.bank.record + other.bank.record;
    });
  };
  const std::string expected = record(quanta[0]);
  for (const Picoseconds quantum : quanta) EXPECT_TRUE(record(quantum) == expected) << quantum;
}

TEST(PlainModelsTest, ForSiblingsTheTraceDependsOnTheSliceOnly) {
  const auto record = [](Picoseconds quantum) {
    return in_child([quantum] {
      Instance::Config config = ipu("race", 3);
      config.max_quantum = quantum;
      Machine machine(config);
      MemoryTarget memory("memory", machine.qemu);
      plain::Ticker ticker("ticker", 4, sc_core::sc_time(1.7, sc_core::SC_US));
      plain::ClockedDma dma("dma", sc_core::sc_time(13, sc_core::SC_NS), sram + 0x108, 41);
      ticker.irq.bind(machine.qemu);
      dma.memory.bind(memory.socket);
      machine.device.on_access = [&](Access& access) {
        if (access.address == device + 0x100 && access.value == 32 + 4) {
          machine.qemu.set_line(4, false);
        }
      };
      run(60 * us);
      EXPECT_GT(machine.device.accesses.size(), 200u);
      EXPECT_GT(machine.device.of(device + 0x100).size(), 5u);
      return machine.device.trace();
    });
  };
  const std::string expected = record(quanta[0]);
  for (const Picoseconds quantum : quanta) EXPECT_TRUE(record(quantum) == expected) << quantum;
}

TEST(PlainModelsTest, AMachineWithoutPlainModelsIsNotHeldBack) {
  Instance::Config config = ipu("compute");
  config.max_quantum = 1 * ms;
  Machine machine(config);
  run(10 * ms);
  EXPECT_LE(sc_core::sc_delta_count(), 50u);
}

/// What the kernel says of the model that ended the run.
std::string ending(Picoseconds span) {
  try {
    run(span);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(PlainModelsTest, OneThatLiesAboutTimeIsNamed) {
  Instance::Config config = ipu("mixed");
  config.max_quantum = 1 * ms;
  Domain from("from_domain");
  Instance sender("from", from, config);
  Machine to(config, "to");
  plain::Doorbell doorbell("doorbell");
  sender.cpu[0].socket.bind(doorbell.socket);
  doorbell.irq.bind(to.qemu);
  sender.map_memory(0, 1ull << 40, -1000);
  from.add_peer(to.domain, 1 * us);
  to.domain.add_peer(from, 1 * us);
  EXPECT_THAT(ending(1 * ms), AllOf(HasSubstr("doorbell.ring acts on to_domain at "),
                                    HasSubstr("but a processor there has executed up to ")));
}

TEST(PlainModelsTest, OneThatWritesMemoryOfThePastIsNamed) {
  Machine machine(ipu("counter"));
  MemoryTarget memory("memory", machine.qemu);
  plain::ClockedDma dma("dma", sc_core::sc_time(100, sc_core::SC_NS), sram + 0x100, 7);
  dma.memory.bind(memory.socket);
  run(5 * us);
  // As if a processor had been told that nothing comes before. The clock's edges are at 0 ns, 100 ns
  // and so on, and each seventh of them writes.
  machine.domain.reach(5910 * ns);
  EXPECT_THAT(ending(1 * ms), HasSubstr("dma.write acts on machine_domain at 5500000 ps, but a "
                                        "processor there has executed up to 5910000 ps already"));
}

}  // namespace
}  // namespace vp::qemu
