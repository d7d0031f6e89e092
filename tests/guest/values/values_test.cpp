// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace {

using Value = std::optional<std::uint64_t>;

template <typename Function, typename... Limit>
Value read(Function function, const std::string& text, Limit... limit) {
  std::uint64_t value = 0;
  return function(text.c_str(), limit..., &value) ? Value(value) : std::nullopt;
}

Value number(const std::string& text, std::uint64_t max) {
  return read(value_number, text, max);
}
Value rate(const std::string& text, std::uint64_t max = 100'000'000) {
  return read(value_rate, text, max);
}
Value span(const std::string& text) {
  return read(value_time, text);
}
Value share(const std::string& text) {
  return read(value_share, text);
}
Value cpus(const std::string& text, unsigned count) {
  return read(value_cpus, text, count);
}

TEST(Values, Numbers) {
  for (const std::uint64_t max : {0ull, 1ull, 9ull, 10ull, 4294967295ull, ~0ull - 1, ~0ull}) {
    EXPECT_EQ(number(std::to_string(max), max), max);
    EXPECT_EQ(number("0", max), 0u);
    EXPECT_EQ(number("0" + std::to_string(max), max), max);
    if (max != ~0ull) {
      EXPECT_EQ(number(std::to_string(max + 1), max), std::nullopt) << max;
    }
    EXPECT_EQ(number(std::to_string(max) + "0", max / 10 * 9), max == 0 ? Value(0) : std::nullopt);
  }
  EXPECT_EQ(number("18446744073709551616", ~0ull), std::nullopt);
  EXPECT_EQ(number("99999999999999999999999", ~0ull), std::nullopt);
  for (const char* text : {"", " 1", "1 ", "-1", "+1", "1.0", "0x1", "a"}) {
    EXPECT_EQ(number(text, 100), std::nullopt) << text;
  }
}

TEST(Values, Rates) {
  EXPECT_EQ(rate("20000"), 20'000u);
  EXPECT_EQ(rate("20k"), 20'000u);
  EXPECT_EQ(rate("1.5M"), 1'500'000u);
  EXPECT_EQ(rate("0.001k"), 1u);
  EXPECT_EQ(rate("0"), 0u);
  EXPECT_EQ(rate("100M"), 100'000'000u);
  EXPECT_EQ(rate("1", 1), 1u);
  for (const char* text :
       {"0.0001k", "1.5", "101M", "1G", "k", "1.k", ".5M", "1.5 M", "1.0000001M"}) {
    EXPECT_EQ(rate(text), std::nullopt) << text;
  }
}

TEST(Values, Times) {
  EXPECT_EQ(span("30us"), 30'000u);
  EXPECT_EQ(span("1.5ms"), 1'500'000u);
  EXPECT_EQ(span("0us"), 0u);
  EXPECT_EQ(span("1ns"), 1u);
  EXPECT_EQ(span("0.001us"), 1u);
  EXPECT_EQ(span("1000s"), 1'000'000'000'000u);
  for (const char* text : {"30", "0.5ns", "1000.000001s", "1001s", "us", "1 us", "-1us", "1m"}) {
    EXPECT_EQ(span(text), std::nullopt) << text;
  }
}

TEST(Values, Shares) {
  EXPECT_EQ(share("0%"), 0u);
  EXPECT_EQ(share("50%"), 0x8000'0000u);
  EXPECT_EQ(share("0.5%"), 21'474'836u);
  EXPECT_EQ(share("100%"), 0xffff'ffffu) << "as much as the device knows";
  EXPECT_EQ(share("0.000001%"), 43u);
  for (const char* text : {"0.5", "%", "100.000001%", "101%", "-1%", "0.0000001%", "1%%"}) {
    EXPECT_EQ(share(text), std::nullopt) << text;
  }
}

TEST(Values, Cpus) {
  EXPECT_EQ(cpus("0", 1), 1u);
  EXPECT_EQ(cpus("0-3,5", 8), 0x2fu);
  EXPECT_EQ(cpus("63", 64), std::uint64_t{1} << 63);
  EXPECT_EQ(cpus("0-63", 64), ~std::uint64_t{0});
  EXPECT_EQ(cpus("2-2,2", 4), 4u);
  for (const char* text : {"", "4", "0-4", "3-2", "0,", ",0", "0-", "-", "a", "0 1"}) {
    EXPECT_EQ(cpus(text, 4), std::nullopt) << text;
  }
}

}  // namespace
