// SPDX-License-Identifier: Apache-2.0
#include "platforms/machine/outcome.h"

#include <gtest/gtest.h>

#include "vp/time/time.h"

namespace platform {
namespace {

using vp::ExitCode;

/// Two parts that no link joins. An end needs the longest quantum to reach both.
class OutcomeTest : public testing::Test {
 protected:
  OutcomeTest() {
    outcome_.add(host_);
    outcome_.add(ipu_);
  }

  vp::Domain host_{"host"}, ipu_{"ipu"};
  Outcome outcome_;
};

TEST_F(OutcomeTest, AnEndComesWhenItHasReachedAllDomains) {
  outcome_.end(ExitCode::success, "off");
  EXPECT_TRUE(outcome_.ended());
  EXPECT_FALSE(outcome_.over());
  EXPECT_EQ(outcome_.end_time(), vp::now() + longest_quantum);
}

TEST_F(OutcomeTest, TheFirstEndOfTheSimulatedWorldCounts) {
  outcome_.end(ExitCode::failed, "the first");
  outcome_.end(ExitCode::success, "the second");
  EXPECT_EQ(outcome_.code(), ExitCode::failed);
  EXPECT_EQ(outcome_.why(), "the first");
}

TEST_F(OutcomeTest, AStopReplacesAnEndThatIsStillOnItsWay) {
  outcome_.end(ExitCode::success, "off");
  outcome_.stop(ExitCode::interrupted, "interrupted");
  EXPECT_TRUE(outcome_.over());
  EXPECT_EQ(outcome_.code(), ExitCode::interrupted);
  EXPECT_EQ(outcome_.why(), "interrupted");
}

TEST_F(OutcomeTest, ARunThatIsOverIsNotStopped) {
  outcome_.stop(ExitCode::limit, "the limit");
  outcome_.stop(ExitCode::interrupted, "interrupted");
  EXPECT_EQ(outcome_.code(), ExitCode::limit);
}

TEST_F(OutcomeTest, ADefectCountsEvenIfTheRunIsOver) {
  outcome_.stop(ExitCode::success, "off");
  outcome_.abandon(ExitCode::broken_promise, "a defect");
  EXPECT_EQ(outcome_.code(), ExitCode::broken_promise);
  EXPECT_EQ(outcome_.why(), "a defect");
}

}  // namespace
}  // namespace platform
