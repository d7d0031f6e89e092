// SPDX-License-Identifier: Apache-2.0
#include "platforms/run/children_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/vp/temporary.h"

namespace platform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using vp::ExitCode;

class ChildrenSummaryTest : public testing::Test {
 protected:
  ~ChildrenSummaryTest() override { std::fclose(out_); }

  static vp::ChildResult result(std::size_t number, int code, int signal = 0, int guest_code = 0) {
    vp::ChildResult result;
    result.number = number;
    result.ending = {code, signal};
    result.note = {1'500 * vp::ms, guest_code};
    result.fork_time = std::chrono::microseconds(1'000 * (number + 1));
    result.wall_time = std::chrono::milliseconds(250);
    return result;
  }

  /// The lines printed so far.
  std::vector<std::string> lines() const {
    std::istringstream text(vp::contents(directory_.path("out")));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  bool finish() { return summary_.finish(directory_.path("summary.json"), "DIR"); }
  nlohmann::json json() const {
    return nlohmann::json::parse(vp::contents(directory_.path("summary.json")));
  }

  const vp::TemporaryDirectory directory_;
  const std::vector<std::string> commands_{"one", "two", "three", "four"};
  std::FILE* const out_ = std::fopen(directory_.path("out").c_str(), "w");
  ChildrenSummary summary_{commands_, out_};
};

TEST_F(ChildrenSummaryTest, PrintsEachChildAfterThoseBeforeIt) {
  summary_.add(result(1, 0));
  EXPECT_EQ(lines().size(), 0u);  // the heading is not flushed on its own
  summary_.add(result(0, 1, 0, 7));
  ASSERT_EQ(lines().size(), 3u);
  EXPECT_EQ(lines()[1], "    1  1 (guest 7)      1.500000 s    0.25 s  one");
  EXPECT_EQ(lines()[2], "    2  0                1.500000 s    0.25 s  two");
  summary_.add(result(3, 0));
  EXPECT_EQ(lines().size(), 3u);
  summary_.add(result(2, 0, SIGSEGV));
  ASSERT_EQ(lines().size(), 5u);
  EXPECT_EQ(lines()[3], "    3  SIGSEGV          1.500000 s    0.25 s  three");
  EXPECT_TRUE(finish());
  EXPECT_EQ(lines().back(),
            "2 of 4 children ended well; forked in 3.0 ms (median; 4.0 at most); output in DIR");
}

TEST_F(ChildrenSummaryTest, ReportsChildrenThatWereNotRun) {
  summary_.add(result(2, 0));
  summary_.add(result(0, 130));
  EXPECT_TRUE(finish());
  ASSERT_EQ(lines().size(), 4u);
  EXPECT_THAT(lines()[2], HasSubstr("three"));
  EXPECT_THAT(lines()[3], HasSubstr("1 of 4 children ended well, 2 were not run;"));
}

TEST_F(ChildrenSummaryTest, NoneAtAll) {
  EXPECT_TRUE(finish());
  EXPECT_EQ(lines().back(), "0 of 4 children ended well, 4 were not run; output in DIR");
}

TEST_F(ChildrenSummaryTest, WritesAFile) {
  summary_.add(result(1, 0, SIGKILL));
  summary_.add(result(0, 1, 0, 7));
  ASSERT_TRUE(finish());
  const nlohmann::json children = json()["children"];
  ASSERT_EQ(children.size(), 2u);
  EXPECT_EQ(children[0]["number"], 1);
  EXPECT_EQ(children[0]["command"], "one");
  EXPECT_EQ(children[0]["exit_code"], 1);
  EXPECT_EQ(children[0]["guest_code"], 7);
  EXPECT_EQ(children[0]["time_ps"], 1'500'000'000'000);
  EXPECT_EQ(children[0]["fork_ms"], 1.0);
  EXPECT_FALSE(children[0].contains("signal"));
  EXPECT_EQ(children[1]["exit_code"], nullptr);
  EXPECT_EQ(children[1]["signal"], SIGKILL);
}

TEST_F(ChildrenSummaryTest, ReportsAFileThatCannotBeWritten) {
  EXPECT_FALSE(summary_.finish("/dev/full", "DIR"));
  EXPECT_FALSE(summary_.finish(directory_.path("none/summary.json"), "DIR"));
}

TEST(ChildrenSummary, TheWorstEndingCounts) {
  const std::vector<std::string> commands(7, "x");
  for (const auto& [a, b] :
       std::vector<std::pair<int, int>>{{0, 1}, {1, 5}, {5, 130}, {130, 3}, {3, 4}, {4, 6}}) {
    for (const auto& order : {std::pair{a, b}, std::pair{b, a}}) {
      std::FILE* out = std::fopen("/dev/null", "w");
      ChildrenSummary summary(commands, out);
      vp::ChildResult first, second;
      first.ending = {order.first, 0};
      second.number = 1;
      second.ending = {order.second, 0};
      summary.add(first);
      summary.add(second);
      EXPECT_EQ(static_cast<int>(summary.exit_code()), b) << a;
      std::fclose(out);
    }
  }
}

TEST(ChildrenSummary, ACrashIsADefect) {
  const std::vector<std::string> commands(1, "x");
  std::FILE* out = std::fopen("/dev/null", "w");
  ChildrenSummary summary(commands, out);
  vp::ChildResult result;
  result.ending = {0, SIGABRT};
  summary.add(result);
  EXPECT_EQ(summary.exit_code(), ExitCode::broken_promise);
  std::fclose(out);
}

}  // namespace
}  // namespace platform
