// SPDX-License-Identifier: Apache-2.0
#include "vp/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vp/log_capture.h"
#include "vp/time/time.h"

namespace vp {
namespace {

using testing::HasSubstr;

TEST(LogTest, LinesBeginWithTheSimulatedTime) {
  LogCapture log;
  spdlog::logger& logger = log::get("pcie");
  logger.warn("link {} is down", 3);
  sc_core::sc_start(to_sc_time(1'234'567'890'123));
  logger.error("{}", "up");
  sc_core::sc_start(to_sc_time(12'345 * s));
  logger.info("late");
  EXPECT_EQ(log.text(),
            "[   0.000000000000 s] pcie warning: link 3 is down\n"
            "[   1.234567890123 s] pcie error: up\n"
            "[12346.234567890123 s] pcie info: late\n");
}

TEST(LogTest, ALineFromOutsideIsNotAFormat) {
  LogCapture log;
  log::get("pcie").info("{}", "{} %s {:x}");
  EXPECT_THAT(log.text(), HasSubstr("pcie info: {} %s {:x}\n"));
}

TEST(LogTest, AComponentKeepsItsLogger) {
  spdlog::logger& logger = log::get("a");
  for (int i = 0; i < 100; ++i) log::get("other" + std::to_string(i));
  EXPECT_EQ(&log::get("a"), &logger);
  EXPECT_NE(&log::get("other0"), &logger);
}

TEST(LogTest, InformationIsShownAtFirstAndDebuggingIsNot) {
  LogCapture log;
  spdlog::logger& logger = log::get("a");
  EXPECT_TRUE(logger.should_log(spdlog::level::info));
  EXPECT_FALSE(logger.should_log(spdlog::level::debug));
  logger.debug("hidden");
  EXPECT_EQ(log.text(), "");
}

TEST(LogTest, EveryLevelShowsItselfAndWhatIsWorse) {
  LogCapture log;
  spdlog::logger& logger = log::get("a");
  const std::string names[] = {"trace", "debug", "info", "warning", "error", "critical", "off"};
  for (int set = 0; set < 7; ++set) {
    log::set_level("a", names[set]);
    for (int level = 0; level < 6; ++level) {
      EXPECT_EQ(logger.should_log(static_cast<spdlog::level::level_enum>(level)), level >= set)
          << names[set] << " " << level;
    }
  }
  log::set_level("a", "trace");
  for (int level = 0; level < 6; ++level) {
    logger.log(static_cast<spdlog::level::level_enum>(level), "text");
    EXPECT_THAT(log.text(), HasSubstr("a " + names[level] + ": text\n"));
  }
}

TEST(LogTest, LevelsAreSetPerComponentOrForAll) {
  spdlog::logger& a = log::get("a");
  spdlog::logger& b = log::get("b");
  log::set_level("a=debug");
  EXPECT_EQ(a.level(), spdlog::level::debug);
  EXPECT_EQ(b.level(), spdlog::level::info);
  log::set_level("error");
  EXPECT_EQ(a.level(), spdlog::level::err);
  EXPECT_EQ(b.level(), spdlog::level::err);
  EXPECT_EQ(log::get("later").level(), spdlog::level::err);
  log::set_level("all=off");
  EXPECT_EQ(a.level(), spdlog::level::off);
  log::set_level("b", "warning");
  EXPECT_EQ(b.level(), spdlog::level::warn);
}

TEST(LogTest, AnUnknownComponentOrLevelIsAMistakeThatNamesWhatThereIs) {
  log::get("a");
  log::get("b");
  const auto mistake = [](const char* assignment, const std::string& message) {
    try {
      log::set_level(assignment);
      ADD_FAILURE() << assignment;
    } catch (const log::Mistake& mistake) {
      EXPECT_EQ(mistake.what(), message);
    }
  };
  mistake("c=debug", "unknown log component \"c\"; components are: all, a, b");
  mistake("=debug", "unknown log component \"\"; components are: all, a, b");
  const std::string levels = "; levels are: trace, debug, info, warning, error, critical, off";
  mistake("a=loud", "unknown log level \"loud\"" + levels);
  mistake("a=", "unknown log level \"\"" + levels);
  mistake("", "unknown log level \"\"" + levels);
  mistake("a=debug=1", "unknown log level \"debug=1\"" + levels);
  mistake("Debug", "unknown log level \"Debug\"" + levels);
  EXPECT_EQ(log::get("a").level(), spdlog::level::info);
}

TEST(LogTest, ASinkIsForThoseWhoAskedBeforeToo) {
  spdlog::logger& logger = log::get("a");
  {
    LogCapture log;
    logger.error("kept");
    EXPECT_THAT(log.text(), HasSubstr("kept"));
  }
  testing::internal::CaptureStderr();
  logger.error("shown");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("shown"));
}

TEST(LogTest, GoesToStandardErrorWithoutColourWhereThereIsNoTerminal) {
  testing::internal::CaptureStderr();
  log::get("a").error("text");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[   0.000000000000 s] a error: text\n");
}

}  // namespace
}  // namespace vp
