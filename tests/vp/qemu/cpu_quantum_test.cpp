// SPDX-License-Identifier: Apache-2.0
// How far a vCPU may run ahead has no visible effect.
#include <deque>

#include "tests/vp/qemu/machine.h"

namespace vp::qemu {
namespace {

const std::vector<Picoseconds> quanta{50 * ns, 200 * ns, 1 * us, 10 * us, 1 * ms};

/// A device that writes memory and raises interrupts of its own accord.
struct Busy {
  explicit Busy(Machine& machine)
      : machine_(machine),
        dma_(machine.domain,
             [this] {
               ++word_;
               EXPECT_TRUE(machine_.qemu.write_memory(sram + 0x100, &word_, sizeof word_));
               dma_.after(1'234'567 + static_cast<Picoseconds>(word_ % 7) * 1001);
             }),
        interrupt_(machine.domain, [this] {
          machine_.qemu.set_line(5, true);
          interrupt_.after(2'718'281);
        }) {
    dma_.at(1);
    interrupt_.at(3 * us);
    machine.device.at[device + 16] = {0, 333 * ns, 41 * ns};
    machine.device.on_access = [this](Access& access) {
      if (access.address == device + 40 && access.value == 32 + 5) machine_.qemu.set_line(5, false);
    };
  }

 private:
  Machine& machine_;
  std::uint64_t word_ = 0;
  Event dma_;
  Event interrupt_;
};

std::string busy_trace(Picoseconds quantum, std::uint64_t ips) {
  return in_child([&] {
    Instance::Config config = ipu("mixed");
    config.max_quantum = quantum;
    config.ips = ips;
    Machine machine(std::move(config));
    Busy busy(machine);
    run(300 * us);
    EXPECT_GT(machine.device.of(device + 8).size(), 150u);   // DMA seen
    EXPECT_GT(machine.device.of(device + 40).size(), 150u);  // interrupts taken
    EXPECT_GT(machine.device.of(device + 16).size(), 10u);   // stalls
    return machine.device.trace();
  });
}

// An access would also report it.
TEST(CpuQuantumTest, ItsDomainKnowsHowFarItHasRun) {
  Machine machine(ipu("compute"));
  run(10 * us);
  EXPECT_THROW(machine.domain.expect(9 * us, "a link"), BrokenPromise);
}

class QuantumTest : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Rates, QuantumTest,
                         testing::Values(100'000'000, 333'333'333, 1'000'000'000, 2'500'000'000),
                         [](const auto& param) { return std::to_string(param.param); });

TEST_P(QuantumTest, AloneTheTraceIsTheSame) {
  const std::string expected = busy_trace(quanta[0], GetParam());
  for (const Picoseconds quantum : quanta) {
    EXPECT_TRUE(busy_trace(quantum, GetParam()) == expected) << quantum;
  }
}

/// One direction of a link: what is sent arrives after its latency.
class Link {
 public:
  Link(Machine& to, Picoseconds latency)
      : to_(to), latency_(latency), arrival_(to.domain, [this] { arrive(); }) {}

  void send(std::uint64_t value) {
    on_the_way_.push_back({now() + latency_, value});
    if (!arrival_.pending()) arrival_.at(on_the_way_.front().when);
  }
  std::uint64_t receive() {
    if (received_.empty()) return 0;
    const std::uint64_t value = received_.front();
    received_.pop_front();
    return value;
  }

 private:
  struct Packet {
    Picoseconds when;
    std::uint64_t value;
  };

  void arrive() {
    received_.push_back(on_the_way_.front().value);
    on_the_way_.pop_front();
    to_.qemu.set_line(4, true);
    if (!on_the_way_.empty()) arrival_.at(on_the_way_.front().when);
  }

  Machine& to_;
  const Picoseconds latency_;
  Event arrival_;
  std::deque<Packet> on_the_way_;
  std::deque<std::uint64_t> received_;
};

struct Pair {
  Picoseconds quantum, other_quantum;
  Picoseconds latency;
  bool interrupts, other_interrupts;
  std::uint64_t ips = 1'000'000'000, other_ips = 1'000'000'000;
};

std::string pair_trace(const Pair& pair) {
  return in_child([&] {
    Instance::Config config = ipu("pingpong");
    config.max_quantum = pair.quantum;
    config.ips = pair.ips;
    Machine one(config, "one");
    config.max_quantum = pair.other_quantum;
    config.ips = pair.other_ips;
    Machine other(config, "other");
    one.parameter(0, 1);
    one.parameter(1, pair.interrupts);
    other.parameter(1, pair.other_interrupts);
    one.domain.add_peer(other.domain, pair.latency);
    other.domain.add_peer(one.domain, pair.latency);

    Link there(other, pair.latency), back(one, pair.latency);
    std::string trace;
    const auto connect = [&trace](Machine& machine, Link& out, Link& in) {
      machine.device.on_access = [&](Access& access) {
        if (access.address == device) out.send(access.value);
        if (access.address == device + 8) access.value = in.receive();
        if (access.address == device + 24) machine.qemu.set_line(4, false);
        trace += machine.qemu.name() + (" " + access.text());
      };
    };
    connect(one, there, back);
    connect(other, back, there);
    run(100 * us);
    EXPECT_GT(one.device.of(device).size(), 25u);
    EXPECT_GT(other.device.of(device).size(), 25u);
    return trace;
  });
}

class PairTest : public testing::TestWithParam<std::tuple<bool, bool, Picoseconds>> {};

INSTANTIATE_TEST_SUITE_P(, PairTest,
                         testing::Combine(testing::Bool(), testing::Bool(),
                                          testing::Values(1 * ns, 250 * ns)),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param) ? "Sleeping" : "Polling") +
                                  (std::get<1>(param.param) ? "Sleeping" : "Polling") +
                                  std::to_string(std::get<2>(param.param));
                         });

TEST_P(PairTest, TheTraceIsTheSame) {
  const auto [sleeps, other_sleeps, latency] = GetParam();
  Pair pair{quanta[0], quanta[0], latency, sleeps, other_sleeps};
  const std::string expected = pair_trace(pair);
  for (const Picoseconds quantum : quanta) {
    pair.quantum = pair.other_quantum = quantum;
    EXPECT_TRUE(pair_trace(pair) == expected) << quantum;
  }
  pair.quantum = 50 * ns;
  pair.other_quantum = 1 * ms;
  EXPECT_TRUE(pair_trace(pair) == expected);
}

TEST_P(PairTest, TheTraceIsTheSameAtOddRates) {
  const auto [sleeps, other_sleeps, latency] = GetParam();
  Pair pair{50 * ns, 50 * ns, latency, sleeps, other_sleeps, 333'333'333, 2'900'000'001};
  const std::string expected = pair_trace(pair);
  pair.quantum = pair.other_quantum = 1 * ms;
  EXPECT_TRUE(pair_trace(pair) == expected);
  pair.quantum = 1 * us;
  EXPECT_TRUE(pair_trace(pair) == expected);
}

}  // namespace
}  // namespace vp::qemu
