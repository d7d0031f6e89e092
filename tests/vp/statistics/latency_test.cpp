// SPDX-License-Identifier: Apache-2.0
#include "vp/statistics/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace vp {
namespace {

/// Computes the summary from the list of samples.
Latency::Summary expected(std::vector<Picoseconds> samples) {
  std::sort(samples.begin(), samples.end());
  Latency::Summary summary;
  const std::size_t n = samples.size();
  summary.count = n;
  summary.min = samples.front();
  summary.max = samples.back();
  // Nearest rank: the first sample with at least that share at or below it.
  for (std::size_t i = n; i-- > 0;) {
    if (2 * (i + 1) >= n) summary.median = samples[i];
    if (100 * (i + 1) >= 99 * n) summary.p99 = samples[i];
    if (1000 * (i + 1) >= 995 * n) summary.p99_5 = samples[i];
    if (1000 * (i + 1) >= 999 * n) summary.p99_9 = samples[i];
  }
  return summary;
}

void expect_equal(const Latency::Summary& got, const Latency::Summary& want) {
  EXPECT_EQ(got.count, want.count);
  EXPECT_EQ(got.min, want.min);
  EXPECT_EQ(got.median, want.median);
  EXPECT_EQ(got.p99, want.p99);
  EXPECT_EQ(got.p99_5, want.p99_5);
  EXPECT_EQ(got.p99_9, want.p99_9);
  EXPECT_EQ(got.max, want.max);
  EXPECT_EQ(got.resolution, want.resolution);
}

TEST(LatencyTest, WithoutSamplesIsAllZero) {
  expect_equal(Latency().summary(), {});
}

TEST(LatencyTest, EveryNumberOfSamplesUpTo2100) {
  Latency latency;
  std::vector<Picoseconds> samples;
  for (int n = 1; n <= 2100; ++n) {
    SCOPED_TRACE(n);
    samples.push_back(n * 7919 % 2111);
    latency.sample(samples.back());
    expect_equal(latency.summary(), expected(samples));
  }
}

TEST(LatencyTest, APercentileTellsSomethingFrom30SamplesBeyondItOn) {
  for (const std::uint64_t share : {100u, 200u, 1000u}) {
    Latency::Summary summary;
    summary.count = 30 * share - 1;
    EXPECT_FALSE(summary.tells(share)) << share;
    summary.count = 30 * share;
    EXPECT_TRUE(summary.tells(share)) << share;
  }
}

TEST(LatencyTest, EqualSamples) {
  Latency latency;
  for (int i = 0; i < 100'000; ++i) latency.sample(750 * ns);
  expect_equal(latency.summary(),
               {100'000, 750 * ns, 750 * ns, 750 * ns, 750 * ns, 750 * ns, 750 * ns, 1});
}

TEST(LatencyTest, ZeroAndTheLongestSpan) {
  Latency latency;
  latency.sample(never);
  latency.sample(0);
  expect_equal(latency.summary(), {2, 0, 0, never, never, never, never, 1});
}

TEST(LatencyTest, ManyAtRandomAreExact) {
  std::mt19937_64 random(1);
  Latency latency;
  std::vector<Picoseconds> samples;
  for (int i = 0; i < 100'000; ++i) {
    // Some values repeat, some do not, some need more than 32 bits.
    const Picoseconds span = static_cast<Picoseconds>(random() >> (random() % 2 == 0 ? 56 : 20));
    samples.push_back(span);
    latency.sample(span);
  }
  expect_equal(latency.summary(), expected(samples));
}

TEST(LatencyTest, AskingInBetweenChangesNothing) {
  std::mt19937_64 random(2);
  Latency asked, left_alone;
  for (int i = 0; i < 50'000; ++i) {
    const auto span = static_cast<Picoseconds>(random() % 10'000);
    asked.sample(span);
    left_alone.sample(span);
    if (i % 997 == 0) asked.summary();
  }
  expect_equal(asked.summary(), left_alone.summary());
}

class LatencyLimitTest : public testing::TestWithParam<Picoseconds> {};

TEST_P(LatencyLimitTest, AsManyDistinctValuesAsAreKeptAreExact) {
  const Picoseconds n = GetParam();
  Latency latency(static_cast<std::size_t>(n));
  for (Picoseconds i = n; i-- > 0;) latency.sample(3 * i + 1);
  expect_equal(latency.summary(),
               {std::uint64_t(n), 1, 3 * (n / 2 - 1) + 1, 3 * (n - n / 100 - 1) + 1,
                3 * (n - n / 200 - 1) + 1, 3 * (n - n / 1000 - 1) + 1, 3 * (n - 1) + 1, 1});
}

TEST_P(LatencyLimitTest, MoreDistinctValuesAreRoundedDownToTheResolution) {
  const Picoseconds n = 3 * GetParam();
  Latency latency(static_cast<std::size_t>(GetParam()));
  for (Picoseconds i = 0; i < n; ++i) latency.sample(2 * i + 1);
  const Latency::Summary summary = latency.summary();
  EXPECT_EQ(summary.count, std::uint64_t(n));
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 2 * n - 1);
  EXPECT_EQ(summary.resolution, 8);
  const Picoseconds median = 2 * ((n + 1) / 2) - 1, p99 = 2 * (n - n / 100) - 1;
  EXPECT_EQ(summary.median, median / 8 * 8);
  EXPECT_EQ(summary.p99, p99 / 8 * 8);
}

TEST_P(LatencyLimitTest, RoundingDownDoesNotFallBelowTheMinimum) {
  const Picoseconds n = GetParam() + 1;
  Latency latency(static_cast<std::size_t>(GetParam()));
  for (Picoseconds i = 0; i < n; ++i) latency.sample(i + 7);
  for (Picoseconds i = 0; i < 2 * n; ++i) latency.sample(7);
  EXPECT_EQ(latency.summary().median, 7);
  EXPECT_EQ(latency.summary().resolution, 2);
}

INSTANTIATE_TEST_SUITE_P(Limits, LatencyLimitTest, testing::Values(100, 4096, 10'000, 50'000));

}  // namespace
}  // namespace vp
