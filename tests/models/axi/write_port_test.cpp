// SPDX-License-Identifier: Apache-2.0
#include "models/axi/write_port.h"

#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

using Command = Exerciser::Command;
using testing::ElementsAre;
using testing::Pair;

struct Width {
  const char* kind;
  unsigned bus;  ///< bytes
};
class WritePortOf : public testing::TestWithParam<Width> {};
INSTANTIATE_TEST_SUITE_P(Widths, WritePortOf,
                         testing::Values(Width{"exerciser-narrow", 4}, Width{"exerciser-wide", 64}),
                         [](const auto& width) {
                           return std::string(width.param.kind).substr(10);
                         });

constexpr unsigned okay = 0, slave_error = 2;

/// Changes memory as the burst should.
void apply(const Command& command, unsigned number, unsigned bus,
           std::vector<std::uint8_t>& memory) {
  const auto beats = lanes_of(command, bus);
  for (unsigned beat = 0; beat < beats.size(); ++beat) {
    for (unsigned lane = beats[beat].first; lane <= beats[beat].last; ++lane) {
      if (!strobed(command, number, beat, lane)) continue;
      const std::uint64_t address = beats[beat].address + (lane - beats[beat].first);
      memory[address - Bench::base] = byte_of(number, beat, lane);
    }
  }
}

// Narrow and full beats, aligned and not, with all strobes and with some, INCR and WRAP.
TEST_P(WritePortOf, WritesWhatTheStrobesSay) {
  const unsigned bus = GetParam().bus;
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    std::vector<std::uint8_t> expected = bench.memory;
    unsigned bursts = 0;
    for (unsigned log = 0; 1u << log <= bus; ++log) {
      for (const unsigned beats : {1u, 2u, 5u, 16u}) {
        for (unsigned offset = 0; offset < bus; offset += 1 + bus / 8) {
          for (const bool sparse : {false, true}) {
            for (const unsigned type : {1u, 2u}) {
              const bool wraps = type == 2;
              if (wraps && (beats == 1 || beats == 5 || offset % (1u << log) != 0)) continue;
              const Command command{Bench::base + 0x1000 * (bursts % 200) + 0x300 + offset,
                                    beats,
                                    log,
                                    type,
                                    bursts % 16,
                                    true,
                                    sparse};
              if (bursts % 32 == 0) bench.clear();
              bench.start(command);
              apply(command, bursts % 32, bus, expected);
              bench.wait_for_answers();
              ASSERT_EQ(bench.response(bursts % 32), std::make_pair(bursts % 16, okay));
              ASSERT_EQ(bench.memory, expected)
                  << log << " " << beats << " " << offset << " " << sparse << " " << type;
              ++bursts;
            }
          }
        }
      }
    }
    EXPECT_GT(bursts, 40u);
  });
  EXPECT_EQ(bench.counter("protocol_violations"), 0u);
  EXPECT_EQ(bench.counter("dma_write_errors"), 0u);
}

TEST_P(WritePortOf, WritesEachRunOfBytesAtOnce) {
  const unsigned bus = GetParam().bus;
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    // 256 beats that begin in the middle of the first one and end at 4 KiB.
    const unsigned beats = std::min(256u, 4096 / bus);
    unsigned log = 0;
    while (1u << log < bus) ++log;
    const std::uint64_t first = Bench::base + 0x2000 - beats * bus + 3;
    bench.start({first, beats, log, 1, 5, true});
    bench.wait_for_answers();
    ASSERT_EQ(bench.writes.size(), 1u);
    EXPECT_EQ(bench.writes[0].address, first);
    EXPECT_EQ(bench.writes[0].data.size(), beats * bus - 3);
  });
}

// The response means that the function has accepted the write, and the writes before it.
TEST_P(WritePortOf, AnswersWhenTheFunctionHasAccepted) {
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    bench.full = true;
    for (unsigned i = 0; i < 3; ++i) bench.start({Bench::base + 64 * i, 1, 2, 1, i, true});
    Bench::pass(1 * vp::us);
    EXPECT_TRUE(bench.holds_write());
    EXPECT_EQ(bench.responses(), 0u);
    bench.accept_one();
    Bench::pass(1 * vp::us);
    EXPECT_EQ(bench.responses(), 1u);
    EXPECT_TRUE(bench.holds_write()) << "the next one follows";
    bench.make_room();
    bench.wait_for_answers();
    EXPECT_THAT((std::vector{bench.response(0), bench.response(1), bench.response(2)}),
                ElementsAre(Pair(0u, okay), Pair(1u, okay), Pair(2u, okay)));
    ASSERT_EQ(bench.writes.size(), 3u);
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(bench.writes[i].address, Bench::base + 64 * i);
  });
}

