// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/config/config_mechanism.h"

#include <gtest/gtest.h>

#include "models/pcie/protocol/ids.h"

namespace pcie {
namespace {

constexpr std::uint32_t enable = 0x80000000;

TEST(ConfigMechanism, EveryRegisterIsWhereEcamHasIt) {
  ConfigMechanism mechanism;
  for (const Id id : {make_id(0, 0, 0), make_id(0, 1, 0), make_id(1, 0, 7), make_id(255, 31, 7)}) {
    for (unsigned offset = 0; offset < 256; ++offset) {
      mechanism.set_address(0, 4, enable | id << 8 | (offset & 0xfc));
      EXPECT_EQ(mechanism.ecam_offset(4 + offset % 4, 1), (std::uint64_t{id} << 12) + offset);
    }
  }
}

TEST(ConfigMechanism, OnlyWhatIsEnabledAndInsideGoesThere) {
  ConfigMechanism mechanism;
  EXPECT_FALSE(mechanism.ecam_offset(4, 4)) << "out of reset";
  mechanism.set_address(0, 4, enable);
  EXPECT_TRUE(mechanism.ecam_offset(4, 4));
  EXPECT_TRUE(mechanism.ecam_offset(6, 2));
  EXPECT_FALSE(mechanism.ecam_offset(6, 4)) << "beyond the data port";
  EXPECT_FALSE(mechanism.ecam_offset(0, 4)) << "the address port";
  EXPECT_FALSE(mechanism.ecam_offset(3, 1));
  mechanism.set_address(0, 4, 0x100);
  EXPECT_FALSE(mechanism.ecam_offset(4, 4)) << "not enabled";
}

TEST(ConfigMechanism, AddressTakesDwordsAlone) {
  ConfigMechanism mechanism;
  mechanism.set_address(0, 4, ~0u);
  EXPECT_EQ(mechanism.address(), 0x80fffffcu) << "reserved bits stay zero";
  mechanism.set_address(0, 1, 0);
  mechanism.set_address(0, 2, 0);
  mechanism.set_address(2, 2, 0);
  EXPECT_EQ(mechanism.address(), 0x80fffffcu);
}

}  // namespace
}  // namespace pcie
