// SPDX-License-Identifier: Apache-2.0
#include "churn_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace {

constexpr unsigned samples = 40'000;

/// Whether that many of `samples` are a share of 1 in `parts`, within five standard deviations.
testing::AssertionResult share_is(unsigned count, double parts) {
  const double p = 1 / parts;
  if (std::fabs(count - samples * p) <= 5 * std::sqrt(samples * p * (1 - p))) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << count << " of " << samples;
}

TEST(ChurnChoice, ComesFromTheSeedAlone) {
  bool differs = false;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const churn_choice one = churn_choose(1, i, CHURN_ALL, 200, 0xff);
    const churn_choice same = churn_choose(1, i, CHURN_ALL, 200, 0xff);
    EXPECT_EQ(one.kind, same.kind);
    EXPECT_EQ(one.worker, same.worker);
    EXPECT_EQ(one.cpus, same.cpus);
    EXPECT_EQ(one.nice, same.nice);
    differs |= one.worker != churn_choose(2, i, CHURN_ALL, 200, 0xff).worker;
  }
  EXPECT_TRUE(differs);
}

TEST(ChurnChoice, MakesEachSetOfKindsEquallyOften) {
  for (unsigned kinds = 1; kinds <= unsigned{CHURN_ALL}; ++kinds) {
    std::map<int, unsigned> found;
    for (std::uint64_t i = 0; i < samples; ++i) ++found[churn_choose(3, i, kinds, 1, 1).kind];
    for (int kind = 0; kind < CHURN_KINDS; ++kind) {
      if (kinds >> kind & 1) {
        EXPECT_TRUE(share_is(found[kind], __builtin_popcount(kinds))) << kinds << " " << kind;
      } else {
        EXPECT_EQ(found[kind], 0u) << kinds << " " << kind;
      }
    }
  }
}

TEST(ChurnChoice, TakesEachWorkerEquallyOften) {
  for (const unsigned workers : {1u, 2u, 11u, 200u, 1024u}) {
    std::map<unsigned, unsigned> found;
    for (std::uint64_t i = 0; i < samples; ++i) {
      ++found[churn_choose(4, i, CHURN_ALL, workers, 1).worker];
    }
    EXPECT_EQ(found.size(), workers);
    for (const auto& [worker, count] : found) {
      EXPECT_LT(worker, workers);
      EXPECT_TRUE(share_is(count, workers)) << worker;
    }
  }
}

TEST(ChurnChoice, LeavesAllCpusButOne) {
  const std::uint64_t sets[] = {0x1, 0x80, 0x3, 0xb4, 0x8000'0000'0000'0001, ~std::uint64_t{0}};
  for (const std::uint64_t cpus : sets) {
    const unsigned count = static_cast<unsigned>(__builtin_popcountll(cpus));
    std::map<std::uint64_t, unsigned> found;
    for (std::uint64_t i = 0; i < samples; ++i) {
      ++found[churn_choose(5, i, CHURN_ALL, 8, cpus).cpus];
    }
    EXPECT_EQ(found.size(), count);
    for (const auto& [left, times] : found) {
      EXPECT_EQ(left & ~cpus, 0u);
      EXPECT_EQ(__builtin_popcountll(left), count == 1 ? 1 : static_cast<int>(count) - 1);
      EXPECT_TRUE(share_is(times, count));
    }
  }
}

TEST(ChurnChoice, GivesEachNiceValue) {
  std::map<int, unsigned> found;
  for (std::uint64_t i = 0; i < samples; ++i) ++found[churn_choose(6, i, CHURN_ALL, 8, 1).nice];
  EXPECT_EQ(found.size(), std::size_t{CHURN_NICE_VALUES});
  EXPECT_EQ(found.begin()->first, 0);
  for (const auto& [nice, count] : found) EXPECT_TRUE(share_is(count, CHURN_NICE_VALUES)) << nice;
}

}  // namespace
