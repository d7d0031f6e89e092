// SPDX-License-Identifier: Apache-2.0
#include "models/rtl/clock_grid.h"

#include <gtest/gtest.h>

namespace {

using rtl::ClockGrid;

TEST(ClockGrid, EdgesAreWholePicoseconds) {
  EXPECT_EQ(ClockGrid(500'000'000).time(3), 6'000);
  const ClockGrid third(3);
  EXPECT_EQ(third.time(0), 0);
  EXPECT_EQ(third.time(1), 333'333'333'333);
  EXPECT_EQ(third.time(2), 666'666'666'666);
  EXPECT_EQ(third.time(3), vp::s);
}

TEST(ClockGrid, NoErrorAddsUp) {
  for (const std::uint64_t hertz : {1'000ull, 333'333'333ull, 999'999'999ull, 10'000'000'000ull}) {
    const ClockGrid grid(hertz);
    // 100 days
    EXPECT_EQ(grid.time(hertz * 8'640'000), 8'640'000 * vp::s) << hertz;
    EXPECT_EQ(grid.time(hertz * 8'640'000 + 1) - 8'640'000 * vp::s, grid.time(1)) << hertz;
  }
}

TEST(ClockGrid, AfterIsTheNextEdge) {
  for (const std::uint64_t hertz : {1'000ull, 500'000'000ull, 333'333'333ull, 7'000'000'001ull}) {
    const ClockGrid grid(hertz);
    for (const std::uint64_t edge : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                     hertz - 1, hertz, hertz + 1, 1'000'000 * hertz + 12'345}) {
      const vp::Picoseconds time = grid.time(edge);
      EXPECT_EQ(grid.after(time - 1), edge) << hertz;
      EXPECT_EQ(grid.after(time), edge + 1) << hertz;
      EXPECT_EQ(grid.after(time + 1), grid.time(edge + 1) > time + 1 ? edge + 1 : edge + 2)
          << hertz;
    }
    EXPECT_EQ(grid.after(0), 1u);
  }
}

}  // namespace
