// SPDX-License-Identifier: Apache-2.0
// An exception takes no time, unless it follows another without an instruction between them. A
// software step comes when it is unmasked.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

enum Kind : std::uint64_t {
  supervisor_call = 1,
  undefined,
  refused_read,
  nowhere,
  refused_vectors
};

Instance::Config configuration(Picoseconds quantum) {
  Instance::Config config = ipu("endless");
  config.max_quantum = quantum;
  return config;
}

struct Cost {
  const char* name;
  Kind kind;
  unsigned instructions;  // from the store before it to the store behind it
};
std::ostream& operator<<(std::ostream& out, const Cost& cost) {
  return out << cost.name;
}

class CpuExceptionCostTest : public testing::TestWithParam<Cost> {};
INSTANTIATE_TEST_SUITE_P(, CpuExceptionCostTest,
                         testing::Values(
                             // Itself, the vector's branch, five instructions and ERET, the store.
                             Cost{"supervisor_call", supervisor_call, 1 + 1 + 5 + 1 + 1},
                             Cost{"undefined", undefined, 1 + 1 + 7 + 1 + 1},
                             // The handler's seven and ERET: what is not executed does not count.
                             Cost{"refused_read", refused_read, 1 + 7 + 1 + 1}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(CpuExceptionCostTest, IsThatOfItsInstructions) {
  const Cost& cost = GetParam();
  for (const Picoseconds quantum : {10 * ns, 1 * us, 1 * ms}) {
    in_child([&] {
      Machine machine(configuration(quantum));
      machine.parameter(0, cost.kind);
      run(50 * us);
      const auto notes = machine.device.of(device);
      EXPECT_GT(notes.size(), 3000u);
      for (std::size_t i = 0; i + 1 < notes.size(); i += 2) {
        const Picoseconds span = notes[i + 1].time - notes[i].time;
        if (span != static_cast<Picoseconds>(cost.instructions) * ns) {
          ADD_FAILURE() << i << ": " << span;
          break;
        }
      }
      return std::string();
    });
  }
}

class CpuEndlessExceptionTest : public testing::TestWithParam<std::tuple<Kind, Picoseconds>> {};
INSTANTIATE_TEST_SUITE_P(, CpuEndlessExceptionTest,
                         testing::Combine(testing::Values(nowhere, refused_vectors),
                                          testing::Values(10 * ns, 300 * ns, 1 * us, 50 * us)),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param) == nowhere ? "Nowhere"
                                                                                  : "Refused") +
                                  std::to_string(std::get<1>(param.param) / ns);
                         });

// Vectors that cannot be fetched fault for ever. Each fault takes the time of an instruction.
TEST_P(CpuEndlessExceptionTest, TimeGoesOn) {
  const auto [kind, quantum] = GetParam();
  Machine machine(configuration(quantum));
  machine.parameter(0, kind);
  std::uint64_t at_event = 0;
  Event event(machine.domain, [&] { at_event = machine.qemu.instructions(); });
  event.at(777 * ns);
  run(1 * us);
  EXPECT_EQ(now(), 1 * us);
  EXPECT_EQ(machine.device.of(device).size(), 1u);
  EXPECT_EQ(at_event, 777u);
  EXPECT_GE(machine.qemu.instructions(), 1000u);
  EXPECT_LE(machine.qemu.instructions(), 1000u + static_cast<std::uint64_t>(quantum / ns));
}

// A step that was asked for comes as soon as debug exceptions are not masked any more (Arm DDI
// 0487, Software Step exceptions, entering the active-pending state).
TEST(CpuExceptionTest, AStepComesWhenItIsUnmasked) {
  constexpr std::uint64_t step_of_same_level = 0x33;
  Machine machine(ipu("step"));
  run(1 * us);
  const auto notes = machine.device.of(device);
  ASSERT_GT(notes.size(), 100u);
  const std::uint64_t expected[] = {1, step_of_same_level, 0, 2};
  for (std::size_t i = 0; i < notes.size(); ++i) {
    EXPECT_EQ(notes[i].value, expected[i % std::size(expected)]) << i;
  }
}

}  // namespace
}  // namespace vp::qemu
