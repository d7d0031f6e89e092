// SPDX-License-Identifier: Apache-2.0
#include "saturation.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

struct Server {
  std::uint64_t capacity;
  std::vector<std::uint64_t> tried;

  static bool in_time(void* context, std::uint64_t rate) {
    auto* server = static_cast<Server*>(context);
    server->tried.push_back(rate);
    return rate <= server->capacity;
  }
};

std::uint64_t find(Server& server, std::uint64_t low, std::uint64_t high) {
  const saturation search = {low, high, 10'000'000};
  return saturation_find(&search, Server::in_time, &server);
}

TEST(Saturation, IsFoundToOnePercentFromBelow) {
  for (std::uint64_t capacity = 50'000; capacity <= 2'000'000; capacity += 12'345) {
    Server server{capacity, {}};
    const std::uint64_t found = find(server, 50'000, 2'000'000);
    EXPECT_LE(found, capacity);
    EXPECT_GT(found + found / 100 + 1, capacity);
    EXPECT_LE(server.tried.size(), 15u);
    for (const std::uint64_t rate : server.tried) EXPECT_LE(rate, 2 * capacity);
  }
}

TEST(Saturation, BelowTheFirstTrialIsNone) {
  Server server{49'999, {}};
  EXPECT_EQ(find(server, 50'000, 2'000'000), 0u);
  EXPECT_EQ(server.tried, std::vector<std::uint64_t>{50'000});
}

TEST(Saturation, IsAtMostTheHighestRate) {
  Server server{10'000'000, {}};
  EXPECT_EQ(find(server, 50'000, 130'000), 130'000u);
  EXPECT_EQ(server.tried, (std::vector<std::uint64_t>{50'000, 100'000, 130'000}));
}

TEST(Saturation, OfSmallRatesIsExact) {
  for (std::uint64_t capacity = 1; capacity < 50; ++capacity) {
    Server server{capacity, {}};
    EXPECT_EQ(find(server, 1, 50), capacity);
  }
}

TEST(Saturation, TrialsHaveEnoughRequests) {
  const saturation search = {1, 1, 10'000'000};
  EXPECT_EQ(saturation_count(&search, 1'000'000), 10'000u);
  EXPECT_EQ(saturation_count(&search, 300'000), 3'000u);
  EXPECT_EQ(saturation_count(&search, 1), 3'000u);
  EXPECT_EQ(saturation_count(&search, 100'000'000), 1'000'000u);
}

TEST(Saturation, OneLateRequestInAHundredIsInTime) {
  EXPECT_TRUE(saturation_in_time(30, 3'000));
  EXPECT_FALSE(saturation_in_time(31, 3'000));
  EXPECT_TRUE(saturation_in_time(0, 1));
  EXPECT_FALSE(saturation_in_time(0, 0));
}

}  // namespace
