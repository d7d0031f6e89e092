// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

using Command = Exerciser::Command;

struct Case {
  const char* kind;
  unsigned bus;
  std::uint32_t seed;
};
class AxiFuzz : public testing::TestWithParam<Case> {};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    all.push_back({"exerciser-narrow", 4, seed});
    all.push_back({"exerciser-wide", 64, seed});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Seeds, AxiFuzz, testing::ValuesIn(cases()), [](const auto& one) {
  return std::string(one.param.kind).substr(10) + std::to_string(one.param.seed);
});

constexpr std::uint64_t read_half = Bench::base + Bench::size / 2;

/// A burst that is possible. Writes go to the lower half of memory, each to pages of its own, and
/// reads come from the upper half, so that the order of reads and writes does not matter.
Command burst(std::mt19937& random, unsigned bus, unsigned number) {
  const auto draw = [&](unsigned below) { return static_cast<unsigned>(random() % below); };
  Command command;
  unsigned most = 0;
  while (1u << (most + 1) <= bus) ++most;
  command.size_log = draw(most + 1);
  const unsigned bytes = 1u << command.size_log;
  command.type = draw(4) == 0 ? 2 : 1;
  if (command.type == 2) {
    command.beats = 2u << draw(4);
    command.address = bytes * draw(4096 / bytes);
  } else {
    command.address = draw(4096);
    const unsigned room = (4096 - static_cast<unsigned>(command.address) / bytes * bytes) / bytes;
    command.beats = 1 + draw(std::min(draw(3) == 0 ? 256u : 8u, room));
  }
  command.id = draw(4);
  command.write = draw(2) == 0;
  command.sparse = draw(3) == 0;
  command.address += (command.write ? Bench::base : read_half) + 4096 * (number % 16);
  return command;
}

// Random bursts with random stalls of the block, random latencies of reads, and a function that now
// and then has no room. The block asserts the rules of AXI.
TEST_P(AxiFuzz, MovesTheRightBytes) {
  const auto [kind, bus, seed] = GetParam();
  Exerciser bench(kind);
  std::mt19937 random(seed);
  bench.latency_of = [&] { return static_cast<vp::Picoseconds>(random() % 2'000'000); };
  bool fuzzing = true;
  sc_core::sc_spawn([&] {
    std::mt19937 other(seed + 1000);
    while (fuzzing) {
      bench.full = true;
      Bench::pass(other() % 300'000);
      bench.make_room();
      Bench::pass(other() % 600'000);
    }
  });
  bench.run([&] {
    std::vector<std::uint8_t> expected = bench.memory;
    for (unsigned round = 0; round < 12; ++round) {
      bench.clear(random() % 3 * 100, seed * 7919 + round);
      std::vector<Command> reads;
      unsigned writes = 0, beats = 0;
      const unsigned count = 4 + random() % 12;
      for (unsigned i = 0; i < count; ++i) {
        const Command command = burst(random, bus, i);
        // The block keeps 512 beats.
        if (!command.write && (beats += command.beats) > 500) {
          beats -= command.beats;
          continue;
        }
        if (!command.write) {
          reads.push_back(command);
        } else {
          const auto lanes = lanes_of(command, bus);
          for (unsigned beat = 0; beat < lanes.size(); ++beat) {
            for (unsigned lane = lanes[beat].first; lane <= lanes[beat].last; ++lane) {
              if (!strobed(command, writes, beat, lane)) continue;
              const std::uint64_t address = lanes[beat].address + lane - lanes[beat].first;
              expected[address - Bench::base] = byte_of(writes, beat, lane);
            }
          }
          ++writes;
        }
        bench.start(command);
      }
      bench.wait_for_answers();
      ASSERT_EQ(bench.memory, expected) << "round " << round;
      ASSERT_EQ(bench.responses(), writes);
      ASSERT_EQ(bench.beats(), beats);
      // The beats of each burst come together, and those of an ID in the order of their bursts.
      unsigned at = 0;
      while (!reads.empty()) {
        const Exerciser::Beat first = bench.beat(at);
        const auto next = std::find_if(reads.begin(), reads.end(), [&](const Command& command) {
          return command.id == first.id;
        });
        ASSERT_NE(next, reads.end());
        const auto lanes = lanes_of(*next, bus);
        for (unsigned beat = 0; beat < lanes.size(); ++beat, ++at) {
          ASSERT_EQ(bench.beat(at), (Exerciser::Beat{next->id, 0, beat + 1 == lanes.size()}));
          const std::vector<std::uint8_t> data = bench.lanes(at, bus);
          for (unsigned lane = lanes[beat].first; lane <= lanes[beat].last; ++lane) {
            const std::uint64_t address = lanes[beat].address + lane - lanes[beat].first;
            ASSERT_EQ(data[lane], expected[address - Bench::base]);
          }
        }
        reads.erase(next);
      }
    }
    fuzzing = false;
  });
  EXPECT_EQ(bench.counter("protocol_violations"), 0u);
}

}  // namespace
}  // namespace axi::test
