// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/line_rate.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "models/pcie/protocol/configuration_error.h"
#include "tests/models/pcie/data_link/line_rate_table.h"

namespace pcie {
namespace {

// Usable rates published by Neugebauer et al., SIGCOMM 2018, in Gb/s.
TEST(LineRate, PublishedRates) {
  EXPECT_NEAR(LineRate::published(3, 8, 256).gigabits_per_second(), 57.9, 57.9 * 0.001);
  EXPECT_NEAR(LineRate::published(3, 16, 256).gigabits_per_second(), 113.7, 113.7 * 0.001);
  EXPECT_NEAR(LineRate::published(4, 16, 256).gigabits_per_second(), 227.4, 227.4 * 0.001);
}

// On links of all widths. A script in another language has worked out the table.
TEST(LineRate, IsThatOfTheTable) {
  for (const ExpectedRate& row : expected_rates) {
    const LineRate rate = LineRate::of(row.generation, row.lanes);
    if (row.generation == 6) {
      // The interval of ordered sets is that of x4 to x16 on all widths.
      EXPECT_NEAR(rate.gigabits_per_second(), row.own.gigabits_per_second(),
                  1e-4 * row.own.gigabits_per_second());
      continue;
    }
    EXPECT_EQ(rate.picoseconds, row.own.picoseconds) << row.generation << " x" << row.lanes;
    EXPECT_EQ(rate.bytes, row.own.bytes) << row.generation << " x" << row.lanes;
    const LineRate published = LineRate::published(row.generation, row.lanes, row.max_payload);
    EXPECT_EQ(published.picoseconds, row.published.picoseconds) << row.max_payload;
    EXPECT_EQ(published.bytes, row.published.bytes) << row.max_payload;
  }
}

TEST(LineRate, PublishedRatesGrowWithGenerationAndWidth) {
  const double raw[] = {2.0, 4.0, 8.0 * 128 / 130, 16.0 * 128 / 130, 32.0 * 128 / 130};
  for (unsigned payload = 128; payload <= 4096; payload *= 2) {
    for (unsigned generation = 1; generation <= 5; ++generation) {
      double before = 0;
      for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
        const double rate = LineRate::published(generation, lanes, payload).gigabits_per_second();
        EXPECT_GT(rate, before * 1.5);
        EXPECT_LT(rate, raw[generation - 1] * lanes);
        EXPECT_GT(rate, raw[generation - 1] * lanes * 0.6);
        before = rate;
      }
    }
  }
}

// 32 GT/s x 128/130 x 374/375 x 236/256, in Gb/s of a lane.
TEST(LineRate, OfFlitsAtLowerSpeeds) {
  EXPECT_NEAR(LineRate::in_flits(5, 16).gigabits_per_second(), 16 * 28.968698, 1e-4);
  EXPECT_EQ(LineRate::in_flits(5, 16).flit, 236u);
  EXPECT_EQ(LineRate::of(5, 16).flit, 0u);
}

TEST(LineRate, ImpossibleLinksAreRefused) {
  for (const auto& [generation, lanes] :
       std::vector<std::pair<unsigned, unsigned>>{{0, 8}, {7, 8}, {3, 0}, {3, 3}, {3, 32}}) {
    EXPECT_THROW(LineRate::of(generation, lanes), ConfigurationError);
    EXPECT_THROW(LineRate::in_flits(generation, lanes), ConfigurationError);
    EXPECT_THROW(LineRate::published(generation, lanes, 256), ConfigurationError);
  }
  for (const unsigned payload : {64u, 300u, 8192u}) {
    EXPECT_THROW(LineRate::published(3, 8, payload), ConfigurationError);
  }
  EXPECT_THROW(LineRate::published(6, 8, 256), ConfigurationError);
}

// However many packets follow each other, the end of the last depends on the sum of their bytes
// only.
TEST(Wire, NoFractionIsLost) {
  for (unsigned generation = 1; generation <= 5; ++generation) {
    const LineRate rate = LineRate::of(generation, 16);
    Wire wire(rate);
    std::uint64_t total = 0;
    for (unsigned i = 0; i < 100'000; ++i) {
      const unsigned bytes = 20 + i * 7 % 260;
      const Wire::Occupied occupied = wire.occupy(0, bytes);
      const auto exact = [&](std::uint64_t sum) {
        const __int128 product = static_cast<__int128>(sum) * rate.picoseconds;
        return static_cast<vp::Picoseconds>((product + rate.bytes - 1) / rate.bytes);
      };
      ASSERT_EQ(occupied.from, exact(total));
      total += bytes;
      ASSERT_EQ(occupied.to, exact(total));
    }
  }
}

// 236 of 256 bytes, and 40 symbols of each lane after 748 flits.
TEST(LineRate, OfFlitsIsWhatIsLeftForTlps) {
  for (unsigned lanes = 1; lanes <= 16; lanes *= 2) {
    const LineRate rate = LineRate::of(6, lanes);
    EXPECT_DOUBLE_EQ(rate.gigabits_per_second(), 64.0 * lanes * 236 / 256 * 11968 / 12008);
    EXPECT_EQ(rate.flit, 236u);
  }
}

TEST(Wire, AFlitArrivesAsAWhole) {
  const LineRate rate{3, 2, 10};  // 15 ps a flit
  Wire wire(rate);
  Wire::Occupied first = wire.occupy(0, 4);
  EXPECT_EQ(first.from, 0);
  EXPECT_EQ(first.to, 15);
  EXPECT_EQ(wire.occupy(0, 6).to, 15) << "in the same flit";
  const Wire::Occupied next = wire.occupy(0, 1);
  EXPECT_EQ(next.from, 15);
  EXPECT_EQ(next.to, 30);
  EXPECT_EQ(wire.occupy(31, 20).to, 75) << "over three flits: begun in one that had begun";
  EXPECT_EQ(wire.occupy(60'000'000'000'000'001, 1).to, 60'000'000'000'000'015);
}

TEST(Wire, StartsWhenReadyIfIdle) {
  const LineRate rate{3, 2};  // 1.5 ps a byte
  Wire wire(rate);
  EXPECT_EQ(wire.occupy(100, 1).to, 102);  // ends at 101.5
  const Wire::Occupied next = wire.occupy(101, 1);
  EXPECT_EQ(next.from, 102);  // begins at 101.5
  EXPECT_EQ(next.to, 103);
  EXPECT_EQ(wire.occupy(200, 2).from, 200);
}

}  // namespace
}  // namespace pcie
