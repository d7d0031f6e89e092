// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/data_link/data_link.h"

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
  config.ack_latency = 150 * vp::ns;
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
  const LineRate rate = LineRate::of(4, 16);
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
    const LineRate rate = LineRate::of(generation, 8);
    DataLink link(rate, config(generation, 1e-4));
    vp::Picoseconds last = 0;
    for (unsigned i = 0; i < 40'000; ++i) {
      const Wire::Occupied found = link.transmit(0, 24 + i % 256);
      ASSERT_GE(found.from, rate.flit == 0 ? last - 1 : 0);
      ASSERT_GE(found.to, last);
      last = found.to;
    }
    EXPECT_GT(link.counts().replays, 100u) << generation;
  }
}

// What bit_error_table.py expects of a stream: nothing in it is computed by the model.
struct Expected {
  unsigned generation;
  bool flits;
  double rate;
  unsigned packets;
  double corrected, refused, framing, bad_dllps, dllp_framing, replays;
  double goodput, deviation;  // Gb/s
};
constexpr Expected table[] = {
#include "tests/models/pcie/data_link/bit_error_table.inc"
};

class BitErrorTable : public testing::TestWithParam<unsigned> {};

TEST_P(BitErrorTable, StreamsMeetWhatIsExpected) {
  for (const Expected& row : table) {
    if (row.generation != GetParam()) continue;
    const unsigned bytes = row.flits ? 272 : 280;
    DataLinkConfig values = config(row.generation, row.rate);
    const vp::Picoseconds latencies[] = {0, 107 * 4'000, 0, 203 * 1'000, 0, 203 * 250, 0};
    const vp::Picoseconds timers[] = {0, 321 * 4'000, 0, 609 * 1'000, 0, 24'000 * 250, 0};
    values.lanes = 8;
    values.ack_latency = latencies[row.generation];
    values.replay_timer = timers[row.generation];
    DataLink link(
        row.flits ? LineRate::in_flits(row.generation, 8) : LineRate::of(row.generation, 8),
        values);
    vp::Picoseconds end = 0;
    for (unsigned i = 0; i < row.packets; ++i) {
      end = link.transmit(0, bytes).to;
      see_all(link);
    }
    // Four standard deviations of a count; one more where less than one is expected.
    const auto near = [&row](std::uint64_t found, double expected, const char* what) {
      EXPECT_NEAR(static_cast<double>(found), expected, 4 * std::sqrt(expected) + 1)
          << what << " " << row.rate;
    };
    const DataLink::Counts& counts = link.counts();
    const bool symbols = row.generation == 1 && !row.flits;
    near(counts.corrected_flits, row.corrected, "corrected");
    if (row.flits || symbols) {
      near(counts.receiver_errors, row.refused, "refused");
      near(counts.bad_tlps, 0, "LCRC");
    } else {
      near(counts.bad_tlps, row.refused, "refused");
      near(counts.receiver_errors, row.framing, "framing");
    }
    near(symbols ? counts.dllp_receiver_errors : counts.bad_dllps, row.bad_dllps, "bad DLLPs");
    near(symbols ? counts.bad_dllps : counts.dllp_receiver_errors, row.dllp_framing,
         "DLLP framing");
    near(counts.replays, row.replays, "replays");
    const double goodput = 8'000.0 * 256 * row.packets / static_cast<double>(end);
    EXPECT_NEAR(goodput, row.goodput, 4 * row.deviation + 1e-5 * row.goodput) << row.rate;
  }
}
INSTANTIATE_TEST_SUITE_P(Generations, BitErrorTable, testing::Values(1u, 3u, 5u, 6u));

// Fifteen packets of 16 bytes are in a flit. It is wrong for all of them or for none.
TEST(DataLink, PacketsShareTheFateOfTheirFlit) {
  constexpr unsigned packets = 1'500'000;
  constexpr double rate = 1e-4;
  DataLink link(LineRate::of(6, 16), config(6, rate));
  for (unsigned i = 0; i < packets; ++i) link.transmit(0, 16);
  see_all(link);
  const double good = std::pow(1 - rate, 8);
  const auto correctable = [good](int bytes) {
    return std::pow(good, bytes) + bytes * (1 - good) * std::pow(good, bytes - 1);
  };
  const double wrong = 1 - correctable(86) * correctable(85) * correctable(85);
  const double flits = packets * 16 / 236.0;
  EXPECT_NEAR(static_cast<double>(link.counts().replays), flits * wrong,
              4 * std::sqrt(flits * wrong));
}

// Of packets far apart, an ACK that is lost costs it, too.
TEST(DataLink, AWrongAcknowledgementCostsTheReplayTimer) {
  constexpr unsigned packets = 200'000;
  DataLink link(LineRate::of(3, 1), config(3, 1e-4));
  for (unsigned i = 0; i < packets; ++i) link.transmit(i * vp::ms, 276);
  see_all(link);
  const auto& counts = link.counts();
  const auto acknowledged = static_cast<double>(counts.bad_tlps + packets);
  // 48 bits under the CRC, if the token and the bit of a sync header are right
  const double expected = acknowledged * (1 - std::pow(1 - 1e-4, 48)) * std::pow(1 - 1e-4, 17);
  EXPECT_NEAR(static_cast<double>(counts.timeouts), expected, 5 * std::sqrt(expected));
  EXPECT_EQ(counts.timeouts, counts.bad_dllps);
}

// Of packets that follow each other, the next ACK makes up for a lost one.
TEST(DataLink, TheNextAcknowledgementIsForAllBefore) {
  DataLinkConfig at_once = config(4, 1e-6);
  at_once.ack_latency = 0;
  DataLink link(LineRate::of(4, 16), at_once);
  for (unsigned i = 0; i < 1'000'000; ++i) link.transmit(0, 24);
  see_all(link);
  const auto& counts = link.counts();
  EXPECT_GT(counts.bad_dllps, 30u);
  // Recovery alone takes longer than the timer, after which it has nothing to wait for.
  EXPECT_LT(counts.timeouts, 8u);
}

// An ACK that waits is for all packets that arrive until then.
TEST(DataLink, AnAcknowledgementWaitsForMorePackets) {
  constexpr unsigned packets = 2'000'000;
  DataLinkConfig values = config(1, 1e-6);
  values.ack_latency = 416 * 4'000;  // x1: three packets of 280 bytes take more than 1,664 ns
  DataLink link(LineRate::of(1, 1), values);
  for (unsigned i = 0; i < packets; ++i) link.transmit(0, 280);
  see_all(link);
  const double each = packets * 80e-6;
  EXPECT_NEAR(static_cast<double>(link.counts().dllp_receiver_errors), each / 2,
              4 * std::sqrt(each / 2) + 1);
}

// Of packets that are lost more often than not, every fourth loss in a row retrains the link.
TEST(DataLink, FourReplaysInVainRetrainTheLink) {
  DataLinkConfig often = config(3, 1e-4);
  DataLink link(LineRate::of(3, 16), often);
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
  const double error = 1 - std::pow(1 - 1e-4, (8 + 1 / 8.0) * (4096 + 24));
  const double expected = 20'000 * std::pow(error, 4) / (1 - std::pow(error, 4));
  EXPECT_NEAR(static_cast<double>(rollovers), expected, 0.05 * expected);
  const DataLink::Counts& counts = link.counts();
  EXPECT_EQ(counts.retrainings,
            counts.rollovers + counts.receiver_errors + counts.dllp_receiver_errors);
}

// At 64 GT/s, REPLAY_NUM grows by one only. As a packet, this is so many flits that most are wrong.
TEST(DataLink, EightReplaysOfFlitsInVainRetrainTheLink) {
  constexpr unsigned packets = 20'000, bytes = 60'000;
  constexpr double rate = 1e-4;
  DataLink link(LineRate::of(6, 16), config(6, rate));
  for (unsigned i = 0; i < packets; ++i) {
    link.transmit(0, bytes);
    see_all(link);
  }
  const double good = std::pow(1 - rate, 8);
  const auto correctable = [good](int size) {
    return std::pow(good, size) + size * (1 - good) * std::pow(good, size - 1);
  };
  const double flit = correctable(86) * correctable(85) * correctable(85);
  const double error = 1 - std::pow(flit, bytes / 236.0 + 1);
  const double expected = packets * std::pow(error, 8) / (1 - std::pow(error, 8));
  EXPECT_NEAR(static_cast<double>(link.counts().rollovers), expected, 0.06 * expected);
}

// What the ends see of one packet adds up to when it arrives: nothing is seen that costs no time,
// and nothing costs time unseen.
TEST(DataLink, EachEndSeesItsErrorsWhenTheyHappen) {
  using End = DataLink::End;
  std::map<Error, unsigned> found;
  for (unsigned generation = 1; generation <= 6; ++generation) {
    const LineRate rate = LineRate::of(generation, 1);
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
      const bool framed = generation >= 3 && generation <= 5;
      const auto what = [&link](End at) { return link.incidents(at).front().error; };
      while (next(End::receiver) != vp::never) {
        const vp::Picoseconds seen = next(End::receiver);
        if (generation == 6) {
          // The flit is one of those that hold the packet.
          ASSERT_LE(seen - values.arrival, sent) << i;
          sent = seen - values.arrival;
        }
        ASSERT_EQ(seen, sent + values.arrival) << generation << " " << i;
        vp::Picoseconds again = sent + values.round_trip;
        if (what(End::receiver) == Error::receiver_error) {
          take(End::receiver, seen, Error::receiver_error);
          if (framed) again += values.retraining;
        } else {
          ASSERT_TRUE(framed);
          take(End::receiver, seen, Error::bad_tlp);
        }
        // The NAK
        if (next(End::transmitter) == sent + values.round_trip &&
            what(End::transmitter) != Error::replay_rollover) {
          const bool lost = !framed || what(End::transmitter) == Error::bad_dllp;
          take(End::transmitter, sent + values.round_trip,
               framed && lost ? Error::bad_dllp : Error::receiver_error);
          if (lost) {
            again = sent + values.replay_timer;
            take(End::transmitter, again, Error::replay_timeout);
          } else {
            again += values.retraining;
          }
        }
        if (++in_vain % (generation == 6 ? 8 : 4) == 0) {
          take(End::transmitter, again, Error::replay_rollover);
          again += values.retraining;
        }
        sent = wire.occupy(again, bytes).to;
      }
      ASSERT_EQ(end, sent) << generation << " " << i;
      if (next(End::transmitter) != vp::never) {
        const bool lost = !framed || what(End::transmitter) == Error::bad_dllp;
        take(End::transmitter, sent + values.round_trip + values.ack_latency,
             framed && lost ? Error::bad_dllp : Error::receiver_error);
        if (lost) take(End::transmitter, sent + values.replay_timer, Error::replay_timeout);
      }
      ASSERT_EQ(next(End::transmitter), vp::never);
    }
  }
  EXPECT_EQ(found.size(), 5u);
  for (const auto& [error, count] : found) EXPECT_GT(count, 50u) << to_string(error);
}

