// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/pcie/errors.h"
#include "models/pcie/link.h"

namespace pcie {
namespace {

DataLinkConfig config(unsigned generation, double rate) {
  DataLinkConfig config;
  config.generation = generation;
  config.bit_error_rate = rate;
  config.round_trip = 500 * vp::ns;
  config.replay_timer = 1500 * vp::ns;
  config.retraining = 20 * vp::us;
  return config;
}

TEST(DataLink, WithoutErrorsIsTheWire) {
  const LineRate rate = LineRate::of(4, 16, 256);
  DataLink link(rate, config(4, 0));
  Wire wire(rate);
  for (unsigned i = 0; i < 1000; ++i) {
    const auto ready = static_cast<vp::Picoseconds>(i * 7'777);
    const Wire::Occupied expected = wire.occupy(ready, 20 + i % 300);
    const Wire::Occupied found = link.transmit(ready, 20 + i % 300);
    ASSERT_EQ(found.from, expected.from);
    ASSERT_EQ(found.to, expected.to);
  }
  EXPECT_EQ(link.counts().replays, 0u);
}

// However many errors there are, packets leave one after the other.
TEST(DataLink, KeepsTheOrder) {
  for (unsigned generation = 1; generation <= 6; ++generation) {
    const LineRate rate = LineRate::of(generation, 8, 256);
    DataLink link(rate, config(generation, 1e-4));
    vp::Picoseconds last = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
      const Wire::Occupied found = link.transmit(0, 24 + i % 256);
      ASSERT_GE(found.from, rate.flit == 0 ? last - 1 : 0);
      ASSERT_GE(found.to, last);
      last = found.to;
    }
    EXPECT_GT(link.counts().replays, 100u) << generation;
  }
}

// The time that a stream takes is that of its bytes and, for each error, of a round trip and of the
// packet once more.
TEST(DataLink, GoodputFallsAsComputed) {
  constexpr unsigned packets = 2'000'000, bytes = 280;
  for (const double rate : {1e-9, 1e-8, 1e-7, 1e-6}) {
    const LineRate line = LineRate::of(4, 16, 256);
    DataLink link(line, config(4, rate));
    vp::Picoseconds end = 0;
    for (unsigned i = 0; i < packets; ++i) end = link.transmit(0, bytes).to;
    const double packet = static_cast<double>(bytes * line.picoseconds) / line.bytes;
    const double error = 1 - std::pow(1 - rate, 8.0 * bytes);
    const double errors = packets * error / (1 - error);
    const double expected = packets * packet + errors * (500e3 + packet);
    EXPECT_NEAR(static_cast<double>(end), expected, 0.01 * expected) << rate;
    EXPECT_NEAR(static_cast<double>(link.counts().bad), errors, 5 * std::sqrt(errors) + 1) << rate;
  }
}

// Two errors in a flit of 2048 bits are needed.
TEST(DataLink, AFlitCorrectsOneError) {
  constexpr unsigned flits = 4'000'000;
  constexpr double rate = 1e-5;
  DataLink link(LineRate::of(6, 16, 256), config(6, rate));
  for (unsigned i = 0; i < flits; ++i) link.transmit(0, 236);
  const double expected = flits * std::pow(2048 * rate, 2) / 2;
  EXPECT_NEAR(static_cast<double>(link.counts().bad), expected, 0.1 * expected);
}

TEST(DataLink, AWrongNakCostsTheReplayTimer) {
  DataLink link(LineRate::of(3, 1, 256), config(3, 1e-4));
  for (unsigned i = 0; i < 200'000; ++i) link.transmit(0, 276);
  const auto& counts = link.counts();
  const double expected = static_cast<double>(counts.bad) * (1 - std::pow(1 - 1e-4, 64));
  EXPECT_NEAR(static_cast<double>(counts.timeouts), expected, 5 * std::sqrt(expected));
}

// Of packets that are lost more often than not, every fourth loss in a row retrains the link.
TEST(DataLink, FourReplaysInVainRetrainTheLink) {
  DataLinkConfig often = config(3, 1e-4);
  DataLink link(LineRate::of(3, 16, 4096), often);
  vp::Picoseconds before = 0;
  std::uint64_t retrainings = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    const vp::Picoseconds end = link.transmit(0, 4096 + 24).to;
    const std::uint64_t more = link.counts().retrainings - retrainings;
    retrainings += more;
    EXPECT_GE(end - before, static_cast<vp::Picoseconds>(more) * often.retraining);
    before = end;
  }
  const double error = 1 - std::pow(1 - 1e-4, 8.0 * (4096 + 24));
  const double expected = 20'000 * std::pow(error, 4) / (1 - std::pow(error, 4));
  EXPECT_NEAR(static_cast<double>(retrainings), expected, 0.05 * expected);
}

TEST(DataLink, TheSeedIsWhatErrorsDependOn) {
  const auto ends = [](std::uint64_t seed) {
    DataLinkConfig seeded = config(4, 1e-5);
    seeded.seed = seed;
    DataLink link(LineRate::of(4, 16, 256), seeded);
    std::vector<vp::Picoseconds> found;
    for (unsigned i = 0; i < 5'000; ++i) found.push_back(link.transmit(0, 280).to);
    return found;
  };
  EXPECT_EQ(ends(1), ends(1));
  EXPECT_NE(ends(1), ends(2));
}

TEST(DataLink, ImpossibleValues) {
  const LineRate rate = LineRate::of(4, 16, 256);
  EXPECT_THROW(DataLink(rate, config(4, -1e-9)), ConfigurationError);
  EXPECT_THROW(DataLink(rate, config(4, 2e-4)), ConfigurationError);
  EXPECT_THROW(DataLink(rate, config(4, std::nan(""))), ConfigurationError);
  DataLinkConfig backwards = config(4, 0);
  backwards.retraining = -1;
  EXPECT_THROW(DataLink(rate, backwards), ConfigurationError);
}

}  // namespace
}  // namespace pcie
