// SPDX-License-Identifier: Apache-2.0
// Two blocks whose ports are joined by a link with a window, without firmware in the path.
#include "models/oae/window_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>

#include "tests/models/oae/window_cell.h"

namespace {

class WindowLinkModel : public testing::Test {
 protected:
  void make(const oae::WindowLinkConfig& config = {}, bool checked = true,
            const std::string& trace = {}) {
    a = std::make_unique<WindowCell>("a", config, checked, trace.empty() ? trace : trace + ".a");
    b = std::make_unique<WindowCell>("b", config, checked, trace.empty() ? trace : trace + ".b");
  }
  void connect(vp::Picoseconds delay = metre) {
    oae::WindowLink::connect(*a->block->links()[0], *b->block->links()[0], delay);
  }
  void run(const std::function<void()>& script) { a->run({script}); }
  static void pass(vp::Picoseconds span) { Fixture::pass(span); }
  void bring_up() {
    a->join();
    b->join();
    pass(hold_off + 5 * vp::us);
    EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_UP});
    EXPECT_EQ(b->phase(), unsigned{OAE_WINDOW_PHASE_UP});
    a->open(5);
    b->open(5);
  }
  void cut(bool is_cut) {
    a->block->links()[0]->cut(is_cut);
    b->block->links()[0]->cut(is_cut);
  }
  /// Both hosts swap in turn. Each is answered by what the other one has sent before.
  void exchange_both_ways(unsigned rounds) {
    for (; rounds > 0; --rounds) {
      ++sent_;
      ASSERT_EQ(a->exchange(here_, 2 * sent_), sent_ == 1 ? 0 : 2 * (sent_ - 1) + 1);
      ASSERT_EQ(b->exchange(there_, 2 * sent_ + 1), sent_ == 1 ? 0 : 2 * (sent_ - 1));
    }
  }
  static std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static std::string scratch(const std::string& name) {
    return (std::filesystem::path(testing::TempDir()) / ("window_link_" + name)).string();
  }

  std::unique_ptr<WindowCell> a;
  std::unique_ptr<WindowCell> b;

 private:
  WindowHost here_{5};
  WindowHost there_{5};
  std::uint64_t sent_ = 0;
};

TEST_F(WindowLinkModel, WhatOneHostSwapsIsOfferedToTheOther) {
  make();
  connect();
  run([this] {
    bring_up();
    exchange_both_ways(30);
    pass(vp::us);
    EXPECT_EQ(a->counter("link.passed"), 30u);
    EXPECT_EQ(a->counter("link.brought"), 30u);
    EXPECT_EQ(b->counter("link.strays"), 0u);
    EXPECT_EQ(b->link.read(OAE_WINDOW_COUNT_BROUGHT), 30u);
  });
}

TEST_F(WindowLinkModel, ItHoldsOffAfterPowerUp) {
  make();
  connect();
  run([this] {
    a->join();
    b->join();
    pass(hold_off - 10 * vp::us);
    EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
    EXPECT_TRUE(a->link.read(OAE_WINDOW_STATE) & OAE_WINDOW_STATE_HOLDS_OFF_MASK);
    pass(15 * vp::us);
    EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_UP});
  });
}

TEST_F(WindowLinkModel, TheClockStopsWhileNothingHappens) {
  make();
  connect();
  run([this] {
    a->join();
    b->join();
    pass(vp::us);
    const std::uint64_t held_off = a->block->clocks();
    pass(2 * vp::ms);
    EXPECT_EQ(a->block->clocks(), held_off);
    bring_up();
    exchange_both_ways(3);
    pass(100 * vp::us);
    const std::uint64_t clocks = a->block->clocks() + b->block->clocks();
    pass(vp::s);
    EXPECT_EQ(a->block->clocks() + b->block->clocks(), clocks);
    exchange_both_ways(1);
    EXPECT_LT(a->block->clocks() + b->block->clocks(), clocks + 1'000);
  });
}

/// From the edge at which the slot is committed at its host's port until the edge at which the
/// other cell's port has stored it
TEST_F(WindowLinkModel, OneHopTakesLessThanAHundredNanoseconds) {
  const std::string trace = scratch("hop");
  make({}, true, trace);
  connect();
  run([this] {
    bring_up();
    WindowHost host{5};
    EXPECT_EQ(a->swap(host, 7), 0u);
    pass(2 * vp::us);
  });
  a->trace.close();
  b->trace.close();
  std::optional<std::int64_t> committed;
  std::optional<std::int64_t> brought;
  std::ifstream of_a(trace + ".a");
  std::ifstream of_b(trace + ".b");
  for (std::string line; std::getline(of_a, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record.contains("swap") && record["to"] == "committed") committed = record["t"];
  }
  for (std::string line; std::getline(of_b, line);) {
    const auto record = nlohmann::json::parse(line);
    if (record.contains("bridge") && record["brings"] == 1) brought = record["t"];
  }
  ASSERT_TRUE(committed && brought);
  EXPECT_LT(*brought - *committed, 100 * vp::ns);
  EXPECT_GT(*brought - *committed, 60 * vp::ns);
}

TEST_F(WindowLinkModel, ALongerWireTakesLonger) {
  make();
  connect(200 * metre);
  run([this] {
    bring_up();
    pass(20 * vp::us);  // for the ports' greetings
    WindowHost host{5};
    EXPECT_EQ(a->swap(host, 7), 0u);
    pass(3 * vp::us);  // three times the wire of 1 us
    EXPECT_EQ(b->counter("link.brought"), 0u);
    pass(150 * vp::ns);
    EXPECT_EQ(b->counter("link.brought"), 1u);
  });
}

TEST_F(WindowLinkModel, ACutLosesAndRepeatsNothing) {
  make();
  connect();
  run([this] {
    bring_up();
    WindowHost here{6};
    WindowHost there{6};
    a->open(6);
    b->open(6);
    std::uint64_t answered = 0;
    for (unsigned round = 1; round < 30; ++round) {
      // The wire is idle so long that a mistake of the stopped clock would show.
      pass(vp::ms);
      ASSERT_EQ(a->exchange(here, 2 * round), round == 1 ? 0 : 2 * round - 1);
      pass(round * 7 * vp::ns);
      cut(true);
      pass(100 * vp::us);
      ASSERT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_DOWN}) << round;
      ASSERT_EQ(b->phase(), unsigned{OAE_WINDOW_PHASE_DOWN}) << round;
      cut(false);
      a->take_up();
      b->take_up();
      ASSERT_EQ(b->exchange(there, 2 * round + 1), answered);
      answered = 2 * round;
    }
    EXPECT_GT(a->counter("link.groups_lost") + b->counter("link.groups_lost"), 0u);
  });
}

