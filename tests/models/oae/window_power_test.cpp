// SPDX-License-Identifier: Apache-2.0
// Cells whose links have windows lose their power: blocks at the ends of a link, and a relay in the
// middle of a chain.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/in_child.h"
#include "tests/models/oae/ended_accesses.h"
#include "tests/models/oae/window_chain.h"

namespace {

// Clocks after which an end that misses the carrier goes down.
constexpr vp::Picoseconds silence = 0x1000 * clock_period;

tlm::tlm_response_status id(ipu::test::Initiator& firmware) {
  std::uint64_t word = 0;
  return firmware.access(tlm::TLM_READ_COMMAND, OAE_WINDOW_ID, &word, 8);
}

std::string registers(ipu::test::Initiator& firmware) {
  std::ostringstream all;
  for (std::uint64_t address = 0; address < OAE_WINDOW_ROUTE_AT(16); address += 8) {
    std::uint64_t word = 0;
    firmware.access(tlm::TLM_READ_COMMAND, address, &word, 8);
    if (address == OAE_WINDOW_ALIVE) word &= 0xffff'ffff;  // without the age
    if (address == OAE_WINDOW_STATE) word &= ~OAE_WINDOW_STATE_HOLDS_OFF_MASK;
    all << std::hex << address << ": " << word << '\n';
  }
  return all.str();
}

/// What the hosts at the ends of a chain swap: numbers that rise. A number that is lost does not
/// come, and none comes twice.
struct Talk {
  explicit Talk(Chain& chain) : chain(chain) {}

  void forth() { swap(*chain.first, chain.here, forth_seen); }
  void back() { swap(*chain.last, chain.there, back_seen); }
  /// The last of them has a number of these rounds come at both ends.
  void rounds(unsigned count) {
    const std::uint64_t before = number;
    for (; count > 0; --count) {
      forth();
      Fixture::pass(2 * vp::us);
      back();
      Fixture::pass(2 * vp::us);
    }
    EXPECT_GT(forth_seen, before);
    EXPECT_GT(back_seen, before);
  }

  Chain& chain;
  std::uint64_t number = 0;

 private:
  void swap(WindowCell& cell, WindowHost& host, std::uint64_t& seen) {
    cell.write(0, OAE_HOST_PORT_LOST_AT(host.port), OAE_HOST_PORT_LOST_ACKNOWLEDGE_MASK);
    const std::uint64_t got = cell.exchange(host, ++number);
    if (got == 0) return;
    EXPECT_GT(got, seen);
    EXPECT_LT(got, number);
    seen = got;
  }

  std::uint64_t forth_seen = 0, back_seen = 0;
};

/// A chain whose cells lose their power. The firmware of each cell takes its links up again.
class WindowPower : public testing::Test {
 protected:
  void make(unsigned hops) { chain = std::make_unique<Chain>("", hops, true); }
  void run(const std::function<void()>& script) { chain->first->run({script}); }
  static void pass(vp::Picoseconds span) { Fixture::pass(span); }
  static void align() { pass(vp::us - vp::now() % vp::us); }

  oae::Block& block() { return *chain->last->block; }
  oae::Relay& relay() { return *chain->middle[0]->relay; }

