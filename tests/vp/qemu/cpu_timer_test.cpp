// SPDX-License-Identifier: Apache-2.0
// The generic timer acts at the exact instant at which its counter reaches the deadline.
#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

std::string name(
    const testing::TestParamInfo<std::tuple<std::uint64_t, Picoseconds, std::uint64_t>>& info) {
  return std::to_string(std::get<0>(info.param)) + "Quantum" +
         std::to_string(std::get<1>(info.param)) + "Ticks" +
         std::to_string(std::get<2>(info.param));
}

class TimerTest
    : public testing::TestWithParam<std::tuple<std::uint64_t, Picoseconds, std::uint64_t>> {
 protected:
  TimerTest() : ips_(std::get<0>(GetParam())), ticks_(std::get<2>(GetParam())) {
    Instance::Config config = ipu("timer");
    config.ips = ips_;
    config.max_quantum = std::get<1>(GetParam());
    machine_ = std::make_unique<Machine>(std::move(config));
    machine_->parameter(0, ticks_);
    machine_->parameter(2, 100);
  }

  Picoseconds time_of(std::uint64_t instructions) const {
    return static_cast<Picoseconds>(static_cast<unsigned __int128>(instructions) *
                                    1'000'000'000'000u / ips_);
  }
  /// The one access of an address.
  Access at(std::uint64_t offset) const {
    const auto found = machine_->device.of(device + offset);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Access{} : found.front();
  }
  Picoseconds deadline() const { return static_cast<Picoseconds>(at(0).value) * ns; }

  const std::uint64_t ips_;
  const std::uint64_t ticks_;
  std::unique_ptr<Machine> machine_;
};

INSTANTIATE_TEST_SUITE_P(, TimerTest,
                         testing::Combine(testing::Values(77'777'777, 333'333'333, 1'000'000'000,
                                                          3'000'000'000),
                                          testing::Values(50 * ns, 1 * us, 1 * ms),
                                          testing::Values(900, 10'000, 123'457)),
                         name);

TEST_P(TimerTest, WakesASleeperAtTheDeadline) {
  machine_->parameter(1, 1);
  run(time_of(400) + static_cast<Picoseconds>(ticks_) * ns);
  const Picoseconds first = time_of(1), second = time_of(2);
  const Access after = at(8);
  EXPECT_GE(after.time, deadline() + second);
  EXPECT_LE(after.time, deadline() + second + 1);
  EXPECT_GE(after.value, static_cast<std::uint64_t>((deadline() + first) / ns));
  EXPECT_LE(after.value, static_cast<std::uint64_t>((deadline() + first + 1) / ns));
}

TEST_P(TimerTest, InterruptsALoopAtTheFirstBoundaryFromTheDeadlineOn) {
  run(time_of(400) + static_cast<Picoseconds>(ticks_) * ns);
  // The instruction that is complete at the deadline or first after it.
  std::uint64_t last = at(0).time * static_cast<__int128>(ips_) / 1'000'000'000'000;
  while (time_of(last) < deadline()) ++last;
  // The vector's branch, MRS, STR.
  EXPECT_EQ(at(8).time, time_of(last + 3));
  EXPECT_EQ(at(8).value, static_cast<std::uint64_t>(time_of(last + 2) / ns));
  EXPECT_GT(at(16).value, 20u);
}

}  // namespace
}  // namespace vp::qemu