TEST_F(WindowLinkModel, BitErrorsLoseAndRepeatNothing) {
  make({0, 1e-4});
  connect();
  run([this] {
    bring_up();
    exchange_both_ways(400);
    EXPECT_GT(a->counter("link.groups_damaged"), 5u);
    EXPECT_GT(b->counter("link.groups_damaged"), 5u);
  });
}

TEST_F(WindowLinkModel, ADamagedBitIsRepaired) {
  make();
  connect();
  run([this] {
    bring_up();
    exchange_both_ways(1);
    const std::uint64_t before = b->link.read(OAE_WINDOW_COUNT_DAMAGED);
    a->block->links()[0]->damage(100);
    exchange_both_ways(3);
    EXPECT_EQ(a->counter("link.groups_damaged"), 1u);
    EXPECT_EQ(b->link.read(OAE_WINDOW_COUNT_DAMAGED), before + 1);
  });
}

// The firmware looks at the block and the link all the time, which must neither change what the
// hosts see nor stop them.
TEST_F(WindowLinkModel, FirmwareMayLookAtAnyTime) {
  make();
  connect();
  bool ended = false;
  a->run({[this, &ended] {
            bring_up();
            exchange_both_ways(50);
            ended = true;
          },
          [this, &ended] {
            pass(hold_off);
            while (!ended) {
              EXPECT_EQ(a->get(OAE_FIRMWARE_ID) & 0xffffffff, OAE_FIRMWARE_ID_RESET & 0xffffffff);
              a->get(OAE_FIRMWARE_JOIN_AT(5));
              EXPECT_EQ(OAE_GET(a->link.read(OAE_WINDOW_ID), OAE_WINDOW_ID_SLICES), 2u);
              pass(13 * vp::ns);
            }
          }});
}

// Two pairs of cells do the same at the same time. One of them has the library with checks.
TEST_F(WindowLinkModel, BothLibrariesHaveOneCourse) {
  const std::string trace = scratch("libraries");
  const oae::WindowLinkConfig config{0, 1e-5};
  make(config, true, trace);
  connect();
  WindowCell c("c", config, false, trace + ".c");
  WindowCell d("d", config, false, trace + ".d");
  oae::WindowLink::connect(*c.block->links()[0], *d.block->links()[0], metre);
  const auto script = [](WindowCell& one, WindowCell& other) {
    one.join();
    other.join();
    pass(hold_off + 5 * vp::us);
    one.open(5);
    other.open(5);
    WindowHost here{5};
    WindowHost there{5};
    for (unsigned i = 1; i < 100; ++i) {
      one.exchange(here, i);
      other.exchange(there, i);
    }
  };
  a->run({[&] { script(*a, *b); }, [&] { script(c, d); }});
  for (WindowCell* cell : {a.get(), b.get(), &c, &d}) cell->trace.close();
  for (const auto& [checked, fast] : {std::pair{"a", "c"}, std::pair{"b", "d"}}) {
    const std::string lines = read_file(trace + "." + checked);
    EXPECT_GT(std::count(lines.begin(), lines.end(), '\n'), 300);
    EXPECT_EQ(lines, std::regex_replace(read_file(trace + "." + fast),
                                        std::regex(std::string("\"") + fast + "\\."),
                                        std::string("\"") + checked + "."));
  }
  EXPECT_GT(a->counter("link.groups_damaged"), 0u);
}

TEST_F(WindowLinkModel, RefusesBadAccesses) {
  make();
  run([this] {
    std::uint64_t word = 0;
    EXPECT_EQ(a->link.access(tlm::TLM_READ_COMMAND, OAE_WINDOW_SIZE, &word, 8),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(a->link.access(tlm::TLM_READ_COMMAND, 0x3000, &word, 8),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(a->link.access(tlm::TLM_READ_COMMAND, 4, &word, 8), tlm::TLM_BURST_ERROR_RESPONSE);
    std::uint32_t half = 0;
    EXPECT_EQ(a->link.access(tlm::TLM_READ_COMMAND, 4, &half, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(half & 0xffff, 2u);  // version
  });
}

TEST_F(WindowLinkModel, RefusesImpossibleConfigurations) {
  make();
  EXPECT_THROW(connect(0), oae::ConfigurationError);
  connect(1);
  EXPECT_THROW(connect(1), oae::ConfigurationError);
  EXPECT_THROW(WindowCell("c", {0, 2e-3}, true, ""), oae::ConfigurationError);
  run([] {});
}

}  // namespace