// More bursts than the bridge has room for wait at the pins.
TEST_P(WritePortOf, HoldsTheBlockWithoutRoom) {
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    bench.full = true;
    for (unsigned i = 0; i < 20; ++i) bench.start({Bench::base + 64 * i, 1, 2, 1, i % 16, true});
    Bench::pass(1 * vp::us);
    EXPECT_EQ(bench.counter("dma_writes"), WritePort::most_bursts);
    bench.make_room();
    bench.wait_for_answers();
    EXPECT_EQ(bench.counter("dma_writes"), 20u);
    EXPECT_EQ(bench.writes.size(), 20u);
  });
}

TEST_P(WritePortOf, AnswersSlverrIfTheFunctionRefuses) {
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    bench.write_answer = tlm::TLM_COMMAND_ERROR_RESPONSE;
    bench.start({Bench::base, 4, 2, 1, 1, true});
    bench.wait_for_answers();
    EXPECT_EQ(bench.response(0), std::make_pair(1u, slave_error));
    // One that had to wait first
    bench.full = true;
    bench.start({Bench::base, 4, 2, 1, 2, true});
    Bench::pass(1 * vp::us);
    bench.make_room();
    bench.wait_for_answers();
    EXPECT_EQ(bench.response(1), std::make_pair(2u, slave_error));
    bench.write_answer = tlm::TLM_OK_RESPONSE;
    bench.start({Bench::base, 4, 2, 1, 3, true});
    bench.wait_for_answers();
    EXPECT_EQ(bench.response(2), std::make_pair(3u, okay));
  });
  EXPECT_EQ(bench.counter("dma_write_errors"), 2u);
}

// A burst that cannot be executed takes its data, writes nothing, and is answered in its turn.
TEST_P(WritePortOf, AnswersSlverrToABurstThatIsImpossible) {
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    bench.start({Bench::base + 0xffc, 2, 2, 1, 1, true});  // crosses 4 KiB
    bench.start({Bench::base, 4, 7, 1, 2, true});          // 128 bytes in a beat
    bench.start({Bench::base, 3, 2, 2, 3, true});          // WRAP of 3
    bench.start({Bench::base, 2, 2, 0, 4, true});          // FIXED
    bench.start({Bench::base, 2, 2, 3, 5, true});          // reserved
    bench.start({Bench::base, 1, 2, 0, 6, true});          // FIXED of one beat
    bench.wait_for_answers();
    for (unsigned i = 0; i < 5; ++i) {
      EXPECT_EQ(bench.response(i), std::make_pair(i + 1, slave_error));
    }
    EXPECT_EQ(bench.response(5), std::make_pair(6u, okay));
  });
  EXPECT_EQ(bench.writes.size(), 1u);
  EXPECT_EQ(bench.counter("protocol_violations"), 4u);
  EXPECT_EQ(bench.counter("unsupported_bursts"), 1u);
}

TEST_P(WritePortOf, CountsWhatBreaksTheRules) {
  constexpr unsigned early = 1u << 26, stray = 1u << 27;
  const unsigned bus = GetParam().bus;
  Exerciser bench(GetParam().kind);
  bench.run([&] {
    std::vector<std::uint8_t> expected = bench.memory;
    const Command last{Bench::base, 3, 2, 1, 0, true, false, early};
    bench.start(last);
    apply(last, 0, bus, expected);
    bench.wait_for_answers();
    EXPECT_EQ(bench.counter("protocol_violations"), 2u) << "the first beat, and the last one";
    const Command strobes{Bench::base + 64, 1, 0, 1, 0, true, false, stray};
    bench.start(strobes);
    apply(strobes, 1, bus, expected);
    bench.wait_for_answers();
    EXPECT_EQ(bench.counter("protocol_violations"), 3u);
    EXPECT_EQ(bench.memory, expected) << "such a byte is not written";
  });
}

}  // namespace
}  // namespace axi::test
