// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "tests/models/axi/fixture.h"

namespace axi::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr unsigned with_irq = 1u << 28;  // pin 7 is high from the edge of the last beat on

std::vector<unsigned> vectors(const Bench& bench) {
  std::vector<unsigned> vectors;
  for (const Bench::Signal& signal : bench.signals) vectors.push_back(signal.vector);
  return vectors;
}

TEST(InterruptPins, SendTheirVectorWhenTheyRise) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.put(0x220, 0x05, 4);
    bench.get(0x220);
    Bench::pass(1 * vp::us);
    EXPECT_THAT(vectors(bench), ElementsAre(0u, 2u)) << "in the order of their numbers";
    bench.put(0x220, 0x07, 4);
    Bench::pass(1 * vp::us);
    EXPECT_THAT(vectors(bench), ElementsAre(0u, 2u, 1u)) << "a pin that stays high sends nothing";
    bench.put(0x220, 0x00, 4);
    bench.put(0x220, 0x01, 4);
    Bench::pass(1 * vp::us);
    EXPECT_THAT(vectors(bench), ElementsAre(0u, 2u, 1u, 0u));
  });
  EXPECT_THAT(bench.levels, IsEmpty()) << "edges have no level";
  EXPECT_EQ(bench.counter("interrupts"), 4u);
}

// The pin rises at the very edge at which the last beat of the burst is accepted.
TEST(InterruptPins, FollowTheWritesBeforeThem) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.start({Bench::base, 4, 2, 1, 0, true, true, with_irq});
    bench.wait_for_answers();
    ASSERT_EQ(bench.signals.size(), 1u);
    EXPECT_EQ(bench.signals[0].vector, 7u);
    EXPECT_GT(bench.writes.size(), 1u) << "the strobes have gaps";
    EXPECT_EQ(bench.signals[0].writes_before, bench.writes.size());
  });
}

TEST(InterruptPins, WaitForWritesThatCannotLeave) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.full = true;
    bench.start({Bench::base, 1, 2, 1, 0, true});
    bench.start({Bench::base + 64, 1, 2, 1, 0, true, false, with_irq});
    Bench::pass(1 * vp::us);
    EXPECT_THAT(vectors(bench), IsEmpty());
    bench.accept_one();
    Bench::pass(1 * vp::us);
    EXPECT_THAT(vectors(bench), IsEmpty()) << "the second write waits";
    bench.start({Bench::base + 128, 1, 2, 1, 0, true});
    Bench::pass(1 * vp::us);
    bench.accept_one();
    Bench::pass(1 * vp::us);
    ASSERT_THAT(vectors(bench), ElementsAre(7u));
    EXPECT_EQ(bench.signals[0].writes_before, 2u) << "it does not wait for a write after it";
    bench.make_room();
    bench.wait_for_answers();
  });
}

// A vector that waits already is sent once, as a pending bit of MSI-X is.
TEST(InterruptPins, AreSentOnceBehindTheSameWrites) {
  Exerciser bench("exerciser-narrow");
  bench.run([&] {
    bench.full = true;
    bench.start({Bench::base, 1, 2, 1, 0, true});
    Bench::pass(1 * vp::us);
    for (int i = 0; i < 3; ++i) {
      bench.put(0x220, 0x03, 4);
      bench.put(0x220, 0x00, 4);
    }
    Bench::pass(1 * vp::us);
    bench.make_room();
    bench.wait_for_answers();
    EXPECT_THAT(vectors(bench), ElementsAre(0u, 1u));
  });
}

TEST(InterruptPins, MayBeMoreThan64) {
  Bench bench("registers-only", {333'333'333, 1, ""});
  bench.run([&] {
    bench.put(0x8, 0x20, 4);
    bench.put(0x4, 0x80000000, 4);
    bench.get(0x0, 4);
    Bench::pass(1 * vp::us);
  });
  EXPECT_THAT(vectors(bench), ElementsAre(69u, 63u));
}

// With level-triggered pins the function also has a pin of its own: the OR of all of them.
TEST(InterruptPins, DriveThePinOfTheFunctionByTheirLevel) {
  Bench bench("registers-only", {333'333'333, 1, ""});
  bench.mode = pcie::InterruptMode::intx;
  const auto settle = [] { Bench::pass(1 * vp::us); };
  bench.run([&] {
    bench.put(0, 1, 4);
    settle();
    bench.put(0, 3, 4);
    settle();
    bench.put(0, 2, 4);
    settle();
    EXPECT_THAT(bench.levels, ElementsAre(Pair(true, 0u)));
    bench.put(0, 0, 4);
    settle();
    EXPECT_THAT(bench.levels, ElementsAre(Pair(true, 0u), Pair(false, 0u)));
    EXPECT_THAT(vectors(bench), IsEmpty()) << "software has not enabled messages";
    bench.mode = pcie::InterruptMode::msi_x;
    bench.put(0, 4, 4);
    settle();
    EXPECT_THAT(vectors(bench), ElementsAre(2u));
  });
}

TEST(InterruptPins, AreLinesOfTheTrace) {
  const std::string path = testing::TempDir() + "axi_trace";
  Exerciser bench("exerciser-narrow");
  bench.trace.open(path, {{"format", 1}});
  vp::Picoseconds when = 0;
  bench.run([&] {
    bench.put(0x220, 0x02, 4);
    Bench::pass(1 * vp::us);
    when = bench.signals.at(0).when;
  });
  bench.trace.close();
  std::ifstream file(path);
  std::string head, line;
  std::getline(file, head);
  std::getline(file, line);
  EXPECT_EQ(nlohmann::json::parse(line),
            (nlohmann::json{{"t", when}, {"interrupt", "bench.bridge"}, {"vector", 1}}));
}

}  // namespace
}  // namespace axi::test