TEST(DataLink, RecoveryForgetsWhatNobodyHasSeen) {
  const LineRate rate = LineRate::of(1, 16);
  DataLink link(rate, config(1, 1e-4));
  while (link.incidents(DataLink::End::transmitter).empty()) link.transmit(0, 4096);
  const auto& received = link.incidents(DataLink::End::receiver);
  const vp::Picoseconds first = received.front().when;
  ASSERT_GT(received.size(), 2u);
  link.retrain(rate, config(1, 1e-4), 1 * vp::s, 0, first);
  EXPECT_FALSE(received.empty()) << "seen at the last moment";
  EXPECT_EQ(received.back().when, first);
  EXPECT_TRUE(link.incidents(DataLink::End::transmitter).empty());
  link.retrain(LineRate::of(4, 16), config(4, 0), 1 * vp::s, 0, 0);
  EXPECT_TRUE(link.incidents(DataLink::End::transmitter).empty());
  EXPECT_TRUE(received.empty());
  Wire faster(LineRate::of(4, 16));
  EXPECT_EQ(link.transmit(0, 4096).to, faster.occupy(1 * vp::s, 4096).to);
  EXPECT_EQ(link.counts().bad_tlps, 0u) << "no end has observed them";
}

TEST(DataLink, TheReplayTimerStandsStillInRecovery) {
  const LineRate rate = LineRate::of(1, 1);
  const DataLinkConfig values = config(1, 1e-4);
  DataLink link(rate, values);
  const auto& seen = link.incidents(DataLink::End::transmitter);
  vp::Picoseconds ready = 0;
  do {
    see_all(link);
    link.transmit(ready += 1 * vp::ms, 24);
  } while (seen.empty() || !link.incidents(DataLink::End::receiver).empty());
  ASSERT_EQ(seen.back().error, Error::replay_timeout) << "the ACK is lost";
  const vp::Picoseconds expires = seen.back().when, saw = expires - 100 * vp::ns;
  link.retrain(rate, values, saw + 20 * vp::us, saw, saw);
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().when, expires + 20 * vp::us);
  link.retrain(rate, values, 1 * vp::s, -1, -1);
  EXPECT_TRUE(seen.empty()) << "the link was down";
}

// In flit mode at lower speeds, each of the 32 bits of the sync headers of a flit counts.
TEST(DataLink, FlitsBelow64GtHaveSyncHeaders) {
  constexpr unsigned packets = 1'000'000;
  constexpr double rate = 1e-6;
  DataLink link(LineRate::in_flits(4, 8), config(4, rate));
  for (unsigned i = 0; i < packets; ++i) link.transmit(0, 236);
  see_all(link);
  const double expected = packets * 32 * rate;
  EXPECT_NEAR(static_cast<double>(link.counts().retrainings), expected, 4 * std::sqrt(expected));
}

TEST(DataLink, TheSeedIsWhatErrorsDependOn) {
  const auto ends = [](std::uint64_t seed) {
    DataLinkConfig seeded = config(4, 1e-5);
    seeded.seed = seed;
    DataLink link(LineRate::of(4, 16), seeded);
    std::vector<vp::Picoseconds> found;
    for (unsigned i = 0; i < 5'000; ++i) found.push_back(link.transmit(0, 280).to);
    return found;
  };
  EXPECT_EQ(ends(1), ends(1));
  EXPECT_NE(ends(1), ends(2));
}

TEST(DataLink, ImpossibleValues) {
  const LineRate rate = LineRate::of(4, 16);
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
