// SPDX-License-Identifier: Apache-2.0
#include "service.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "records.h"

namespace {

TEST(Spinner, AddsAnExponentiallyDistributedTime) {
  constexpr unsigned samples = 50'000;
  service_options options{};
  options.seed = 7;
  options.get_ns = 10'000;
  options.exponential_ns = 1'000;
  double sum = 0;
  unsigned longer = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const std::uint64_t ns = spinner_get_ns(&options, i);
    ASSERT_GE(ns, options.get_ns);
    EXPECT_EQ(ns, spinner_get_ns(&options, i));
    sum += static_cast<double>(ns - options.get_ns);
    longer += ns - options.get_ns >= 2 * options.exponential_ns;
  }
  // What is rounded off is half a nanosecond.
  EXPECT_NEAR(sum / samples, 999.5, 5 * 1'000 / std::sqrt(samples));
  const double p = std::exp(-2.0);
  EXPECT_NEAR(longer, samples * p, 5 * std::sqrt(samples * p * (1 - p)));
  options.exponential_ns = 0;
  EXPECT_EQ(spinner_get_ns(&options, 1), options.get_ns);
}

TEST(Records, HaveKeysInTheOrderOfTheirNumbers) {
  std::string last;
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128},
        std::uint64_t{255}, std::uint64_t{256}, std::uint64_t{65'536}, std::uint64_t{999'999}}) {
    char key[RECORD_KEY];
    record_key(number, key);
    const std::string text(key, sizeof key);
    if (number > 0) {
      EXPECT_LT(last, text) << number;
    }
    last = text;
  }
}

TEST(Records, HaveValuesOfTheirOwn) {
  std::set<std::string> values;
  for (std::uint64_t number = 0; number < 1000; ++number) {
    char value[RECORD_VALUE];
    record_value(number, value);
    EXPECT_TRUE(record_is(number, value, sizeof value));
    EXPECT_FALSE(record_is(number, value, sizeof value - 1));
    EXPECT_FALSE(record_is(number + 1, value, sizeof value));
    for (char& byte : value) {
      byte = static_cast<char>(byte ^ 1);
      EXPECT_FALSE(record_is(number, value, sizeof value));
      byte = static_cast<char>(byte ^ 1);
    }
    values.insert(std::string(value, sizeof value));
  }
  EXPECT_EQ(values.size(), 1000u);
}

}  // namespace