  std::unique_ptr<Chain> chain;
};

TEST_F(WindowPower, ALossEndsTheAccessesOfABlocksLink) {
  make(1);
  run([this] {
    expect_accesses_to_end({[this] { return id(chain->last->link); }, block().clocks(),
                            chain->last->domain, [this] { block().lose_power(); },
                            [this] { block().power_up(); }, clock_period});
  });
}

TEST_F(WindowPower, ALossEndsTheAccessesOfARelay) {
  make(2);
  run([this] {
    for (ipu::test::Initiator& firmware : chain->middle[0]->firmware) {
      expect_accesses_to_end({[&firmware] { return id(firmware); }, relay().clocks(),
                              chain->middle[0]->domain, [this] { relay().lose_power(); },
                              [this] { relay().power_up(); }, clock_period});
    }
  });
}

// A link that is to wait after power-up does so even if nobody touches it, and may be used at any
// time later.
TEST_F(WindowPower, NobodyNeedsToTouchALinkAtFirst) {
  make(2);
  run([this] {
    pass(hold_off + vp::us);
    EXPECT_EQ(id(chain->first->link), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(id(chain->middle[0]->firmware[0]), tlm::TLM_OK_RESPONSE);
    chain->join();
    pass(5 * vp::us);
    EXPECT_EQ(chain->first->phase(), unsigned{OAE_WINDOW_PHASE_UP})
        << "nothing is left to wait for";
    EXPECT_EQ(chain->middle[0]->phase(1), unsigned{OAE_WINDOW_PHASE_UP});
  });
}

// The clock without a carrier leaves with the edge after the loss.
TEST_F(WindowPower, TheNeighboursOfARelayMissTheCarrierAfterTheDelayOfTheWire) {
  make(2);
  run([this] {
    for (const vp::Picoseconds moment :
         {vp::Picoseconds{0}, vp::Picoseconds{1}, clock_period - 1}) {
      moment == 0 ? chain->bring_up() : chain->join();
      pass(hold_off + 20 * vp::us);
      chain->first->link.write(OAE_WINDOW_EVENT, ~std::uint64_t{0});
      chain->first->link.write(OAE_WINDOW_IRQ_ENABLE, OAE_WINDOW_EVENT_DOWN_MASK);
      align();
      pass(clock_period - vp::now() % clock_period + moment);
      const vp::Picoseconds lost = vp::now();
      relay().lose_power();
      pass(10 * silence);
      ASSERT_FALSE(chain->first->lines.empty());
      const Fixture::Line& line = chain->first->lines.back();
      EXPECT_TRUE(line.level);
      EXPECT_GT(line.time, lost + metre + silence);
      EXPECT_LE(line.time, lost + metre + silence + 6 * clock_period);
      EXPECT_EQ(chain->first->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
      EXPECT_EQ(chain->last->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
      relay().power_up();
    }
  });
}

// A relay that is pulled while slots pass it. The ports at both ends then begin anew.
TEST_F(WindowPower, ARelayBeginsAnewAndCarriesSlotsAgain) {
  make(2);
  run([this] {
    MiddleCell& middle = *chain->middle[0];
    Talk talk(*chain);
    const std::string initial[] = {registers(middle.firmware[0]), registers(middle.firmware[1])};
    chain->bring_up();
    for (unsigned round = 0; round < 30; ++round) {
      talk.rounds(4);
      for (ipu::test::Initiator& firmware : middle.firmware) {
        firmware.write(OAE_WINDOW_IRQ_ENABLE, ~std::uint64_t{0});
      }
      talk.forth();
      pass(round * 9 * vp::ns);
      middle.lines.clear();
      relay().lose_power();
      EXPECT_EQ(middle.lines, (std::vector<std::pair<unsigned, bool>>{{0, false}, {1, false}}));
      const std::uint64_t clocks = relay().clocks();
      EXPECT_EQ(middle.domain.next_event(), vp::never);
      pass(8 * vp::us);
      EXPECT_EQ(relay().clocks(), clocks);
      EXPECT_EQ(middle.domain.next_event(), vp::never);
      relay().power_up();
      pass(hold_off);
      EXPECT_EQ(registers(middle.firmware[0]), initial[0]);
      EXPECT_EQ(registers(middle.firmware[1]), initial[1]);
      EXPECT_EQ(middle.lines.size(), 2u);
      middle.join();
      chain->take_up();
      pass(20 * vp::us);
      EXPECT_EQ(middle.phase(0), unsigned{OAE_WINDOW_PHASE_UP});
      EXPECT_EQ(middle.phase(1), unsigned{OAE_WINDOW_PHASE_UP});
    }
    talk.rounds(4);
  });
  EXPECT_GT(chain->first->counter("link.groups_lost"), 0u);
  EXPECT_GT(chain->middle[0]->counter("link0.passed"), 200u);
}

TEST_F(WindowPower, ABlockBeginsAnewAndItsLinkCarriesSlotsAgain) {
  make(1);
  run([this] {
    WindowCell& first = *chain->first;
    WindowCell& last = *chain->last;
    Talk talk(*chain);
    const std::string initial = registers(last.link);
    chain->bring_up();
    for (unsigned round = 0; round < 30; ++round) {
      talk.rounds(4);
      last.link.write(OAE_WINDOW_IRQ_ENABLE, ~std::uint64_t{0});
      EXPECT_TRUE(last.lines.back().level);
      talk.forth();
      pass(round * 9 * vp::ns);
      block().lose_power();
      EXPECT_FALSE(last.lines.back().level);
      const std::uint64_t clocks = block().clocks();
      EXPECT_EQ(last.domain.next_event(), vp::never);
      pass(8 * vp::us);
      EXPECT_EQ(first.phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
      EXPECT_EQ(block().clocks(), clocks);
      EXPECT_EQ(last.domain.next_event(), vp::never);
      block().power_up();
      pass(hold_off);
      EXPECT_EQ(registers(last.link), initial);
      last.join();
      first.take_up();
      pass(20 * vp::us);
      EXPECT_EQ(first.phase(), unsigned{OAE_WINDOW_PHASE_UP});
      EXPECT_EQ(last.phase(), unsigned{OAE_WINDOW_PHASE_UP});
      last.open(5);
      chain->there = WindowHost{5};
    }
    talk.rounds(4);
  });
  EXPECT_GT(chain->first->counter("link.groups_lost"), 0u);
}

TEST_F(WindowPower, TwiceIsAsOnce) {
  make(2);
  run([this] {
    Talk talk(*chain);
    const auto come_up = [&] {
      pass(10 * vp::us);
      chain->middle[0]->join();
      chain->take_up();
      pass(hold_off + 20 * vp::us);
      talk.rounds(4);
    };
    relay().power_up();
    chain->bring_up();
    relay().power_up();
    talk.rounds(4);
    for (unsigned i = 0; i < 3; ++i) relay().lose_power();
    pass(vp::us);
    relay().lose_power();
    for (unsigned i = 0; i < 3; ++i) {
      relay().power_up();
      pass(i);
    }
    come_up();
    relay().power_up();
    talk.rounds(4);
    relay().lose_power();
    relay().power_up();
    come_up();
  });
}

/// The traces and counters of a chain whose cells lose their power in turns.
std::string traced(bool checked) {
  return vp::in_child([checked] {
    const std::string path =
        testing::TempDir() + "oae_window_power_test_" + std::to_string(::getpid());
    Chain chain("", 2, checked, 0, path);
    chain.first->run({[&] {
      oae::Block& block = *chain.last->block;
      oae::Relay& relay = *chain.middle[0]->relay;
      chain.bring_up();
      Talk talk(chain);
      for (unsigned round = 0; round < 6; ++round) {
        talk.rounds(4);
        talk.forth();
        Fixture::pass(round * 13 * vp::ns);
        if (round % 3 == 1) block.lose_power();
        relay.lose_power();
        Fixture::pass((round % 2) * 8 * vp::us);
        relay.power_up();
        Fixture::pass(round);
        block.power_up();
        chain.middle[0]->join();
        if (round % 3 == 1) chain.last->join();
        Fixture::pass(10 * vp::us);
        chain.take_up();
        Fixture::pass(hold_off + 20 * vp::us);
        if (round % 3 != 1) continue;
        chain.last->open(5);
        chain.there = WindowHost{5};
      }
    }});
    chain.close_traces();
    std::string all;
    for (const char* cell : {".first", ".middle1", ".last"}) {
      std::ifstream file(path + cell);
      std::stringstream text;
      text << file.rdbuf();
      all += text.str();
      std::remove((path + cell).c_str());
    }
    all += chain.first->statistics.json().dump() + chain.last->statistics.json().dump();
    return all + chain.middle[0]->statistics.json().dump();
  });
}

TEST(RelayAndBlock, BothLibrariesLosePowerAlike) {
  const std::string expected = traced(true);
  EXPECT_GT(expected.size(), 20'000u);
  EXPECT_TRUE(traced(false) == expected);
}

}  // namespace
