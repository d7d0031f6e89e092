// SPDX-License-Identifier: Apache-2.0
#include "vp/statistics/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/vp/temporary.h"

namespace vp {
namespace {

using testing::HasSubstr;

TEST(StatisticsTest, ReadsTheValuesWhenAsked) {
  std::uint64_t tlps = 0;
  Latency read;
  Statistics statistics;
  statistics.counter("link.tlps", tlps);
  statistics.latency("link.read", read);
  EXPECT_EQ(statistics.json().dump(),
            R"({"counters":{"link.tlps":0},"latencies_ps":{"link.read":{"count":0}}})");
  tlps = ~std::uint64_t{0};
  for (int i = 1; i <= 200; ++i) read.sample(i * 1000);
  EXPECT_EQ(statistics.json().dump(),
            R"({"counters":{"link.tlps":18446744073709551615},"latencies_ps":{"link.read":)"
            R"({"count":200,"max":200000,"median":100000,"min":1000,)"
            R"("p99":"too few","p99.5":"too few","p99.9":"too few"}}})");
}

TEST(StatisticsTest, ReportsAPercentileOnlyIf30SamplesLieBeyondIt) {
  Latency latency;
  Statistics statistics;
  statistics.latency("a", latency);
  auto reported = [&, last = 0](int n, const char* key) mutable {
    while (last < n) latency.sample(++last);
    return statistics.json()["latencies_ps"]["a"][key];
  };
  EXPECT_EQ(reported(2999, "p99"), "too few");
  EXPECT_EQ(reported(3000, "p99"), 2970);
  EXPECT_EQ(reported(5999, "p99.5"), "too few");
  EXPECT_EQ(reported(6000, "p99.5"), 5970);
  EXPECT_EQ(reported(29999, "p99.9"), "too few");
  EXPECT_EQ(reported(30000, "p99.9"), 29970);
}

TEST(StatisticsTest, IsSortedByNameHoweverRegistered) {
  const std::uint64_t value = 1;
  Statistics statistics;
  for (const char* name : {"b", "a.b", "c", "a"}) statistics.counter(name, value);
  EXPECT_EQ(statistics.json()["counters"].dump(), R"({"a":1,"a.b":1,"b":1,"c":1})");
}

TEST(StatisticsTest, NothingRegisteredIsEmptyObjects) {
  EXPECT_EQ(Statistics().json().dump(), R"({"counters":{},"latencies_ps":{}})");
}

TEST(StatisticsTest, ANameIsTakenOnce) {
  const std::uint64_t value = 1;
  const Latency latency;
  Statistics statistics;
  statistics.counter("a", value);
  statistics.latency("a", latency);
  EXPECT_THROW(statistics.counter("a", value), std::logic_error);
  EXPECT_THROW(statistics.latency("a", latency), std::logic_error);
}

TEST(StatisticsTest, ReportsTheResolutionOfWhatIsRounded) {
  Latency latency(100);
  for (Picoseconds i = 0; i <= 100; ++i) latency.sample(i);
  Statistics statistics;
  statistics.latency("a", latency);
  EXPECT_EQ(statistics.json()["latencies_ps"]["a"]["resolution"], 2);
}

TEST(StatisticsTest, WritesAFileWithTheHead) {
  TemporaryDirectory directory;
  const std::string path = directory.path("statistics.json");
  const std::uint64_t value = 5;
  Statistics statistics;
  statistics.counter("a", value);
  statistics.write(path, {{"time_ps", 7}});
  EXPECT_EQ(nlohmann::json::parse(contents(path)).dump(),
            R"({"counters":{"a":5},"latencies_ps":{},"time_ps":7})");
}

TEST(StatisticsTest, AFileThatTakesNothingIsAnErrorWithItsPath) {
  const auto error_of = [](const std::string& path) {
    try {
      Statistics().write(path, nlohmann::json::object());
    } catch (const StatisticsError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(error_of("/dev/full"), HasSubstr("/dev/full: No space left on device"));
  EXPECT_THAT(error_of("/missing/file"), HasSubstr("/missing/file: No such file or directory"));
}

}  // namespace
}  // namespace vp
