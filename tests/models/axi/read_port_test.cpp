// SPDX-License-Identifier: Apache-2.0
#include "models/axi/read_port.h"

#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

using Command = Exerciser::Command;
using Beat = Exerciser::Beat;

struct Width {
  const char* kind;
  unsigned bus;  ///< bytes
};
class ReadPortOf : public testing::TestWithParam<Width> {};
INSTANTIATE_TEST_SUITE_P(Widths, ReadPortOf,
                         testing::Values(Width{"exerciser-narrow", 4}, Width{"exerciser-wide", 64}),
                         [](const auto& width) {
                           return std::string(width.param.kind).substr(10);
                         });

constexpr unsigned okay = 0, slave_error = 2;

/// All lanes of each beat, of which those that the beat does not have are zero.
std::vector<std::vector<std::uint8_t>> expected_lanes(const Bench& bench, const Command& command,
                                                      unsigned bus) {
  std::vector<std::vector<std::uint8_t>> lanes;
  for (const Lanes& beat : lanes_of(command, bus)) {
    lanes.emplace_back(bus);
    for (unsigned lane = beat.first; lane <= beat.last; ++lane) {
      lanes.back()[lane] = bench.memory[beat.address + (lane - beat.first) - Bench::base];
    }
  }
  return lanes;
}

TEST_P(ReadPortOf, ReadsEachBeatIntoItsLanes) {
  const unsigned bus = GetParam().bus;
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    unsigned bursts = 0;
    for (unsigned log = 0; 1u << log <= bus; ++log) {
      for (const unsigned beats : {1u, 2u, 5u, 16u}) {
        for (unsigned offset = 0; offset < bus; offset += 1 + bus / 8) {
          for (const unsigned type : {1u, 2u}) {
            const bool wraps = type == 2;
            if (wraps && (beats == 1 || beats == 5 || offset % (1u << log) != 0)) continue;
            const Command command{Bench::base + 0x1000 * (bursts % 200) + 0x300 + offset, beats,
                                  log, type, bursts % 16};
            bench.clear();
            bench.start(command);
            bench.wait_for_answers();
            ASSERT_EQ(bench.beats(), beats);
            const auto expected = expected_lanes(bench, command, bus);
            for (unsigned i = 0; i < beats; ++i) {
              ASSERT_EQ(bench.beat(i), (Beat{bursts % 16, okay, i + 1 == beats}));
              ASSERT_EQ(bench.lanes(i, bus), expected[i])
                  << log << " " << beats << " " << offset << " " << type << " " << i;
            }
            ++bursts;
          }
        }
      }
    }
    EXPECT_GT(bursts, 20u);
  });
  EXPECT_EQ(bench.counter("protocol_violations"), 0u);
}

TEST_P(ReadPortOf, AsksForABurstAtOnce) {
  const unsigned bus = GetParam().bus;
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    const unsigned beats = std::min(256u, 4096 / bus);
    unsigned log = 0;
    while (1u << log < bus) ++log;
    const std::uint64_t first = Bench::base + 0x2000 - beats * bus + 1;
    bench.start({first, beats, log, 1});
    bench.wait_for_answers();
    EXPECT_THAT(bench.reads, testing::ElementsAre(testing::Pair(first, beats * bus - 1)));
    EXPECT_EQ(bench.beats(), beats);
  });
}

// Bursts of an ID stay in order. Others overtake them, and no beats mix.
TEST_P(ReadPortOf, KeepsTheOrderOfEachId) {
  Exerciser bench(GetParam().kind);
  std::deque<vp::Picoseconds> latencies = {5 * vp::us, 1 * vp::us, 3 * vp::us};
  bench.latency_of = [&] {
    const vp::Picoseconds latency = latencies.front();
    latencies.pop_front();
    return latency;
  };
  bench.run([&] {
    bench.start({Bench::base, 2, 2, 1, 7});
    bench.start({Bench::base + 64, 2, 2, 1, 7});
    bench.start({Bench::base + 128, 2, 2, 1, 8});
    bench.wait_for_answers();
    for (unsigned i = 0; i < 6; ++i) {
      EXPECT_EQ(bench.beat(i), (Beat{i < 2 ? 8u : 7u, okay, i % 2 == 1})) << i;
    }
    EXPECT_EQ(bench.lanes(2, GetParam().bus)[0], bench.at(Bench::base));
    EXPECT_EQ(bench.lanes(4, GetParam().bus)[0], bench.at(Bench::base + 64));
  });
}

TEST_P(ReadPortOf, AnswersSlverrToAReadThatFails) {
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    bench.read_answer = tlm::TLM_ADDRESS_ERROR_RESPONSE;  // Unsupported Request
    bench.start({Bench::base, 2, 2, 1, 1});
    bench.wait_for_answers();
    bench.read_answer = tlm::TLM_GENERIC_ERROR_RESPONSE;  // Completer Abort, or a timeout
    bench.start({Bench::base, 2, 2, 1, 2});
    bench.wait_for_answers();
    bench.refuses_reads = true;  // Bus Master is off
    bench.start({Bench::base, 2, 2, 1, 3});
    bench.wait_for_answers();
    bench.refuses_reads = false;
    bench.read_answer = tlm::TLM_OK_RESPONSE;
    bench.start({Bench::base, 2, 2, 1, 4});
    bench.wait_for_answers();
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.beat(i), (Beat{i / 2 + 1, i < 6 ? slave_error : okay, i % 2 == 1})) << i;
      if (i < 6) {
        EXPECT_EQ(bench.lanes(i, GetParam().bus), std::vector<std::uint8_t>(GetParam().bus));
      }
    }
  });
  EXPECT_EQ(bench.counter("dma_read_errors"), 3u);
}

TEST_P(ReadPortOf, AnswersSlverrToABurstThatIsImpossible) {
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    bench.start({Bench::base + 0xffc, 2, 2, 1, 1});
    bench.start({Bench::base, 2, 7, 1, 2});
    bench.start({Bench::base + 2, 2, 2, 2, 3});
    bench.start({Bench::base, 2, 2, 0, 4});
    bench.wait_for_answers();
    for (unsigned i = 0; i < 8; ++i) {
      EXPECT_EQ(bench.beat(i), (Beat{i / 2 + 1, slave_error, i % 2 == 1})) << i;
    }
  });
  EXPECT_TRUE(bench.reads.empty());
  EXPECT_EQ(bench.counter("protocol_violations"), 3u);
  EXPECT_EQ(bench.counter("unsupported_bursts"), 1u);
}

TEST_P(ReadPortOf, HoldsTheBlockWithoutRoom) {
  Exerciser bench(GetParam().kind);
  bench.read_latency = 10 * vp::us;
  bench.run([&] {
    for (unsigned i = 0; i < 20; ++i) bench.start({Bench::base + 64 * i, 1, 2, 1, i % 16});
    Bench::pass(2 * vp::us);
    EXPECT_EQ(bench.reads.size(), ReadPort::most_bursts);
    bench.wait_for_answers();
    EXPECT_EQ(bench.reads.size(), 20u);
    EXPECT_EQ(bench.beats(), 20u);
  });
}

}  // namespace
}  // namespace axi::test
