// SPDX-License-Identifier: Apache-2.0
#include "guest/oae/latency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

/// The samples 1 to n, in falling order.
latency of_first(std::size_t n) {
  std::vector<std::uint64_t> samples(n);
  std::iota(samples.rbegin(), samples.rend(), 1);
  return latency_of(samples.data(), n);
}

TEST(Latency, NoneIsAllZero) {
  const latency none = latency_of(nullptr, 0);
  EXPECT_EQ(none.min, 0u);
  EXPECT_EQ(none.median, 0u);
  EXPECT_EQ(none.p99, 0u);
  EXPECT_EQ(none.max, 0u);
}

TEST(Latency, RanksOfEachCount) {
  for (std::size_t n = 1; n <= 1000; ++n) {
    const latency all = of_first(n);
    ASSERT_EQ(all.min, 1u);
    ASSERT_EQ(all.max, n);
    // Sample k is the smallest that k samples do not exceed.
    ASSERT_GE(all.median * 2, n) << n;
    ASSERT_LT((all.median - 1) * 2, n) << n;
    ASSERT_GE(all.p99 * 100, n * 99) << n;
    ASSERT_LT((all.p99 - 1) * 100, n * 99) << n;
  }
}

TEST(Latency, OneOutlierOfAHundredIsBeyondP99) {
  std::vector<std::uint64_t> samples(100, 10);
  samples[17] = 1000;
  const latency all = latency_of(samples.data(), samples.size());
  EXPECT_EQ(all.p99, 10u);
  EXPECT_EQ(all.max, 1000u);
}

TEST(Latency, OrdersTheWholeRange) {
  std::vector<std::uint64_t> samples = {~std::uint64_t{0}, 1, std::uint64_t{1} << 63};
  const latency all = latency_of(samples.data(), samples.size());
  EXPECT_EQ(all.min, 1u);
  EXPECT_EQ(all.median, std::uint64_t{1} << 63);
  EXPECT_EQ(all.max, ~std::uint64_t{0});
}

}  // namespace
