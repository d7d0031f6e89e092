// SPDX-License-Identifier: Apache-2.0
// Three blocks in a ring, each of which is the end of two links with a window.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/models/oae/window_cell.h"

namespace {

constexpr unsigned cells = 3;
constexpr unsigned to_the_one_before = 0;  // the links of a cell
constexpr unsigned to_the_next = 1;

/// The wire n goes from cell n to the next one, and carries the ports 2n and 2n + 1.
struct Ring {
  explicit Ring(const std::string& prefix, bool checked = true, const std::string& trace = {}) {
    for (unsigned n = 0; n < cells; ++n) {
      const std::string name = std::to_string(n);
      cell[n] = std::make_unique<WindowCell>(prefix + name, std::vector<oae::WindowLinkConfig>(2),
                                             checked, trace.empty() ? trace : trace + name);
    }
    for (unsigned wire = 0; wire < cells; ++wire) {
      oae::WindowLink::connect(end(wire), other_end(wire), metre);
    }
  }
  oae::WindowLink& end(unsigned wire) { return *cell[wire]->block->links()[to_the_next]; }
  oae::WindowLink& other_end(unsigned wire) {
    return *cell[next(wire)]->block->links()[to_the_one_before];
  }
  static unsigned next(unsigned n) { return (n + 1) % cells; }

  void bring_up() {
    const auto mask = [](unsigned wire) { return std::uint64_t{3} << 2 * wire; };
    for (unsigned n = 0; n < cells; ++n) {
      cell[n]->join(to_the_next, mask(n));
      cell[n]->join(to_the_one_before, mask((n + cells - 1) % cells));
    }
    Fixture::pass(hold_off + 5 * vp::us);
    for (auto& each : cell) {
      for (unsigned port = 0; port < 2 * cells; ++port) each->open(port);
      EXPECT_EQ(each->phase(to_the_next), unsigned{OAE_WINDOW_PHASE_UP});
      EXPECT_EQ(each->phase(to_the_one_before), unsigned{OAE_WINDOW_PHASE_UP});
    }
  }
  /// Both hosts of a wire swap in turn. Each is answered by what the other one has sent before.
  void exchange_both_ways(unsigned wire, unsigned rounds) {
    const std::uint64_t first = 1000 * (wire + 1);
    for (; rounds > 0; --rounds) {
      const std::uint64_t n = first + 2 * ++sent[wire];
      const bool none = sent[wire] == 1;
      ASSERT_EQ(cell[wire]->exchange(here[wire], n), none ? 0 : n - 1);
      ASSERT_EQ(cell[next(wire)]->exchange(there[wire], n + 1), none ? 0 : n - 2);
    }
  }

  std::array<std::unique_ptr<WindowCell>, cells> cell;
  WindowHost here[cells]{{0}, {2}, {4}};
  WindowHost there[cells]{{0}, {2}, {4}};
  std::uint64_t sent[cells] = {};
};

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class WindowRing : public testing::Test {
 protected:
  static void pass(vp::Picoseconds span) { Fixture::pass(span); }
  void run(const std::function<void()>& script) { ring.cell[0]->run({script}); }
  static std::string scratch(const std::string& name) {
    return (std::filesystem::path(testing::TempDir()) / ("window_ring_" + name)).string();
  }

  const std::string trace = scratch("checked");
  Ring ring{"", true, trace};
};

TEST_F(WindowRing, EachHostExchangesSlotsWithBothNeighbours) {
  run([this] {
    ring.bring_up();
    for (unsigned wire = 0; wire < cells; ++wire) ring.exchange_both_ways(wire, 5 + wire);
    pass(vp::us);
    for (unsigned wire = 0; wire < cells; ++wire) {
      EXPECT_EQ(ring.cell[wire]->counter("link1.passed"), 5u + wire);
      EXPECT_EQ(ring.cell[Ring::next(wire)]->counter("link0.brought"), 5u + wire);
      EXPECT_EQ(ring.cell[Ring::next(wire)]->counter("link0.passed"), 5u + wire);
      EXPECT_EQ(ring.cell[wire]->counter("link1.brought"), 5u + wire);
      EXPECT_EQ(ring.cell[wire]->counter("link0.strays") + ring.cell[wire]->counter("link1.strays"),
                0u);
    }
  });
}

TEST_F(WindowRing, ACutOfOneWireLeavesTheOthersServed) {
  run([this] {
    ring.bring_up();
    ring.exchange_both_ways(0, 3);
    ring.exchange_both_ways(1, 3);
    ring.exchange_both_ways(2, 3);
    ring.end(0).cut(true);
    ring.other_end(0).cut(true);
    pass(100 * vp::us);
    EXPECT_EQ(ring.cell[0]->phase(to_the_next), unsigned{OAE_WINDOW_PHASE_DOWN});
    EXPECT_EQ(ring.cell[0]->phase(to_the_one_before), unsigned{OAE_WINDOW_PHASE_UP});
    ring.exchange_both_ways(1, 10);
    ring.exchange_both_ways(2, 10);
    ring.end(0).cut(false);
    ring.other_end(0).cut(false);
    ring.cell[0]->take_up(to_the_next);
    ring.cell[1]->take_up(to_the_one_before);
    ring.exchange_both_ways(0, 3);
    EXPECT_EQ(ring.cell[0]->counter("link0.groups_lost"), 0u);
  });
}

TEST_F(WindowRing, TheClockStopsWhileNothingHappens) {
  run([this] {
    ring.bring_up();
    for (unsigned wire = 0; wire < cells; ++wire) ring.exchange_both_ways(wire, 2);
    pass(100 * vp::us);
    const std::uint64_t clocks = ring.cell[0]->block->clocks();
    pass(vp::s);
    EXPECT_EQ(ring.cell[0]->block->clocks(), clocks);
    ring.exchange_both_ways(2, 1);
    EXPECT_GT(ring.cell[0]->block->clocks(), clocks);
    EXPECT_LT(ring.cell[0]->block->clocks(), clocks + 1'000);
  });
}

// Two rings do the same at the same time. One of them has the library with checks.
TEST_F(WindowRing, BothLibrariesHaveOneCourse) {
  const std::string fast_trace = scratch("fast");
  Ring fast("fast_", false, fast_trace);
  const auto script = [](Ring& one) {
    one.bring_up();
    for (unsigned round = 0; round < 10; ++round) {
      for (unsigned wire = 0; wire < cells; ++wire) one.exchange_both_ways(wire, 2);
    }
  };
  ring.cell[0]->run({[&] { script(ring); }, [&] { script(fast); }});
  for (unsigned n = 0; n < cells; ++n) {
    ring.cell[n]->trace.close();
    fast.cell[n]->trace.close();
    const std::string name = std::to_string(n);
    const std::string lines = text_of(trace + name);
    EXPECT_GT(std::count(lines.begin(), lines.end(), '\n'), 200);
    EXPECT_EQ(lines, std::regex_replace(text_of(fast_trace + name), std::regex("fast_"), ""));
  }
}

TEST(WindowRingConfiguration, ABlockHasTwoLinksAtMost) {
  vp::Domain domain("domain");
  vp::Trace trace;
  vp::Statistics statistics;
  oae::BlockConfig config;
  config.links.resize(3);
  EXPECT_THROW(oae::Block("block", config, domain, trace, statistics), oae::ConfigurationError);
}

}  // namespace
