// SPDX-License-Identifier: Apache-2.0
#include "models/host/device_lines.h"

#include <gtest/gtest.h>

namespace host {
namespace {

LineData filled(std::uint8_t value) {
  LineData data;
  data.fill(value);
  return data;
}

TEST(DeviceLinesTest, HoldsWhatWasInserted) {
  DeviceLines lines(2);
  EXPECT_EQ(lines.find(0), nullptr);
  lines.insert(0x1000'0000'0047, filled(5));
  for (const std::uint64_t offset : {0u, 1u, 63u}) {
    ASSERT_NE(lines.find(0x1000'0000'0040 + offset), nullptr);
    EXPECT_EQ(*lines.find(0x1000'0000'0040 + offset), filled(5));
  }
  EXPECT_EQ(lines.find(0x1000'0000'003f), nullptr);
  EXPECT_EQ(lines.find(0x1000'0000'0080), nullptr);
}

TEST(DeviceLinesTest, DropsOneOrAll) {
  DeviceLines lines(3);
  for (std::uint8_t i = 0; i < 3; ++i) lines.insert(64u * i, filled(i));
  lines.drop(64 + 63);
  EXPECT_NE(lines.find(0), nullptr);
  EXPECT_EQ(lines.find(64), nullptr);
  EXPECT_NE(lines.find(128), nullptr);
  lines.drop(64);
  lines.clear();
  for (std::uint8_t i = 0; i < 3; ++i) EXPECT_EQ(lines.find(64u * i), nullptr);
}

TEST(DeviceLinesTest, TheLineThatWasUsedLongestAgoIsReplaced) {
  for (unsigned count = 2; count <= 8; ++count) {
    DeviceLines lines(count);
    for (unsigned i = 0; i < count; ++i) lines.insert(64u * i, filled(1));
    lines.find(0);
    lines.insert(64u * count, filled(2));
    EXPECT_NE(lines.find(0), nullptr) << count;
    EXPECT_EQ(lines.find(64), nullptr) << count;
    for (unsigned i = 2; i <= count; ++i) EXPECT_NE(lines.find(64u * i), nullptr) << count;
  }
}

TEST(DeviceLinesTest, ADroppedLineIsReplacedFirst) {
  DeviceLines lines(2);
  lines.insert(0, filled(1));
  lines.insert(64, filled(2));
  lines.drop(64);
  lines.insert(128, filled(3));
  EXPECT_NE(lines.find(0), nullptr);
}

}  // namespace
}  // namespace host
