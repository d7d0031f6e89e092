// SPDX-License-Identifier: Apache-2.0
#include "models/ipu/poisson_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ipu {
namespace {

constexpr long double unit = 1.0L / (1ull << 40);

// The C library's logarithm is the reference. Its 64 bits are enough for 40 digits and 64 in front.
TEST(PoissonProcess, TakesLogarithmsOfAllMagnitudes) {
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 100'000; ++i) {
    const std::uint64_t x = random() >> random() % 64;
    if (x == 0) continue;
    const long double expected = -std::log(static_cast<long double>(x) / 0x1p64L);
    const long double value = PoissonProcess::negative_logarithm(x) * unit;
    ASSERT_LT(std::fabs(value - expected), 2 * unit) << x;
  }
  for (std::uint64_t x : {std::uint64_t{1}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const long double expected = -std::log(static_cast<long double>(x) / 0x1p64L);
    EXPECT_LT(std::fabs(PoissonProcess::negative_logarithm(x) * unit - expected), 2 * unit) << x;
  }
}

// The distribution is exponential: P(t > k mean) = e^-k, within five standard deviations.
TEST(PoissonProcess, TimesAreExponential) {
  constexpr vp::Picoseconds mean = 667'000;
  constexpr unsigned samples = 200'000;
  PoissonProcess process(7, mean);
  std::vector<unsigned> longer(5);
  long double sum = 0;
  for (unsigned i = 0; i < samples; ++i) {
    const vp::Picoseconds time = process.next();
    ASSERT_GE(time, 0);
    sum += time;
    for (unsigned k = 0; k < 5; ++k) longer[k] += time > static_cast<vp::Picoseconds>(k) * mean;
  }
  EXPECT_NEAR(static_cast<double>(sum / samples), mean, 5 * mean / std::sqrt(samples));
  for (unsigned k = 1; k < 5; ++k) {
    const double p = std::exp(-static_cast<double>(k));
    EXPECT_NEAR(longer[k], samples * p, 5 * std::sqrt(samples * p * (1 - p))) << k;
  }
}

// A time is a whole number of picoseconds, but their mean is none the shorter for it.
TEST(PoissonProcess, TheMeanIsExact) {
  constexpr unsigned samples = 1'000'000;
  for (const vp::Picoseconds mean : {1, 2, 3, 10}) {
    PoissonProcess process(11, mean);
    vp::Picoseconds sum = 0;
    for (unsigned i = 0; i < samples; ++i) sum += process.next();
    EXPECT_NEAR(static_cast<double>(sum) / samples, mean, 5 * mean / std::sqrt(samples)) << mean;
  }
}

TEST(PoissonProcess, EqualSeedsGiveEqualTimes) {
  PoissonProcess first(3, 1'000'000), second(3, 1'000'000), other(4, 1'000'000);
  bool differs = false;
  for (unsigned i = 0; i < 100; ++i) {
    const vp::Picoseconds time = first.next();
    EXPECT_EQ(second.next(), time);
    differs |= other.next() != time;
  }
  EXPECT_TRUE(differs);
}

// A change of the generator would change the results of all studies.
TEST(PoissonProcess, TheTimesOfASeedNeverChange) {
  PoissonProcess process(1, 1'000'000);
  std::vector<vp::Picoseconds> times(4);
  for (vp::Picoseconds& time : times) time = process.next();
  EXPECT_EQ(times, (std::vector<vp::Picoseconds>{2010836, 1992112, 795811, 3862080}));
}

TEST(PoissonProcess, EventsHappenInTheirShare) {
  PoissonProcess process(5, 1);
  unsigned happened = 0;
  constexpr unsigned samples = 200'000;
  for (unsigned i = 0; i < samples; ++i) happened += process.happens(21'474'836);  // 0.5 %
  EXPECT_NEAR(happened, 1000, 5 * std::sqrt(1000));
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_FALSE(process.happens(0));
  }
}

}  // namespace
}  // namespace ipu
