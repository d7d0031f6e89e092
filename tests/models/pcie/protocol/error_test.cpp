// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/protocol/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pcie {
namespace {

TEST(Error, EachHasItsNameAndItsBit) {
  std::set<std::string> names;
  std::uint32_t bits[2] = {};
  for (const Error error : all_errors) {
    EXPECT_TRUE(names.insert(to_string(error)).second) << to_string(error);
    EXPECT_EQ(error_of(to_string(error)), error);
    EXPECT_EQ(bits[is_correctable(error)] & bit_of(error), 0u);
    bits[is_correctable(error)] |= bit_of(error);
  }
  EXPECT_EQ(bits[0], 0x053fd030u);
  EXPECT_EQ(bits[1], 0x000011c1u);
  for (const char* name : {"", "ecrc ", "ECRC", "?"}) EXPECT_FALSE(error_of(name)) << name;
}

}  // namespace
}  // namespace pcie
