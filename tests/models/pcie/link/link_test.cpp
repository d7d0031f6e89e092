// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/link/link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "models/pcie/config/header.h"
#include "models/pcie/protocol/configuration_error.h"
#include "models/pcie/protocol/ordering.h"
#include "models/pcie/protocol/tlp_trace.h"

namespace pcie {
namespace {

struct End : Port {
  struct Arrival {
    vp::Picoseconds when;
    std::uint64_t address;
  };
  std::vector<Arrival> arrivals;
  std::vector<TlpPtr> packets;
  std::function<void()> on_arrival;
  bool is_ready[credit_classes] = {true, true, true};
  unsigned generation = 0, lanes = 0;

  using Port::drain;
  using Port::hold_link;
  using Port::Port;
  using Port::release_link;
  using Port::send;
  End(vp::Domain& domain, const PortConfig& config) : Port(domain, config) {}
  void receive(TlpPtr tlp) override {
    arrivals.push_back({vp::now(), tlp->get_address()});
    packets.push_back(std::move(tlp));
    if (on_arrival) on_arrival();
  }
  bool ready(const Tlp& tlp) const override {
    return is_ready[static_cast<unsigned>(credit_class(tlp.header.type))];
  }
  void trained(unsigned new_generation, unsigned new_lanes) override {
    generation = new_generation;
    lanes = new_lanes;
    up_since = vp::now();
  }
  void link_lost(Reset) override { lost.push_back(vp::now()); }
  std::vector<vp::Picoseconds> lost;
  vp::Picoseconds up_since = 0;
};

struct Pair {
  vp::Domain host{sc_core::sc_gen_unique_name("host")};
  vp::Domain card{sc_core::sc_gen_unique_name("card")};
  vp::Trace trace;
  vp::Statistics statistics;
  End up;
  End down;
  Link link;

