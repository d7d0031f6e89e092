// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/data_link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/pcie/link/link.h"
#include "models/pcie/protocol/configuration_error.h"

namespace pcie {
namespace {

DataLinkConfig config(unsigned generation, double rate) {
  DataLinkConfig config;
  config.generation = generation;
  config.bit_error_rate = rate;
  config.arrival = 300 * vp::ns;
  config.round_trip = 500 * vp::ns;
  config.replay_timer = 1500 * vp::ns;
  config.retraining = 20 * vp::us;
  return config;
}

// Observes the incidents whose time has passed, as links do.
void see_all(DataLink& link) {
  for (const auto end : {DataLink::End::transmitter, DataLink::End::receiver}) {
    while (!link.incidents(end).empty()) link.observe(end);
  }
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
// packet once more; where the error was in the framing token, the first 4 bytes, of Recovery too.
TEST(DataLink, GoodputFallsAsComputed) {
  constexpr unsigned packets = 2'000'000, bytes = 280;
  for (const double rate : {1e-9, 1e-8, 1e-7, 1e-6}) {
    const LineRate line = LineRate::of(4, 16, 256);
    DataLink link(line, config(4, rate));
    vp::Picoseconds end = 0;
    for (unsigned i = 0; i < packets; ++i) end = link.transmit(0, bytes).to;
    see_all(link);
    const double packet = static_cast<double>(bytes * line.picoseconds) / line.bytes;
    const double error = 1 - std::pow(1 - rate, 8.0 * bytes);
    const double errors = packets * error / (1 - error);
    const double framing = errors * (1 - std::pow(1 - rate, 32)) / error;
    const double framed = static_cast<double>(link.counts().receiver_errors);
    const double expected = packets * packet + errors * (500e3 + packet) + framed * 20e6;
    EXPECT_NEAR(framed, framing, 5 * std::sqrt(framing) + 1) << rate;
    EXPECT_EQ(link.counts().retrainings, link.counts().receiver_errors) << rate;
    EXPECT_NEAR(static_cast<double>(end), expected, 0.01 * expected) << rate;
    const auto bad = static_cast<double>(link.counts().bad_tlps + link.counts().receiver_errors);
    EXPECT_NEAR(bad, errors, 5 * std::sqrt(errors) + 1) << rate;
  }
}

// Two errors in a flit of 2048 bits are needed.
TEST(DataLink, AFlitCorrectsOneError) {
  constexpr unsigned flits = 4'000'000;
  constexpr double rate = 1e-5;
  DataLink link(LineRate::of(6, 16, 256), config(6, rate));
  for (unsigned i = 0; i < flits; ++i) link.transmit(0, 236);
  see_all(link);
  const double expected = flits * std::pow(2048 * rate, 2) / 2;
  EXPECT_NEAR(static_cast<double>(link.counts().receiver_errors), expected, 0.1 * expected);
}

// Of packets far apart, an ACK that is lost costs it, too.
TEST(DataLink, AWrongAcknowledgementCostsTheReplayTimer) {
  constexpr unsigned packets = 200'000;
  DataLink link(LineRate::of(3, 1, 256), config(3, 1e-4));
  for (unsigned i = 0; i < packets; ++i) link.transmit(i * vp::ms, 276);
  see_all(link);
  const auto& counts = link.counts();
  const auto acknowledged = static_cast<double>(counts.bad_tlps + packets);
  const double expected = acknowledged * (1 - std::pow(1 - 1e-4, 64));
  EXPECT_NEAR(static_cast<double>(counts.timeouts), expected, 5 * std::sqrt(expected));
  EXPECT_EQ(counts.timeouts, counts.bad_dllps);
}

// Of packets that follow each other, the next ACK makes up for a lost one.
TEST(DataLink, TheNextAcknowledgementIsForAllBefore) {
  DataLink link(LineRate::of(4, 16, 256), config(4, 1e-6));
  for (unsigned i = 0; i < 1'000'000; ++i) link.transmit(0, 24);
  see_all(link);
  const auto& counts = link.counts();
  EXPECT_GT(counts.bad_dllps, 30u);
  // Recovery alone takes longer than the timer, after which it has nothing to wait for.
  EXPECT_LT(counts.timeouts, 8u);
}

// Of packets that are lost more often than not, every fourth loss in a row retrains the link.
TEST(DataLink, FourReplaysInVainRetrainTheLink) {
  DataLinkConfig often = config(3, 1e-4);
  DataLink link(LineRate::of(3, 16, 4096), often);
  vp::Picoseconds before = 0;
  std::uint64_t rollovers = 0;
  for (unsigned i = 0; i < 20'000; ++i) {
    const vp::Picoseconds end = link.transmit(0, 4096 + 24).to;
    see_all(link);
    const std::uint64_t more = link.counts().rollovers - rollovers;
    rollovers += more;
    EXPECT_GE(end - before, static_cast<vp::Picoseconds>(more) * often.retraining);
    before = end;
  }
  const double error = 1 - std::pow(1 - 1e-4, 8.0 * (4096 + 24));
  const double expected = 20'000 * std::pow(error, 4) / (1 - std::pow(error, 4));
  EXPECT_NEAR(static_cast<double>(rollovers), expected, 0.05 * expected);
  EXPECT_EQ(link.counts().retrainings, link.counts().rollovers + link.counts().receiver_errors);
}

// What the ends see of one packet adds up to when it arrives: nothing is seen that costs no time,
// and nothing costs time unseen.
TEST(DataLink, EachEndSeesItsErrorsWhenTheyHappen) {
  using End = DataLink::End;
  std::map<Error, unsigned> found;
  for (unsigned generation = 1; generation <= 6; ++generation) {
    const LineRate rate = LineRate::of(generation, 1, 4096);
    DataLinkConfig values = config(generation, 1e-4);
    DataLink link(rate, values);
    for (unsigned i = 0; i < 3'000; ++i) {
      const vp::Picoseconds ready = (i + 1) * vp::s;
      const unsigned bytes = 24 + 1024 * (i % 5);
      const vp::Picoseconds end = link.transmit(ready, bytes).to;
      Wire wire(rate);
      vp::Picoseconds sent = wire.occupy(ready, bytes).to;
      unsigned in_vain = 0;
      const auto next = [&link](End at) {
        return link.incidents(at).empty() ? vp::never : link.incidents(at).front().when;
      };
      const auto take = [&](End at, vp::Picoseconds when, Error error) {
        ASSERT_EQ(next(at), when) << generation << " " << i;
        ASSERT_EQ(link.observe(at).error, error);
        ++found[error];
      };
      while (next(End::receiver) != vp::never) {
        vp::Picoseconds again = sent + values.round_trip;
        const vp::Picoseconds seen = sent + values.arrival;
        ASSERT_EQ(next(End::receiver), seen) << generation << " " << i;
        if (link.incidents(End::receiver).front().error == Error::receiver_error) {
          take(End::receiver, seen, Error::receiver_error);
          if (generation >= 3 && generation <= 5) again += values.retraining;
        }
        if (generation <= 2 || (generation <= 5 && again == sent + values.round_trip)) {
          take(End::receiver, seen, Error::bad_tlp);
        }
        if (next(End::transmitter) == sent + values.round_trip &&
            link.incidents(End::transmitter).front().error == Error::bad_dllp) {
          take(End::transmitter, sent + values.round_trip, Error::bad_dllp);
          again = sent + values.replay_timer;
          take(End::transmitter, again, Error::replay_timeout);
        }
        if (++in_vain % 4 == 0) {
          take(End::transmitter, again, Error::replay_rollover);
          again += values.retraining;
        }
        sent = wire.occupy(again, bytes).to;
      }
      ASSERT_EQ(end, sent) << generation << " " << i;
      if (next(End::transmitter) != vp::never) {
        take(End::transmitter, sent + values.round_trip, Error::bad_dllp);
        take(End::transmitter, sent + values.replay_timer, Error::replay_timeout);
      }
      ASSERT_EQ(next(End::transmitter), vp::never);
    }
  }
  EXPECT_EQ(found.size(), 5u);
  for (const auto& [error, count] : found) EXPECT_GT(count, 50u) << to_string(error);
}

TEST(DataLink, RecoveryForgetsWhatNobodyHasSeen) {
  const LineRate rate = LineRate::of(1, 16, 4096);
  DataLink link(rate, config(1, 1e-4));
  while (link.incidents(DataLink::End::transmitter).empty()) link.transmit(0, 4096);
  const auto& received = link.incidents(DataLink::End::receiver);
  const vp::Picoseconds first = received.front().when;
  ASSERT_GT(received.size(), 2u);
  link.retrain(rate, config(1, 1e-4), 1 * vp::s, 0, first);
  EXPECT_FALSE(received.empty()) << "seen at the last moment";
  EXPECT_EQ(received.back().when, first);
  EXPECT_TRUE(link.incidents(DataLink::End::transmitter).empty());
  link.retrain(LineRate::of(4, 16, 4096), config(4, 0), 1 * vp::s, 0, 0);
  EXPECT_TRUE(link.incidents(DataLink::End::transmitter).empty());
  EXPECT_TRUE(received.empty());
  Wire faster(LineRate::of(4, 16, 4096));
  EXPECT_EQ(link.transmit(0, 4096).to, faster.occupy(1 * vp::s, 4096).to);
  EXPECT_EQ(link.counts().bad_tlps, 0u) << "no end has observed them";
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
  backwards = config(4, 0);
  backwards.arrival = -1;
  EXPECT_THROW(DataLink(rate, backwards), ConfigurationError);
}

}  // namespace
}  // namespace pcie
