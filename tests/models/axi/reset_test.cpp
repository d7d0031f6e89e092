// SPDX-License-Identifier: Apache-2.0
#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

using testing::ElementsAre;

TEST(Reset, AtPowerUpIsOverBeforeTime0) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    EXPECT_EQ(bench.get(0x228), 0u) << "edges since the reset";
    EXPECT_EQ(bench.get(0x250), 10u) << "the pin with a constant";
  });
}

TEST(Reset, ResetsTheBlockForItsEdges) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.put(0x220, 5, 4);
    bench.get(0);
    Bench::pass(1 * vp::us + 3);
    const std::uint64_t clocks = bench.bridge->clocks();
    bench.bridge->reset();
    Bench::pass(1 * vp::us);
    EXPECT_EQ(bench.bridge->clocks(), clocks + Bridge::reset_edges);
    EXPECT_TRUE(bench.bridge->clock_stopped());
    EXPECT_EQ(bench.get(0x220), 0u);
    bench.put(0x220, 4, 4);
    Bench::pass(1 * vp::us);
  });
  ASSERT_EQ(bench.signals.size(), 3u);
  EXPECT_EQ(bench.signals[2].vector, 2u) << "the pin has risen again after the reset";
}

// An access that comes during the reset waits for its end.
TEST(Reset, HoldsAccesses) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    Bench::pass(1 * vp::us + 1);
    bench.bridge->reset();
    EXPECT_EQ(bench.get(0x228, 4), 0u);
    const vp::Picoseconds edges = (Bridge::reset_edges + 1) * 2 * vp::ns;
    EXPECT_GE(vp::now(), 1 * vp::us + edges);
  });
}

TEST(Reset, EndsReadsOfTheHost) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bool ended = false;
    sc_core::sc_spawn([&] {
      std::uint64_t value = 0;
      EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 0x1c0, &value, 4),
                tlm::TLM_GENERIC_ERROR_RESPONSE);
      ended = true;
    });
    Bench::pass(1 * vp::us);
    EXPECT_FALSE(ended);
    bench.bridge->reset();
    Bench::pass(1 * vp::us);
    EXPECT_TRUE(ended);
    bench.put(0, 5, 4);
    EXPECT_EQ(bench.get(0, 4), 5u);
  });
}

TEST(Reset, AcceptsAWriteThatWaits) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.clear(255, 1);
    bench.get(0);
    bool ended = false;
    sc_core::sc_spawn([&] {
      for (unsigned i = 0; i < 33; ++i) bench.put(0, i, 4);
      ended = true;
    });
    Bench::pass(1);
    EXPECT_FALSE(ended);
    bench.bridge->reset();
    Bench::pass(1 * vp::us);
    EXPECT_TRUE(ended);
    bench.put(0, 77, 4);
    EXPECT_EQ(bench.get(0, 4), 77u);
  });
}

// The function answers all of its accesses before it calls reset().
TEST(Reset, ForgetsBursts) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.full = true;
    for (unsigned i = 0; i < 3; ++i) bench.start({Bench::base + 64 * i, 1, 2, 1, i, true});
    bench.start({Bench::base, 1, 2, 1, 9});
    Bench::pass(1 * vp::us);
    bench.write_answer = tlm::TLM_GENERIC_ERROR_RESPONSE;
    bench.make_room();
    bench.bridge->reset();
    bench.write_answer = tlm::TLM_OK_RESPONSE;
    Bench::pass(1 * vp::us);
    EXPECT_TRUE(bench.writes.empty());
    EXPECT_EQ(bench.responses(), 0u);
    EXPECT_EQ(bench.beats(), 0u);
    for (unsigned i = 0; i < 20; ++i) bench.start({Bench::base + 64 * i, 1, 2, 1, i % 16, true});
    bench.wait_for_answers();
    EXPECT_EQ(bench.writes.size(), 20u) << "the room is there again";
  });
}

// What the block does at the edge of that very instant belongs to the time before the reset, also if
// the reset comes before the bridge's own event.
TEST(Reset, AtTheInstantOfAnEdgeForgetsWhatTheBlockDoesAtIt) {
  Exerciser bench("exerciser-narrow");
  bench.refuses_reads = true;
  bench.run([&] {
    for (unsigned edge = 1; edge <= 24; ++edge) {
      SCOPED_TRACE(edge);
      const vp::Picoseconds instant = vp::now() + edge * 2 * vp::ns;
      vp::Event event(bench.domain, [&] { bench.bridge->reset(); });
      event.at(instant);  // older than the bridge's event of that instant
      bench.put(0x220, 1, 4);
      bench.start({Bench::base + 64, 2, 2, 1, 1, true});
      bench.start({Bench::base, 1, 2, 1, 9});
      Bench::pass(1 * vp::us);
      for (const Bench::Signal& signal : bench.signals) EXPECT_LT(signal.when, instant);
      EXPECT_EQ(bench.beats(), 0u);
      EXPECT_EQ(bench.responses(), 0u);
      bench.signals.clear();
      bench.writes.clear();
      bench.start({Bench::base + 128, 1, 2, 1, 2, true});
      bench.wait_for_answers();
      ASSERT_EQ(bench.writes.size(), 1u);
      EXPECT_EQ(bench.writes[0].address, Bench::base + 128);
      EXPECT_EQ(bench.counter("protocol_violations"), 0u);
    }
  });
}

}  // namespace
}  // namespace axi::test
