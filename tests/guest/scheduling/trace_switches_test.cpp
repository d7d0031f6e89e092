// SPDX-License-Identifier: Apache-2.0
// Context switches of traces made by hand, whose parts are known.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "guest/scheduling/trace/figures/switches.h"
#include "tests/guest/scheduling/trace_test.h"

namespace {

using testing::ElementsAre;

enum { stamped, stopped_first, decided_first };

/// Tasks a and b exist, and a runs on CPU 1 from 500 on.
TraceBuilder begin() {
  TraceBuilder builder;
  builder.at(100).task_new(a).at(110).task_new(b).at(120).idle(1).at(130).busy(2);
  return builder.at(200).wakeup(a).at(300).claim(1, a, 200).at(400).end(1).at(500).on_cpu(a, 1);
}

Trace finish(TraceBuilder& builder) {
  const Trace trace = builder.at(90'000).dead(a).dead(b).trace();
  EXPECT_EQ(Checker(trace, 1'000'000).mistakes(), std::vector<std::string>{});
  return trace;
}

std::vector<std::uint64_t> means(const SwitchKind& kind) {
  std::vector<std::uint64_t> found;
  for (const SwitchPart& part : kind.parts) found.push_back(part.mean);
  return found;
}

std::uint64_t sum_of_parts(const SwitchKind& kind) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < kind.parts.size(); ++i) sum += kind.parts[i].mean;
  return sum;
}

TEST(Switches, PartsReachFromEventToEvent) {
  TraceBuilder builder = begin();
  builder.at(900).wakeup(b).at(2000).blocked(a, 1);
  builder.at(2010).claim(1, b, 900).at(2050).end(1).at(2300).on_cpu(b, 1).at(3000).blocked(b, 1);
  const auto kinds = Switches(finish(builder), nullptr).kinds();
  EXPECT_EQ(kinds[stopped_first].count, 1u);
  // Until the look and the claim, the claim, the insertion, the report, until ON_CPU; the whole.
  EXPECT_THAT(means(kinds[stopped_first]), ElementsAre(10, 0, 1, 39, 1, 249, 300));
  EXPECT_EQ(kinds[decided_first].count, 0u);
  EXPECT_EQ(kinds[stamped].count, 0u);
}

TEST(Switches, ADecisionThatIsNotThereIsWaitedFor) {
  TraceBuilder builder = begin();
  builder.at(900).wakeup(b).at(2000).blocked(a, 1).at(2020).idle(1);
  builder.at(2500).claim(1, b, 2000).end(1).on_cpu(b, 1).at(3000).blocked(b, 1);
  const auto kinds = Switches(finish(builder), nullptr).kinds();
  EXPECT_THAT(means(kinds[stopped_first]), ElementsAre(20, 480, 1, 0, 1, 0, 502));
}

TEST(Switches, ARefusedDecisionBelongsToTheTimeUntilTheClaim) {
  TraceBuilder builder = begin();
  builder.at(900).wakeup(b).at(950).affinity(b, 0x2).at(2000).blocked(a, 1);
  builder.at(2010).claim(1, b, 900, 2).at(2020).end(1, GHOST_TARGET_STALE);
  builder.at(2100).claim(1, b, 2000).at(2110).end(1).at(2200).on_cpu(b, 1).at(3000).blocked(b, 1);
  const auto kinds = Switches(finish(builder), nullptr).kinds();
  EXPECT_THAT(means(kinds[stopped_first]), ElementsAre(10, 90, 1, 9, 1, 89, 200));
}

TEST(Switches, ATaskThatCouldGoOnStopsAfterTheDecision) {
  TraceBuilder builder = begin();
  builder.at(900).wakeup(b).at(2000).claim(1, b, 900).at(2040).end(1).at(2100).preempt(a, 1);
  builder.at(2300).on_cpu(b, 1).at(3000).blocked(b, 1);
  const auto kinds = Switches(finish(builder), nullptr).kinds();
  EXPECT_EQ(kinds[stopped_first].count, 0u);
  // The claim, the insertion, the report, until the task stops, until ON_CPU; the whole.
  EXPECT_THAT(means(kinds[decided_first]), ElementsAre(1, 39, 1, 59, 200, 300));
}

