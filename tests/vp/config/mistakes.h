// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "vp/config/report.h"

/// The mistakes that an action throws, or none.
template <class Action>
vp::config::Report mistakes_of(Action&& action) {
  try {
    action();
  } catch (const vp::config::Mistakes& mistakes) {
    return mistakes.report();
  }
  return {};
}

/// The place of a problem, `line:column`.
inline std::string place(const vp::config::Problem& problem) {
  return std::to_string(problem.origin.line) + ":" + std::to_string(problem.origin.column);
}

/// Expects one mistake at `where` whose parts contain these texts.
inline void expect_one(const vp::config::Report& report, const std::string& where,
                       const std::string& found, const std::string& accepted,
                       const std::string& remedy) {
  ASSERT_EQ(report.count(), 1u) << report.text();
  const vp::config::Problem& problem = report.problems()[0];
  EXPECT_EQ(place(problem), where) << report.text();
  EXPECT_THAT(problem.found, testing::HasSubstr(found));
  EXPECT_THAT(problem.accepted, testing::HasSubstr(accepted));
  EXPECT_THAT(problem.remedy, testing::HasSubstr(remedy));
}
