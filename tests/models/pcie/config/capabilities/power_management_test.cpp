// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/capabilities/power_management.h"

#include <gtest/gtest.h>

namespace pcie {
namespace {

TEST(PowerManagement, OnlyD0AndD3hotAreTaken) {
  ConfigSpace space;
  PowerManagement power(space);
  const unsigned control = power.offset() + PowerManagement::control;
  EXPECT_EQ(space.read(power.offset(), 1), 1u);
  EXPECT_EQ(space.read(power.offset() + PowerManagement::capabilities, 2) & 7, 3u) << "version";
  EXPECT_TRUE(power.d0());
  for (const unsigned from : {0u, 3u}) {
    for (unsigned to = 0; to < 4; ++to) {
      space.write(control, 2, from);
      space.write(control, 1, to);
      EXPECT_EQ(space.read(control, 2) & 3, to == 0 || to == 3 ? to : from);
      EXPECT_EQ(power.d0(), (to == 0 || to == 3 ? to : from) == 0);
      EXPECT_EQ(space.read(control, 2) & 8, 8u) << "registers survive D3hot";
    }
  }
}

}  // namespace
}  // namespace pcie
