// SPDX-License-Identifier: Apache-2.0
// Chains of cells: a block at each end, and relays between them, without firmware in the path.
#include "models/oae/relay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <vector>

#include "models/oae/wire.h"
#include "tests/models/oae/window_chain.h"

namespace {

class RelayModel : public testing::Test {
 protected:
  void make(unsigned hops, double bit_error_rate = 0, const std::string& trace = {}) {
    chain = std::make_unique<Chain>("", hops, true, bit_error_rate, trace);
  }
  void run(const std::function<void()>& script) { chain->first->run({script}); }
  static void pass(vp::Picoseconds span) { Fixture::pass(span); }
  static std::string scratch(const std::string& name) {
    return (std::filesystem::path(testing::TempDir()) / ("relay_" + name)).string();
  }
  static std::vector<nlohmann::json> records(const std::string& path) {
    std::vector<nlohmann::json> found;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) found.push_back(nlohmann::json::parse(line));
    return found;
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// When this number of an end first had this value, in ps, or -1.
  static std::int64_t when(const std::vector<nlohmann::json>& records, const std::string& link,
                           const char* key, unsigned value) {
    for (const auto& record : records) {
      if (record.contains("window") && record["window"] == link && record[key] == value) {
        return record["t"];
      }
    }
    return -1;
  }

