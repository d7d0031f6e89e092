// SPDX-License-Identifier: Apache-2.0
#include "platforms/description/receive_buffers.h"

#include <gtest/gtest.h>

namespace platform {
namespace {

Credits named(const char* buffer) {
  Credits credits;
  credits.buffer = buffer;
  return credits;
}

// Intel 323103-001, table 76: 16 posted and 18 non-posted headers for each four lanes.
TEST(ReceiveBuffers, OfAPortDependOnItsLanes) {
  struct {
    unsigned lanes, quarters;
  } const links[] = {{1, 1}, {2, 1}, {4, 1}, {8, 2}, {16, 4}};
  for (const auto& link : links) {
    const Credits found = advertised(named("xeon_c5500"), link.lanes);
    EXPECT_EQ(found.posted_headers, 16 * link.quarters) << link.lanes;
    EXPECT_EQ(found.posted_data, 80 * link.quarters);
    EXPECT_EQ(found.non_posted_headers, 18 * link.quarters);
    EXPECT_EQ(found.non_posted_data, 4u);
    EXPECT_EQ(found.completion_headers, 0u) << "infinite";
    EXPECT_EQ(found.scale, 1u);
  }
}

// Intel 683501, table 52: the counters of an R-tile have units of 16.
TEST(ReceiveBuffers, HaveScales) {
  const Credits found = advertised(named("agilex_r_tile"), 16);
  EXPECT_EQ(found.scale, 16u);
  EXPECT_EQ(found.posted_headers, 784u);
  EXPECT_EQ(found.posted_data, 1456u);
  EXPECT_EQ(found.non_posted_headers, 784u);
  EXPECT_EQ(found.non_posted_data, 392u);
}

TEST(ReceiveBuffers, AreNotThereIfNumbersAreGiven) {
  Credits given = named("xeon_c5500");
  given.completion_data = 3;
  const Credits found = advertised(given, 16);
  EXPECT_EQ(found.posted_headers, 0u);
  EXPECT_EQ(found.completion_data, 3u);
  EXPECT_FALSE(sized_by_link(given));
}

TEST(ReceiveBuffers, FollowTheLinkByDefault) {
  EXPECT_TRUE(sized_by_link(Credits{}));
  EXPECT_FALSE(sized_by_link(named("infinite")));
  EXPECT_FALSE(credits_given(advertised(named("infinite"), 16)));
}

}  // namespace
}  // namespace platform