TEST(Switches, MeansOfPartsAddUpExactly) {
  TraceBuilder builder = begin();
  std::uint64_t time = 1000, from = a, to = b;
  // Each part is at another fraction of a nanosecond, in the mean of seven.
  for (unsigned i = 0; i < 7; ++i, time += 1000, std::swap(from, to)) {
    builder.at(time).wakeup(to).at(time + 100).blocked(from, 1).at(time + 110 + (i > 2));
    builder.claim(1, to, time).at(time + 120 + (i > 3)).end(1).at(time + 200 + (i > 4));
    builder.on_cpu(to, 1);
  }
  builder.at(time).blocked(from, 1);
  const SwitchKind kind = Switches(finish(builder), nullptr).kinds()[stopped_first];
  ASSERT_EQ(kind.count, 7u);
  EXPECT_EQ(kind.parts.back().mean, 100u);  // 100 2/7
  EXPECT_EQ(sum_of_parts(kind), kind.parts.back().mean);
  for (const SwitchPart& part : kind.parts) {
    EXPECT_EQ(part.spread.count, 7u);
    EXPECT_LE(part.spread.min, part.mean) << part.name;
    EXPECT_GE(part.spread.max, part.mean) << part.name;
  }
  EXPECT_EQ(kind.parts.back().spread.min, 100u);
  EXPECT_EQ(kind.parts.back().spread.p50, 100u);
  EXPECT_EQ(kind.parts.back().spread.max, 101u);
}

TEST(Switches, OtherBeginsAreCounted) {
  TraceBuilder builder = begin();
  builder.at(900).affinity(a, 0x2, 1).at(1000).stopping(a, 1).affinity(a, 0x6, 1).on_cpu(a, 1);
  builder.at(2000).blocked(a, 1).idle(1).at(3000).wakeup(b).at(3100).run(1, b, 3000);
  builder.at(3500).wakeup(a).at(4000).blocked(b, 1).busy(1).at(4400).look(1).run(1, a, 4000);
  builder.at(5000).blocked(a, 1);
  const Switches switches(finish(builder), nullptr);
  EXPECT_EQ(switches.resumed(), 2u);  // at first, and after the change
  EXPECT_EQ(switches.awaited(), 1u);
  EXPECT_EQ(switches.disturbed(), 1u);
  EXPECT_EQ(switches.kinds()[stopped_first].count, 0u);
}

class StampsFile : public testing::Test {
 protected:
  ~StampsFile() override { std::remove(name.c_str()); }

  std::string read(const std::string& text) {
    std::ofstream(name) << text;
    return stamps.read(name);
  }

  Stamps stamps;
  std::string name = testing::TempDir() + "stamps_" + std::to_string(::getpid());
};

TEST_F(StampsFile, StampsGiveTheFirstAndTheLastPart) {
  TraceBuilder builder = begin();
  builder.at(900).wakeup(b).at(2000).blocked(a, 1);
  builder.at(2010).claim(1, b, 900).at(2050).end(1).at(2300).on_cpu(b, 1);
  builder.at(2800).wakeup(a, 1).at(3000).blocked(b, 1).at(3100).run(1, a, 2800);
  builder.at(4000).blocked(a, 1);
  const Trace trace = finish(builder);
  // Of the second switch, nobody has seen the end. Another CPU's stamps do not count, nor does a
  // wait that was over before it began.
  EXPECT_EQ(read("after 1 600\nbefore 1 1000\nafter 1 1001\nbefore 1 1950\nafter 2 2310\n"
                 "after 1 2370\nbefore 1 2995\nbefore 2 2999\nbefore 1 3999\n"),
            "");
  const auto kinds = Switches(trace, &stamps).kinds();
  EXPECT_EQ(kinds[stopped_first].count, 2u);
  ASSERT_EQ(kinds[stamped].count, 1u);
  EXPECT_THAT(means(kinds[stamped]), ElementsAre(50, 10, 0, 1, 39, 1, 249, 70, 420));
}

TEST_F(StampsFile, ATaskThatDidNotBlockWhereItSaidSoHasNoStamp) {
  TraceBuilder builder = begin();
  builder.at(900).wakeup(b).at(2000).blocked(a, 1);
  builder.at(2010).run(1, b, 900).at(3000).blocked(b, 1);
  const Trace trace = finish(builder);
  EXPECT_EQ(read("before 1 1000\nafter 1 1950\nafter 1 2400\n"), "");
  EXPECT_EQ(Switches(trace, &stamps).kinds()[stamped].count, 0u);
  Stamps others;
  std::swap(stamps, others);
  EXPECT_EQ(read("before 1 1000\nbefore 1 2400\nafter 1 2500\n"), "");
  EXPECT_EQ(Switches(trace, &stamps).kinds()[stamped].count, 0u);
}

TEST_F(StampsFile, HasToMakeSense) {
  EXPECT_EQ(read("before 1 2\nafter 64 3\n"), "line 2 is no stamp");
  EXPECT_EQ(read("then 1 2\n"), "line 1 is no stamp");
  EXPECT_EQ(read("after 1\n"), "line 1 is no stamp");
  EXPECT_EQ(read("after 1 2 3\n"), "line 1 is no stamp");
  EXPECT_NE(stamps.read(name + "/none"), "");
}

}  // namespace
