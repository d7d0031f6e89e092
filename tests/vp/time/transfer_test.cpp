// SPDX-License-Identifier: Apache-2.0
#include "vp/time/transfer.h"

#include <gtest/gtest.h>

namespace vp {
namespace {

TEST(TransferTime, IsExactOrRoundedUp) {
  EXPECT_EQ(transfer_time(0, 25'000'000'000), 0);
  EXPECT_EQ(transfer_time(1, 25'000'000'000), 40);
  EXPECT_EQ(transfer_time(1, 24'999'999'999), 41);
  EXPECT_EQ(transfer_time(1, 3'000'000'000'000), 1);
  EXPECT_EQ(transfer_time(4096, 1'000'000'000'000), 4096);
  EXPECT_EQ(transfer_time(1, 1), s);
}

TEST(TransferTime, AtItsLimits) {
  constexpr std::uint64_t most = 8 << 20, fastest = std::uint64_t{1} << 63;
  EXPECT_EQ(transfer_time(most, 1), static_cast<Picoseconds>(most) * s);
  EXPECT_EQ(transfer_time(most, fastest), 1);
  EXPECT_EQ(transfer_time(1, fastest), 1);
}

}  // namespace
}  // namespace vp
