// SPDX-License-Identifier: Apache-2.0
// The same over 100 m, for which a ring must have 512 slots at 100 Gb/s.
#include "tests/rtl/link/rate.h"

namespace window {
namespace {

using Rate100 = Rate<100>;

TEST_F(Rate100, OneWay) {
  EXPECT_GE(use(false), 95);
}
TEST_F(Rate100, BothWays) {
  EXPECT_GE(use(true), 95);
}

}  // namespace
}  // namespace window
