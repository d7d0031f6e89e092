// SPDX-License-Identifier: Apache-2.0
#include "vp/config/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

using namespace vp::config;
using testing::HasSubstr;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

const Quantity* const quantities[] = {&duration_quantity(), &size_quantity(), &frequency_quantity(),
                                      &bit_rate_quantity(), &instruction_rate_quantity()};

struct Exact {
  const Quantity& quantity;
  const char* text;
  std::int64_t value;
};

TEST(Units, AreExact) {
  const Exact table[] = {
      {duration_quantity(), "250ns", 250'000},
      {duration_quantity(), "1.5us", 1'500'000},
      {duration_quantity(), "0.001ns", 1},
      {duration_quantity(), "1ps", 1},
      {duration_quantity(), "0s", 0},
      {duration_quantity(), "0.000000000001s", 1},
      {duration_quantity(), "1.000000000001s", 1'000'000'000'001},
      {duration_quantity(), "9223372.036854775807s", largest},
      {duration_quantity(), "9223372036854775807ps", largest},
      {duration_quantity(), "00250ns", 250'000},
      {duration_quantity(), "250 ns", 250'000},
      {duration_quantity(), "1.50000000000000000000000000000us", 1'500'000},
      {size_quantity(), "512MiB", 536'870'912},
      {size_quantity(), "4KiB", 4'096},
      {size_quantity(), "1B", 1},
      {size_quantity(), "1.5GiB", 1'610'612'736},
      {size_quantity(), "0.0009765625KiB", 1},
      {size_quantity(), "8388607TiB", 8'388'607LL << 40},
      {frequency_quantity(), "500MHz", 500'000'000},
      {frequency_quantity(), "2.5GHz", 2'500'000'000},
      {frequency_quantity(), "2.500000001GHz", 2'500'000'001},
      {frequency_quantity(), "1Hz", 1},
      {frequency_quantity(), "32.768kHz", 32'768},
      {bit_rate_quantity(), "200Gb/s", 200'000'000'000},
      {bit_rate_quantity(), "25GB/s", 200'000'000'000},
      {bit_rate_quantity(), "0.125B/s", 1},
      {bit_rate_quantity(), "1.6Tb/s", 1'600'000'000'000},
      {instruction_rate_quantity(), "1GIPS", 1'000'000'000},
      {instruction_rate_quantity(), "2.5GIPS", 2'500'000'000},
      {instruction_rate_quantity(), "2500MIPS", 2'500'000'000},
  };
  for (const Exact& each : table) {
    const Measured measured = measure(each.text, each.quantity);
    EXPECT_EQ(measured.found, "") << each.text;
    EXPECT_EQ(measured.value, each.value) << each.text;
  }
}

TEST(Units, RefuseWithRemedy) {
  struct Wrong {
    const Quantity& quantity;
    const char *text, *found, *remedy;
  };
  const Wrong table[] = {
      {duration_quantity(), "250", "has no unit", "ps, ns, us, ms or s"},
      {duration_quantity(), "", "not a number with a unit", "`250ns`"},
      {duration_quantity(), "ns", "not a number with a unit", "`250ns`"},
      {duration_quantity(), ".5us", "not a number with a unit", "`250ns`"},
      {duration_quantity(), "5.us", "no digit after the point", "digit"},
      {duration_quantity(), "-5ns", "negative", "without"},
      {duration_quantity(), "+5ns", "not a number", "`250ns`"},
      {duration_quantity(), "1e3ns", "`e3ns` is not a unit of duration", ""},
      {duration_quantity(), "1,5us", "`,5us` is not a unit of duration", ""},
      {duration_quantity(), "1.2.3us", "`.3us` is not a unit of duration", ""},
      {duration_quantity(), "250  ns", "is not a unit", ""},
      {duration_quantity(), "250ns ", "is not a unit", "did you mean `250ns`"},
      {duration_quantity(), " 250ns", "not a number", ""},
      {duration_quantity(), "250NS", "`NS` is not a unit", "did you mean `250ns`"},
      {duration_quantity(), "5\u00b5s", "is not a unit", "did you mean `5us`"},
      {duration_quantity(), "5\u03bcs", "is not a unit", "did you mean `5us`"},
      {duration_quantity(), "5sec", "is not a unit", "did you mean `5s`"},
      {duration_quantity(), "5min", "is not a unit", "write one of"},
      {duration_quantity(), "0.0005ns", "not a whole number of ps", "multiple of 1ps"},
      {duration_quantity(), "1.0000000000001s", "not a whole number of ps", "1ps"},
      {duration_quantity(), "0.5ps", "not a whole number of ps", "1ps"},
      {duration_quantity(), "9223372.036854775808s", "too large", ""},
      {duration_quantity(), "9223372036854775808ps", "too large", ""},
      {duration_quantity(), "9223373s", "too large", ""},
      {duration_quantity(), "99999999999999999999999999999999999999999999s", "too large", ""},
      {duration_quantity(), "0.00000000000000000000000000000001s", "not a whole number", ""},
      {size_quantity(), "512MB", "`MB` is not a unit of size", "did you mean `512MiB`"},
      {size_quantity(), "512M", "is not a unit", "did you mean `512MiB`"},
      {size_quantity(), "4k", "is not a unit", "write one of"},
      {size_quantity(), "4kib", "is not a unit", "did you mean `4KiB`"},
      {size_quantity(), "0.3KiB", "not a whole number of B", "1B"},
      {size_quantity(), "8388608TiB", "too large", ""},
      {frequency_quantity(), "500mhz", "is not a unit", "did you mean `500MHz`"},
      {frequency_quantity(), "500M", "is not a unit", "did you mean `500MHz`"},
      {bit_rate_quantity(), "200Gbps", "is not a unit", "did you mean `200Gb/s`"},
      {bit_rate_quantity(), "200Gbit/s", "is not a unit", "did you mean `200Gb/s`"},
      {instruction_rate_quantity(), "2.5GHz", "is not a unit", "did you mean `2.5GIPS`"},
  };
  for (const Wrong& each : table) {
    const Measured measured = measure(each.text, each.quantity);
    EXPECT_THAT(measured.found, HasSubstr(each.found)) << each.text;
    EXPECT_NE(measured.found, "") << each.text;
    EXPECT_THAT(measured.remedy, HasSubstr(each.remedy)) << each.text;
  }
}

// Every printed value reads back as the same value, around every power of two and of ten.
TEST(Units, PrintAndReadAgree) {
  for (const Quantity* quantity : quantities) {
    const auto check = [&](std::int64_t value) {
      const Measured measured = measure(quantity->print(value), *quantity);
      EXPECT_EQ(measured.found, "");
      EXPECT_EQ(measured.value, value) << quantity->print(value);
    };
    for (unsigned bit = 0; bit < 63; ++bit)
      for (std::int64_t delta = -2; delta <= 2; ++delta)
        if ((std::int64_t{1} << bit) + delta >= 0) check((std::int64_t{1} << bit) + delta);
    for (std::int64_t power = 1; power < largest / 10; power *= 10)
      for (std::int64_t delta = -1; delta <= 1; ++delta) check(power + delta);
    check(largest);
  }
}

// A decimal fraction of a unit equals the result of integer arithmetic, for every unit and number
// of digits.
TEST(Units, FractionsAreExactForEveryUnit) {
  std::mt19937_64 random(1);
  for (const Quantity* quantity : quantities)
    for (const Unit& unit : quantity->units)
      for (unsigned digits = 1; digits <= 12; ++digits)
        for (int round = 0; round < 20; ++round) {
          const std::uint64_t whole = random() % 1000;
          std::uint64_t power = 1;
          for (unsigned i = 0; i < digits; ++i) power *= 10;
          const std::uint64_t part = random() % power;
          std::string fraction = std::to_string(part);
          fraction.insert(0, digits - fraction.size(), '0');
          const std::string text = std::to_string(whole) + "." + fraction + std::string(unit.name);
          const unsigned __int128 scaled =
              (static_cast<unsigned __int128>(whole) * power + part) * unit.factor;
          const Measured measured = measure(text, *quantity);
          if (scaled % power != 0) {
            EXPECT_THAT(measured.found, HasSubstr("not a whole number")) << text;
          } else {
            EXPECT_EQ(measured.found, "") << text;
            EXPECT_TRUE(static_cast<unsigned __int128>(measured.value) == scaled / power) << text;
          }
        }
}

TEST(Units, PrintInTheLargestThatNeedsNoFraction) {
  EXPECT_EQ(duration_quantity().print(0), "0ps");
  EXPECT_EQ(duration_quantity().print(250'000), "250ns");
  EXPECT_EQ(duration_quantity().print(1'500'000), "1500ns");
  EXPECT_EQ(duration_quantity().print(1'000'000'000'000), "1s");
  EXPECT_EQ(size_quantity().print(512 << 20), "512MiB");
  EXPECT_EQ(frequency_quantity().print(2'500'000'000), "2500MHz");
  EXPECT_EQ(bit_rate_quantity().print(200'000'000'000), "25GB/s");
}

}  // namespace