  std::unique_ptr<Chain> chain;
};

TEST_F(RelayModel, WhatOneHostSwapsIsOfferedAtTheEndOfTheChain) {
  make(3);
  run([this] {
    chain->bring_up();
    chain->exchange_both_ways(30);
    pass(vp::us);
    EXPECT_EQ(chain->first->counter("link.brought"), 30u);
    EXPECT_EQ(chain->last->counter("link.brought"), 30u);
    for (const auto& cell : chain->middle) {
      for (const char* link : {"link0.", "link1."}) {
        EXPECT_EQ(cell->counter(link + std::string("strays")), 0u);
        EXPECT_GE(cell->counter(link + std::string("passed")), 30u);
      }
      EXPECT_EQ(cell->firmware[0].read(OAE_WINDOW_COUNT_PASSED), cell->counter("link0.passed"));
      EXPECT_EQ(cell->firmware[1].read(OAE_WINDOW_COUNT_PASSED), cell->counter("link1.passed"));
    }
  });
}

/// A hop is from the edge at which the head of a frame is on the pins of one cell until the edge at
/// which it is on those of the next one.
TEST_F(RelayModel, OneHopTakesLessThanFiftyNanoseconds) {
  const std::string trace = scratch("hop");
  make(4, 0, trace);
  run([this] {
    chain->bring_up();
    WindowHost host{5};
    EXPECT_EQ(chain->first->swap(host, 7), 0u);
    pass(2 * vp::us);
  });
  chain->close_traces();
  std::int64_t before = when(records(trace + ".first"), "first.oae.link", "sent", 1);
  const std::int64_t begin = before;
  ASSERT_GE(begin, 0);
  for (unsigned n = 1; n < 4; ++n) {
    const std::string name = "middle" + std::to_string(n);
    const std::int64_t left = when(records(trace + "." + name), name + ".relay.link1", "sent", 1);
    // 9 clocks in the cell, as in tests/rtl/relay. The group leaves within one more and arrives
    // after the 3.9 of the wire, so that it is seen 5 clocks after it was on the pins.
    EXPECT_EQ(left - before, 14 * clock_period) << "hop " << n;
    EXPECT_LT(left - before, 50 * vp::ns);
    before = left;
  }
  // The commitment is end to end.
  const auto of_last = records(trace + ".last");
  const auto of_first = records(trace + ".first");
  const std::int64_t held = when(of_last, "last.oae.link", "expected", 2);
  const std::int64_t committed = when(of_last, "last.oae.link", "done", 1);
  const std::int64_t settled = when(of_first, "first.oae.link", "settled", 1);
  EXPECT_GT(held, before + metre);
  EXPECT_GT(committed, held + 8 * metre) << "there and back, over 4 hops";
  EXPECT_GT(settled, committed + 4 * metre);
}

TEST_F(RelayModel, TheClockStopsWhileNothingHappens) {
  make(2);
  run([this] {
    oae::Relay& relay = *chain->middle[0]->relay;
    chain->join();
    pass(vp::us);
    const std::uint64_t held_off = relay.clocks();
    pass(2 * vp::ms);
    EXPECT_EQ(relay.clocks(), held_off);
    chain->bring_up();
    chain->exchange_both_ways(3);
    pass(100 * vp::us);
    const std::uint64_t clocks = relay.clocks();
    pass(vp::s);
    EXPECT_EQ(relay.clocks(), clocks);
    chain->exchange_both_ways(1);
    pass(vp::us);
    EXPECT_GT(relay.clocks(), clocks);
    EXPECT_LT(relay.clocks(), clocks + 1'000);
  });
}

// The clock of each cell stands still in the meantime. What another end sends would be later.
TEST_F(RelayModel, ItHoldsOffAfterPowerUpAsLongAsOtherEnds) {
  const std::string trace = scratch("hold_off");
  make(2, 0, trace);
  run([this] { chain->bring_up(); });
  chain->close_traces();
  const auto begins = [&](const char* cell, const char* link) -> std::int64_t {
    for (const auto& record : records(trace + cell)) {
      if (record.contains("link") && record["link"] == link && record["to"] == "initialising") {
        return record["t"];
      }
    }
    return -1;
  };
  const std::int64_t time = begins(".first", "first.oae.link");
  EXPECT_GE(time, hold_off);
  EXPECT_EQ(begins(".middle1", "middle1.relay.link0"), time);
  EXPECT_EQ(begins(".middle1", "middle1.relay.link1"), time);
}

TEST_F(RelayModel, ACutInTheMiddleLosesAndRepeatsNothing) {
  make(3);
  run([this] {
    chain->bring_up();
    std::uint64_t answered = 0;
    for (unsigned round = 1; round < 30; ++round) {
      pass(vp::ms);  // A mistake of the stopped clock would show.
      ASSERT_EQ(chain->first->exchange(chain->here, 2 * round), round == 1 ? 0 : 2 * round - 1);
      pass(round * 7 * vp::ns);
      chain->cut_behind(round % 2, true);
      pass(100 * vp::us);
      EXPECT_EQ(chain->middle[round % 2]->phase(1), unsigned{OAE_WINDOW_PHASE_DOWN}) << round;
      chain->cut_behind(round % 2, false);
      chain->take_up();
      ASSERT_EQ(chain->last->exchange(chain->there, 2 * round + 1), answered) << round;
      answered = 2 * round;
    }
    for (const auto& cell : chain->middle) {
      const std::pair<unsigned, bool> raised{1, true};
      EXPECT_GT(std::count(cell->lines.begin(), cell->lines.end(), raised), 0) << "the interrupt";
      EXPECT_GT(cell->counter("link1.groups_lost"), 0u);
    }
  });
}

TEST_F(RelayModel, BitErrorsLoseAndRepeatNothing) {
  make(3, 1e-4);
  run([this] {
    chain->bring_up();
    chain->exchange_both_ways(300);
    for (const auto& cell : chain->middle) EXPECT_GT(cell->counter("link0.groups_damaged"), 5u);
  });
}

TEST_F(RelayModel, ASlotWithoutARouteTakesTheLinkDownUntilItHasOne) {
  make(2);
  run([this] {
    MiddleCell& middle = *chain->middle[0];
    chain->first->join();
    chain->last->join();
    middle.join(port_mask & ~(std::uint64_t{1} << 5));
    pass(hold_off + 5 * vp::us);
    chain->first->open(5);
    chain->last->open(5);
    ASSERT_EQ(chain->first->exchange(chain->here, 2), 0u);
    pass(5 * vp::us);
    EXPECT_EQ(middle.phase(0), unsigned{OAE_WINDOW_PHASE_DOWN});
    EXPECT_EQ(middle.counter("link0.strays"), 1u);
    EXPECT_EQ(middle.firmware[0].read(OAE_WINDOW_COUNT_STRAY), 1u);
    EXPECT_EQ(chain->last->counter("link.brought"), 0u);
    middle.join();
    chain->take_up();
    pass(20 * vp::us);
    ASSERT_EQ(chain->last->exchange(chain->there, 3), 0u);
    ASSERT_EQ(chain->last->exchange(chain->there, 5), 2u);
    EXPECT_EQ(middle.counter("link0.strays"), 1u);
  });
}

// Two chains do the same at the same time. One of them has the library with checks.
TEST_F(RelayModel, BothLibrariesHaveOneCourse) {
  const std::string trace = scratch("libraries");
  make(3, 1e-5, trace);
  Chain fast("fast_", 3, false, 1e-5, trace + ".fast");
  const auto script = [](Chain& one) {
    one.bring_up();
    one.exchange_both_ways(60);
  };
  chain->first->run({[&] { script(*chain); }, [&] { script(fast); }});
  chain->close_traces();
  fast.close_traces();
  for (const char* cell : {".first", ".middle1", ".middle2", ".last"}) {
    const std::string lines = text_of(trace + cell);
    EXPECT_GT(std::count(lines.begin(), lines.end(), '\n'), 200);
    EXPECT_EQ(lines, std::regex_replace(text_of(trace + ".fast" + cell), std::regex("fast_"), ""));
  }
}

TEST_F(RelayModel, RefusesAnImpossibleClock) {
  vp::Domain domain("domain");
  vp::Trace trace;
  vp::Statistics statistics;
  for (const std::uint64_t hertz : {0ull, 999ull, 10'000'000'001ull}) {
    oae::RelayConfig config;
    config.clock_hz = hertz;
    EXPECT_THROW(oae::Relay("relay", config, domain, trace, statistics), oae::ConfigurationError);
  }
}

TEST_F(RelayModel, BothEndsOfALinkHaveOneRate) {
  make(2);
  oae::RelayConfig config;
  config.clock_hz = clock_hz / 2;
  MiddleCell slow("slow", config, {});
  MiddleCell usual("usual", {}, {});
  EXPECT_THROW(oae::WindowLink::connect(slow.relay->link(0), usual.relay->link(1), metre),
               oae::ConfigurationError);
}

}  // namespace
