// SPDX-License-Identifier: Apache-2.0
#include "vp/time/wall_clock.h"

#include <gtest/gtest.h>

#include "vp/time/domain.h"

namespace vp {
namespace {

using std::chrono::milliseconds;

class WallClockTest : public testing::Test {
 protected:
  void run(Picoseconds span) {
    WallClock::look();
    sc_core::sc_start(to_sc_time(span));
  }
  ~WallClockTest() override { WallClock::stop(); }

  Domain domain_{"domain"};
};

// Each of these would hang without the pause.

TEST_F(WallClockTest, DeltaCyclesWithoutEndArePaused) {
  sc_core::sc_spawn([] {
    for (;;) sc_core::wait(sc_core::SC_ZERO_TIME);
  });
  WallClock::start(milliseconds(5));
  for (int i = 0; i < 3; ++i) run(1 * us);
  EXPECT_GT(sc_core::sc_delta_count(), 100u);
}

TEST_F(WallClockTest, AppointmentsWithoutEndArePaused) {
  std::uint64_t kept = 0;
  Event endless(domain_, [&] {
    ++kept;
    endless.after(0);
  });
  endless.at(5);
  WallClock::start(milliseconds(5));
  for (int i = 0; i < 3; ++i) run(1 * us);
  EXPECT_GT(kept, 100u);
}

TEST_F(WallClockTest, WhoLooksInTimeIsNotPaused) {
  Event tick(domain_, [&] {
    WallClock::look();
    tick.after(1 * us);
  });
  tick.at(5);
  WallClock::start(milliseconds(200));
  run(100 * ms);
  EXPECT_EQ(now(), 100 * ms);
  EXPECT_FALSE(WallClock::pausing());
}

TEST_F(WallClockTest, AskedForItSaysSo) {
  WallClock::start(milliseconds(1));
  while (!WallClock::pausing()) {
  }
  WallClock::look();
  EXPECT_FALSE(WallClock::pausing());
}

TEST_F(WallClockTest, AnIntervalOfZeroMakesItAlwaysSaySo) {
  WallClock::start(milliseconds(0));
  EXPECT_TRUE(WallClock::pausing());
  WallClock::look();
  EXPECT_TRUE(WallClock::pausing());
  WallClock::stop();
  EXPECT_FALSE(WallClock::pausing());
}

}  // namespace
}  // namespace vp
