// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/limits.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pcie {
namespace {

constexpr unsigned widths[] = {1, 2, 4, 8, 16};
constexpr unsigned payloads[] = {128, 256, 512, 1024, 2048, 4096};

/// Expects what a table of the specification has, with a row for each payload.
template <typename Limit>
void expect_table(const unsigned (&table)[6][5], Limit limit) {
  for (unsigned i = 0; i < 6; ++i) {
    for (unsigned j = 0; j < 5; ++j) {
      EXPECT_EQ(limit(widths[j], payloads[i]), table[i][j]) << widths[j] << " " << payloads[i];
    }
  }
}

// PCIe 5.0, tables 3-7 to 3-9; generations 4 and 5 have the limits of generation 3.
constexpr unsigned ack_limits[3][6][5] = {{{237, 128, 73, 67, 48},
                                           {416, 217, 118, 107, 72},
                                           {559, 289, 154, 86, 86},
                                           {1071, 545, 282, 150, 150},
                                           {2095, 1057, 538, 278, 278},
                                           {4143, 2081, 1050, 534, 534}},
                                          {{288, 179, 124, 118, 99},
                                           {467, 268, 169, 158, 123},
                                           {610, 340, 205, 137, 137},
                                           {1122, 596, 333, 201, 201},
                                           {2146, 1108, 589, 329, 329},
                                           {4194, 2132, 1101, 585, 585}},
                                          {{333, 224, 169, 163, 144},
                                           {512, 313, 214, 203, 168},
                                           {655, 385, 250, 182, 182},
                                           {1167, 641, 378, 246, 246},
                                           {2191, 1153, 634, 374, 374},
                                           {4239, 2177, 1146, 630, 630}}};

TEST(Limits, OfTheAckLatencyAreThoseOfTheTables) {
  for (unsigned generation = 1; generation <= 5; ++generation) {
    SCOPED_TRACE(generation);
    expect_table(ack_limits[std::min(generation, 3u) - 1], [&](unsigned lanes, unsigned payload) {
      return ack_latency_limit(generation, lanes, payload);
    });
  }
}

// PCIe 3.1, tables 3-4 to 3-6, here for 2.5 and 5 GT/s.
TEST(Limits, OfPortsBelow16GtAreThoseOfTheTables) {
  constexpr unsigned limits[2][6][5] = {{{711, 384, 219, 201, 144},
                                         {1248, 651, 354, 321, 216},
                                         {1677, 867, 462, 258, 258},
                                         {3213, 1635, 846, 450, 450},
                                         {6285, 3171, 1614, 834, 834},
                                         {12429, 6243, 3150, 1602, 1602}},
                                        {{864, 537, 372, 354, 297},
                                         {1401, 804, 507, 474, 369},
                                         {1830, 1020, 615, 411, 411},
                                         {3366, 1788, 999, 603, 603},
                                         {6438, 3324, 1767, 987, 987},
                                         {12582, 6396, 3303, 1755, 1755}}};
  for (unsigned generation = 1; generation <= 2; ++generation) {
    SCOPED_TRACE(generation);
    for (const bool synch : {false, true}) {
      expect_table(limits[generation - 1], [&](unsigned lanes, unsigned payload) {
        return replay_limit({3, synch}, generation, lanes, payload);
      });
    }
  }
  EXPECT_EQ(replay_limit({3, false}, 3, 1, 128), 999u);
}

TEST(Limits, OfPortsFrom16GtAreTheSameAtAllSpeeds) {
  for (unsigned port = 4; port <= 6; ++port) {
    for (unsigned generation = 1; generation <= 5; ++generation) {
      EXPECT_EQ(replay_limit({port, false}, generation, 16, 256), 24'000u);
      EXPECT_EQ(replay_limit({port, true}, generation, 1, 4096), 80'000u);
    }
  }
}

TEST(Limits, OfFlits) {
  const vp::Picoseconds limits[] = {80, 64, 56, 52, 50};  // ns
  for (unsigned j = 0; j < 5; ++j) EXPECT_EQ(flit_ack_limit(6, widths[j]), limits[j] * vp::ns);
  EXPECT_EQ(flit_ack_limit(1, 16), 64 * vp::ns) << "a flit";
}

TEST(Limits, SymbolTimes) {
  EXPECT_EQ(symbol_time(1), 4 * vp::ns);
  EXPECT_EQ(symbol_time(2), 2 * vp::ns);
  EXPECT_EQ(symbol_time(3), 1 * vp::ns);
  EXPECT_EQ(symbol_time(5), 250);
  EXPECT_EQ(symbol_time(6), 125);
}

}  // namespace
}  // namespace pcie