  explicit Pair(LinkConfig config, PortConfig up_config = {5, 16, 7 * vp::ns},
                PortConfig down_config = {5, 16, 3 * vp::ns})
      : up(host, up_config),
        down(card, down_config),
        link("link", config, up, down, trace, statistics) {}
};

TEST(Link, ArrivesAfterAllLatenciesAndItsBytes) {
  Pair pair({3, 8, 100 * vp::ns, 90 * vp::ns});
  const LineRate rate = pair.link.rate();
  auto time = [&](unsigned bytes) {
    return static_cast<vp::Picoseconds>((bytes * rate.picoseconds + rate.bytes - 1) / rate.bytes);
  };
  pair.up.send(Tlp::memory_read(0x1000, 8));
  pair.down.send(Tlp::memory_read(0x100000000, 8));
  sc_core::sc_start();
  ASSERT_EQ(pair.down.arrivals.size(), 1u);
  ASSERT_EQ(pair.up.arrivals.size(), 1u);
  EXPECT_EQ(pair.down.arrivals[0].when, 110 * vp::ns + time(20));
  EXPECT_EQ(pair.up.arrivals[0].when, 100 * vp::ns + time(24));
}

TEST(Link, KeepsOrderAndRateOverManyInFlight) {
  Pair pair({4, 16, 5 * vp::us, 0});
  const LineRate rate = pair.link.rate();
  const std::vector<std::uint8_t> data(256);
  std::uint64_t bytes = 0;
  std::vector<vp::Picoseconds> expected;
  for (unsigned i = 0; i < 500; ++i) {
    const unsigned length = 1 + i % 256;
    pair.up.send(Tlp::memory_write(0x1000 * i, data.data(), length));
    bytes += 20 + (length + 3) / 4 * 4;
    expected.push_back(
        5 * vp::us + 10 * vp::ns +
        static_cast<vp::Picoseconds>((bytes * rate.picoseconds + rate.bytes - 1) / rate.bytes));
  }
  sc_core::sc_start();
  ASSERT_EQ(pair.down.arrivals.size(), 500u);
  for (unsigned i = 0; i < 500; ++i) {
    EXPECT_EQ(pair.down.arrivals[i].address, 0x1000 * i);
    EXPECT_EQ(pair.down.arrivals[i].when, expected[i]);
  }
  EXPECT_EQ(pair.link.count(Direction::down, TlpType::MWr).tlps, 500u);
  EXPECT_EQ(pair.link.count(Direction::up, TlpType::MWr).tlps, 0u);
}

TEST(Link, AnIdleLinkHasNoAppointment) {
  Pair pair({});
  EXPECT_EQ(pair.host.next_event(), vp::never);
  EXPECT_EQ(pair.card.next_event(), vp::never);
  pair.up.send(Tlp::memory_read(0, 4));
  pair.up.send(Tlp::memory_read(0, 4));
  EXPECT_EQ(pair.host.next_event(), vp::never) << "it is the receiver's future";
  EXPECT_NE(pair.card.next_event(), vp::never);
  sc_core::sc_start();
  EXPECT_EQ(pair.down.arrivals.size(), 2u);
  EXPECT_EQ(pair.card.next_event(), vp::never);
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

// The lookahead holds for the shortest packet, and is no less than it could be by more than the
// rounding.
TEST(Link, NothingArrivesBeforeTheLookahead) {
  Pair pair({5, 16, 100 * vp::ns, 80 * vp::ns});
  EXPECT_EQ(pair.card.horizon(), vp::never) << "both domains are idle";
  pair.up.send(Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::unsupported_request));
  pair.down.send(Tlp::completion(*Tlp::memory_read(0, 4), 0, Status::unsupported_request));
  sc_core::sc_start();
  const vp::Picoseconds down = pair.link.min_latency(Direction::down);
  const vp::Picoseconds up = pair.link.min_latency(Direction::up);
  EXPECT_GT(down, 110 * vp::ns);
  EXPECT_GT(up, 90 * vp::ns);
  EXPECT_GE(pair.down.arrivals.at(0).when, down);
  EXPECT_LE(pair.down.arrivals.at(0).when, down + 1);
  EXPECT_GE(pair.up.arrivals.at(0).when, up);
  EXPECT_LE(pair.up.arrivals.at(0).when, up + 1);
}

// In flit mode a packet has no framing at any speed. It arrives with its flit, which takes a
// microsecond on this link.
TEST(Link, NothingInFlitsArrivesBeforeTheLookahead) {
  Pair pair({1, 1, 100 * vp::ns, 80 * vp::ns}, {6, 16, 7 * vp::ns}, {6, 16, 3 * vp::ns});
  const TlpPtr read = Tlp::memory_read(0, 4);
  vp::Picoseconds least = vp::never;
  for (unsigned i = 0; i < 500; ++i) {
    const vp::Picoseconds start = vp::now();
    pair.up.send(Tlp::completion(*read, 0, Status::success));
    sc_core::sc_start(3'333, sc_core::SC_NS);
    ASSERT_EQ(pair.down.arrivals.size(), i + 1);
    least = std::min(least, pair.down.arrivals.back().when - start);
  }
  EXPECT_GE(least, pair.link.min_latency(Direction::down));
  EXPECT_LE(least, pair.link.min_latency(Direction::down) + 10 * vp::ns);
}

TEST(Link, AnArrivalWhereAProcessorHasBeenIsABrokenPromise) {
  Pair pair({5, 16, 100 * vp::ns, 90 * vp::ns});
  pair.card.reach(1 * vp::us);
  EXPECT_THROW(pair.up.send(Tlp::memory_read(0x1000, 8)), vp::BrokenPromise);
  EXPECT_NO_THROW(pair.down.send(Tlp::memory_read(0x1000, 8)));
}

TEST(Link, DomainsKnowEachOther) {
  Pair pair({5, 16, 100 * vp::ns, 80 * vp::ns});
  vp::Event something(pair.host, [] {});
  something.at(1 * vp::us);
  EXPECT_EQ(pair.card.horizon(), 1 * vp::us + pair.link.min_latency(Direction::down));
  something.cancel();
  vp::Event other(pair.card, [] {});
  other.at(2 * vp::us);
  EXPECT_EQ(pair.host.horizon(), 2 * vp::us + pair.link.min_latency(Direction::up));
}

// Credits

PortConfig with_credits(Credits posted, Credits non_posted, Credits completion) {
  PortConfig config{5, 16, 3 * vp::ns};
  config.credits.classes = {posted, non_posted, completion};
  return config;
}

std::vector<std::uint64_t> addresses(const End& end) {
  std::vector<std::uint64_t> found;
  for (const auto& one : end.arrivals) found.push_back(one.address);
  return found;
}

TEST(Link, WhatHasNoCreditsWaitsForTheReceiver) {
  Pair pair({5, 16, 100 * vp::ns, 90 * vp::ns}, {5, 16, 7 * vp::ns}, with_credits({2, 32}, {}, {}));
  const std::vector<std::uint8_t> data(256);
  for (unsigned i = 0; i < 5; ++i) pair.up.send(Tlp::memory_write(0x1000 * i, data.data(), 256));
  sc_core::sc_start();
  EXPECT_EQ(addresses(pair.down), (std::vector<std::uint64_t>{0, 0x1000, 0x2000, 0x3000, 0x4000}));
  const vp::Picoseconds back = pair.link.min_latency(Direction::up);
  const auto& at = pair.down.arrivals;
  const vp::Picoseconds forth = at[0].when;  // sent at 0
  // The first credit waits for the second one, with which the sender has none left.
  EXPECT_EQ(at[2].when, at[1].when + back + forth);
  EXPECT_EQ(at[3].when, at[2].when + at[1].when - at[0].when);
  EXPECT_EQ(at[4].when, at[3].when + back + forth);
  EXPECT_EQ(pair.host.next_event(), vp::never) << "all have left";
}

// A packet that is on the wire is completed first, and those that wait for the wire come later.
TEST(Link, CreditsFollowThePacketOnTheirWire) {
  Pair pair({1, 1, 100 * vp::ns, 90 * vp::ns}, {5, 16, 7 * vp::ns}, with_credits({1, 16}, {}, {}));
  const std::vector<std::uint8_t> data(256);
  // 276 bytes of 10 bits of 400 ps; 4 of 1,538 symbols are an SKP ordered set.
  constexpr double packet = 276 * 4'000.0 * 1'538 / 1'534;
  const auto send = [&](End& from) {
    from.send(Tlp::memory_write(0x1000, data.data(), data.size()));
  };
  const auto wait = [](double span) {
    sc_core::wait(vp::to_sc_time(static_cast<vp::Picoseconds>(span)));
  };
  sc_core::sc_spawn([&] {
    const double forth = 110'000 + packet;
    const struct {
      unsigned packets;  // that the receiver sends
      double before;     // the arrival of the write which frees the credits
      double delay;      // of the credits
    } scenarios[] = {{0, 0, 0},
                     {1, 100'000, packet - 100'000},
                     {1, packet - 1'000, 1'000},
                     {1, packet + 1'000, 0},
                     {3, 100'000, packet - 100'000},
                     {3, packet + 1'000, packet - 1'000},
                     {3, 2.5 * packet, packet / 2}};
    for (const auto& [packets, before, delay] : scenarios) {
      // The packets of a scenario that lasts longer than the write has its own place.
      const double early = std::max(before - forth, 0.0);
      pair.down.arrivals.clear();
      const auto start = static_cast<double>(vp::now()) + early;
      sc_core::sc_spawn([&, early] {
        wait(early);
        send(pair.up);
        send(pair.up);
      });
      wait(early + forth - before);
      for (unsigned i = 0; i < packets; ++i) send(pair.down);
      wait(50'000'000);
      ASSERT_EQ(pair.down.arrivals.size(), 2u);
      EXPECT_NEAR(static_cast<double>(pair.down.arrivals[0].when), start + forth, 2);
      const auto back = static_cast<double>(pair.link.min_latency(Direction::up));
      EXPECT_NEAR(static_cast<double>(pair.down.arrivals[1].when), start + 2 * forth + back + delay,
                  4)
          << packets << " " << before;
    }
  });
  sc_core::sc_start();
}

TEST(Link, OthersPassWhatWaitsForCreditsAsTheTableSays) {
  Pair pair({5, 16, 100 * vp::ns, 90 * vp::ns}, {5, 16, 7 * vp::ns},
            with_credits({1, 16}, {1, 1}, {}));
  pair.down.is_ready[static_cast<unsigned>(CreditClass::non_posted)] = false;
  const std::uint8_t byte = 0;
  pair.up.send(Tlp::memory_read(0x1000, 4));
  pair.up.send(Tlp::memory_read(0x2000, 4));  // no credit
  pair.up.send(Tlp::memory_write(0x3000, &byte, 1));
  pair.up.send(Tlp::memory_write(0x4000, &byte, 1));
  sc_core::sc_start();
  EXPECT_EQ(addresses(pair.down), (std::vector<std::uint64_t>{0x3000, 0x4000}));
  pair.down.is_ready[static_cast<unsigned>(CreditClass::non_posted)] = true;
  pair.down.drain();
  sc_core::sc_start();
  EXPECT_EQ(addresses(pair.down), (std::vector<std::uint64_t>{0x3000, 0x4000, 0x1000, 0x2000}));
}

TEST(Link, AReadWaitsBehindAWriteThatWaits) {
  Pair pair({5, 16, 100 * vp::ns, 90 * vp::ns}, {5, 16, 7 * vp::ns}, with_credits({1, 16}, {}, {}));
  pair.down.is_ready[static_cast<unsigned>(CreditClass::posted)] = false;
  const std::uint8_t byte = 0;
  pair.up.send(Tlp::memory_write(0x1000, &byte, 1));
  pair.up.send(Tlp::memory_write(0x2000, &byte, 1));
  pair.up.send(Tlp::memory_read(0x3000, 4));
  TlpPtr relaxed = Tlp::memory_write(0x4000, &byte, 1);
  relaxed->header.relaxed_ordering = true;
  pair.up.send(std::move(relaxed));
  sc_core::sc_start();
  EXPECT_TRUE(pair.down.arrivals.empty()) << "neither the read nor, for credits, the write";
  pair.down.is_ready[static_cast<unsigned>(CreditClass::posted)] = true;
  pair.down.drain();
  sc_core::sc_start();
  EXPECT_EQ(addresses(pair.down), (std::vector<std::uint64_t>{0x1000, 0x2000, 0x3000, 0x4000}));
}

// Any advertisement, both ways, with receivers that stop and go: all arrive once, and none where
// the ordering table forbids it.
class LinkCredits : public testing::TestWithParam<unsigned> {};

TEST_P(LinkCredits, LoseNothingAndKeepTheOrder) {
  std::mt19937 random(GetParam());
  const auto any = [&](unsigned least, unsigned most) {
    return random() % 4 == 0 ? 0 : least + static_cast<unsigned>(random() % (most - least + 1));
  };
  const auto port = [&] {
    return with_credits({any(1, 20), any(16, 200)}, {any(1, 8), any(1, 8)},
                        {any(1, 20), any(16, 200)});
  };
  Pair pair({5, 16, 30 * vp::ns, 20 * vp::ns}, port(), port());
  const std::vector<std::uint8_t> data(256);
  std::map<const End*, std::vector<TlpHeader>> sent;
  std::uint64_t serial = 0;
  const auto send = [&](End& from) {
    TlpPtr tlp;
    const unsigned bytes = 4 * (1 + random() % 64);
    switch (random() % 5) {
      case 0:
        tlp = Tlp::memory_read(0, bytes);
        break;
      case 1:
        tlp = Tlp::config_write(false, Header::vendor_id, 0, 4, 0);
        break;
      case 2:
        tlp = Tlp::completion(*Tlp::memory_read(0, bytes), 0, Status::success);
        tlp->header.type = TlpType::CplD;
        tlp->header.length = bytes / 4;
        break;
      default:
        tlp = Tlp::memory_write(0, data.data(), bytes);
    }
    tlp->header.requester = static_cast<Id>(random() % 2);
    tlp->header.completer = static_cast<Id>(random() % 2);
    tlp->header.tag = random() % 3;
    tlp->header.relaxed_ordering = random() % 4 == 0;
    tlp->header.id_based_ordering = random() % 4 == 0;
    tlp->set_address(4 * serial++);
    sent[&from].push_back(tlp->header);
    sent[&from].back().register_offset = static_cast<std::uint16_t>(sent[&from].size() - 1);
    tlp->header.register_offset = sent[&from].back().register_offset;
    from.send(std::move(tlp));
  };
  for (unsigned i = 0; i < 3'000; ++i) {
    for (End* end : {&pair.up, &pair.down}) {
      if (random() % 2) send(*end);
      if (random() % 8 == 0) {
        bool& ready = end->is_ready[random() % credit_classes];
        ready = !ready;
        end->drain();
      }
    }
    sc_core::sc_start(vp::to_sc_time(1 + random() % 8'000));
  }
  for (End* end : {&pair.up, &pair.down}) {
    std::fill(std::begin(end->is_ready), std::end(end->is_ready), true);
    end->drain();
  }
  if (sc_core::sc_pending_activity()) sc_core::sc_start();
  for (End* end : {&pair.up, &pair.down}) {
    const auto& all = sent[end == &pair.up ? &pair.down : &pair.up];
    ASSERT_EQ(end->packets.size(), all.size());
    std::vector<std::size_t> place(all.size(), all.size());
    for (std::size_t i = 0; i < end->packets.size(); ++i) {
      ASSERT_EQ(place.at(end->packets[i]->header.register_offset), all.size()) << "twice";
      place[end->packets[i]->header.register_offset] = i;
    }
    for (std::size_t later = 0; later < all.size(); ++later) {
      for (std::size_t earlier = later > 200 ? later - 200 : 0; earlier < later; ++earlier) {
        if (passing(all[later], all[earlier]) == Passing::no) {
          ASSERT_LT(place[earlier], place[later])
              << to_string(all[later].type) << " has passed " << to_string(all[earlier].type);
        }
      }
    }
  }
  EXPECT_FALSE(sc_core::sc_pending_activity());
}

INSTANTIATE_TEST_SUITE_P(Seeds, LinkCredits, testing::Range(1u, 21u));

TEST(Link, TrainsToWhatAllPartsKnow) {
  Pair pair({4, 8}, {5, 16, 0}, {3, 4, 0});
  EXPECT_EQ(pair.link.generation(), 3u);
  EXPECT_EQ(pair.link.lanes(), 4u);
  EXPECT_EQ(pair.up.generation, 3u);
  EXPECT_EQ(pair.down.lanes, 4u);
}

// What has not arrived when an end goes down is lost; the lanes are free afterwards.
TEST(Link, GoesDownForEachEndAndLosesWhatIsOnItsWay) {
  Pair pair({3, 8, 100 * vp::ns, 90 * vp::ns, 256, 10 * vp::us});
  const std::vector<std::uint8_t> data(256);
  const vp::Picoseconds away = pair.link.min_latency(Direction::down);
  sc_core::sc_spawn([&] {
    for (unsigned i = 0; i < 1000; ++i) {
      pair.up.send(Tlp::memory_write(0x1000, data.data(), 256));
      pair.down.send(Tlp::memory_write(0x2000, data.data(), 256));
    }
    sc_core::wait(sc_core::SC_ZERO_TIME);
    sc_core::wait(vp::to_sc_time(1 * vp::us));
    pair.up.hold_link(Reset::hot);
    EXPECT_FALSE(pair.up.link_up());
    EXPECT_TRUE(pair.down.link_up());
    pair.up.send(Tlp::memory_write(0x3000, data.data(), 256));
    pair.down.send(Tlp::memory_write(0x3000, data.data(), 256));
    sc_core::wait(vp::to_sc_time(1 * vp::us));
    EXPECT_FALSE(pair.down.link_up());
    pair.down.send(Tlp::memory_write(0x3000, data.data(), 256));
    EXPECT_TRUE(pair.up.release_link(Reset::hot));
    sc_core::wait(vp::to_sc_time(10 * vp::us));
    sc_core::wait(1, sc_core::SC_PS);
    EXPECT_TRUE(pair.up.link_up() && pair.down.link_up());
    pair.up.send(Tlp::memory_write(0x4000, data.data(), 4));
    pair.down.send(Tlp::memory_write(0x4000, data.data(), 4));
  });
  sc_core::sc_start();
  EXPECT_EQ(pair.up.lost, std::vector<vp::Picoseconds>{1 * vp::us});
  EXPECT_EQ(pair.down.lost, std::vector<vp::Picoseconds>{1 * vp::us + away});
  for (const End* end : {&pair.up, &pair.down}) {
    EXPECT_EQ(end->up_since, 12 * vp::us);
    ASSERT_GT(end->arrivals.size(), 10u);
    ASSERT_LT(end->arrivals.size(), 100u);
    for (std::size_t i = 0; i + 1 < end->arrivals.size(); ++i) {
      EXPECT_LE(end->arrivals[i].when, end->lost[0]);
      EXPECT_LT(end->arrivals[i].address, 0x3000u);
    }
    EXPECT_EQ(end->arrivals.back().address, 0x4000u);
    EXPECT_LT(end->arrivals.back().when, 12 * vp::us + 130 * vp::ns) << "nothing is before it";
  }
}

TEST(Link, ImpossibleLinks) {
  EXPECT_THROW(Pair({7, 16}, {7, 16, 0}, {7, 16, 0}), ConfigurationError);
  EXPECT_THROW(Pair({5, 3}), ConfigurationError);
  EXPECT_THROW(Pair({5, 16, -1}), ConfigurationError);
  EXPECT_THROW(Pair({5, 16, 0, 0, 100}), ConfigurationError);
  EXPECT_THROW(Pair({5, 16, 0, 0, 256, -1}), ConfigurationError);
}

TEST(Link, APortTakesOneLink) {
  Pair pair({});
  End other(pair.card, {5, 16, 0});
  EXPECT_THROW(Link("second", {}, pair.up, other, pair.trace, pair.statistics), ConfigurationError);
  EXPECT_FALSE(other.link_up());
}

TEST(Link, TraceHasEachPacketOnce) {
  const std::string path = testing::TempDir() + "link_test_trace.jsonl";
  Pair pair({3, 8, 100 * vp::ns, 100 * vp::ns});
  pair.trace.open(path, {{"version", 1}});
  const std::vector<std::uint8_t> data{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  TlpPtr write = Tlp::memory_write(0x40000003, data.data(), 9);
  write->header.requester = make_id(0, 1, 0);
  pair.up.send(std::move(write));
  TlpPtr config = Tlp::config_read(false, make_id(1, 0, 2), 0x3d, 1);
  config->header.tag = 17;
  TlpPtr refusal = Tlp::completion(*config, make_id(1, 0, 2), Status::unsupported_request);
  pair.up.send(std::move(config));
  pair.down.send(std::move(refusal));
  sc_core::sc_start();
  pair.trace.close();

  std::ifstream file(path);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1]["t"], 7 * vp::ns);
  EXPECT_EQ(lines[1]["arr"].get<vp::Picoseconds>() + 3 * vp::ns, pair.down.arrivals[0].when);
  EXPECT_EQ(lines[1]["link"], "link");
  EXPECT_EQ(lines[1]["dir"], "down");
  EXPECT_EQ(lines[1]["type"], "MWr");
  EXPECT_EQ(lines[1]["req"], "00:01.0");
  EXPECT_EQ(lines[1]["addr"], "0x40000003");
  EXPECT_EQ(lines[1]["len"], 9);
  EXPECT_EQ(lines[1]["digest"], "cbf43926") << "the check value of CRC-32";
  EXPECT_EQ(lines[2]["type"], "CfgRd0");
  EXPECT_EQ(lines[2]["id"], "01:00.2");
  EXPECT_EQ(lines[2]["reg"], "0x03d");
  EXPECT_EQ(lines[2]["tag"], 17);
  EXPECT_FALSE(lines[2].contains("digest"));
  EXPECT_EQ(lines[3]["dir"], "up");
  EXPECT_EQ(lines[3]["type"], "Cpl");
  EXPECT_EQ(lines[3]["status"], "UR");
}

}  // namespace
}  // namespace pcie
