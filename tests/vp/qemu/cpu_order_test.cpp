// SPDX-License-Identifier: Apache-2.0
// vCPUs that share memory see the effects of each other after their causes.
#include <set>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

class OrderTest : public testing::TestWithParam<std::tuple<unsigned, Picoseconds>> {
 protected:
  static Instance::Config config(const std::string& guest) {
    Instance::Config config = ipu(guest, std::get<0>(GetParam()));
    config.slice = std::get<1>(GetParam());
    return config;
  }
  static unsigned cores() { return std::get<0>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(, OrderTest,
                         testing::Combine(testing::Values(2, 4, 8, 16),
                                          testing::Values(100 * ns, 1 * us, 20 * us)),
                         [](const auto& param) {
                           return std::to_string(std::get<0>(param.param)) + "CoresSlice" +
                                  std::to_string(std::get<1>(param.param) / ns);
                         });

TEST_P(OrderTest, NoCounterIsBehindOneThatASiblingHasShown) {
  Machine machine(config("clocks"));
  run(std::max(1 * ms, 30 * cores() * std::get<1>(GetParam())));
  EXPECT_EQ(machine.device.trace(), "");
  for (unsigned core = 0; core < cores(); ++core) {
    std::uint64_t turns = 0;
    ASSERT_TRUE(machine.qemu.read_memory(sram + 0x200 + 8 * core, &turns, sizeof turns));
    EXPECT_GT(turns, 10u) << core;
  }
}

TEST_P(OrderTest, NoInterruptIsTakenBeforeItIsSentNorMuchLater) {
  Machine machine(config("signals"));
  machine.parameter(0, cores());
  run(2 * ms);
  EXPECT_TRUE(machine.device.of(device + 0x400).empty());
  const auto slice = static_cast<std::int64_t>(std::get<1>(GetParam()) / ns);
  unsigned at_once = 0;
  for (unsigned core = 1; core < cores(); ++core) {
    const auto taken = machine.device.of(device + 8 * core);
    ASSERT_GT(taken.size(), 20u) << core;
    for (const Access& one : taken) {
      const auto after = static_cast<std::int64_t>(one.value);
      // The sender executes 2 instructions after it has read the counter, the receiver 3 before.
      ASSERT_GE(after, 5) << one;
      ASSERT_LE(after, slice + 20) << one;
      at_once += after == 5;
    }
  }
  // A core that is behind the sender takes it at the very time. In long turns few are: whoever has
  // caught up when the sender read the counter is ahead of it.
  if (slice == 100) {
    EXPECT_GT(at_once, 20u);
  }
}

/// Its device accesses and, of each core, what it counted.
std::string trace(const std::string& guest, Picoseconds quantum, Picoseconds slice) {
  return in_child([&] {
    Instance::Config config = ipu(guest, 4);
    config.max_quantum = quantum;
    config.slice = slice;
    Machine machine(std::move(config));
    machine.parameter(0, 4);
    run(300 * us);
    std::string text = machine.device.trace();
    for (unsigned word = 0; word < 0x200; word += 8) {
      std::uint64_t value = 0;
      EXPECT_TRUE(machine.qemu.read_memory(sram + 0x100 + word, &value, sizeof value));
      text += std::to_string(value) + " ";
    }
    return text;
  });
}

TEST(CpuOrderTest, TheTraceDependsOnTheSliceOnly) {
  for (const std::string guest : {"clocks", "signals"}) {
    std::set<std::string> traces;
    for (const Picoseconds slice : {200 * ns, 1 * us, 7 * us}) {
      const std::string expected = trace(guest, 50 * ns, slice);
      traces.insert(expected);
      for (const Picoseconds quantum : {200 * ns, 1 * us, 10 * us, 1 * ms}) {
        EXPECT_TRUE(trace(guest, quantum, slice) == expected) << guest << slice << quantum;
      }
    }
    EXPECT_EQ(traces.size(), 3u);
  }
}

}  // namespace
}  // namespace vp::qemu
