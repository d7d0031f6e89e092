// SPDX-License-Identifier: Apache-2.0
// Firmware at both ends of chains of up to eight links offers and takes slots at random, while
// units are lost, damaged and repeated on all wires, wires are cut, and links are taken down
// anywhere. In the end everything that was offered has been settled, and each slot has arrived
// once, in order, unless its owner has dropped it after its reversal.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "tests/rtl/relay/chain.h"

namespace relay {
namespace {

using window::Group;
using window::Wire;

/// One direction: what one end of the chain offers, and what the other end takes.
struct Ledger {
  std::uint64_t next = 1;  // identity of the next slot
  std::vector<std::uint64_t> offered;
  std::set<std::uint64_t> dropped;
  std::vector<std::uint64_t> taken;
};

class Random : public Chain, public testing::WithParamInterface<unsigned> {
 protected:
  Random() { build(2 + GetParam() % 7, 1 + GetParam() * 5 % 24); }

  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }

  void offer_some(Side& side, Ledger& ledger) {
    const unsigned count = std::min(room(side), 1 + below(below(4) == 0 ? ring : 4));
    for (unsigned n = 0; n < count; ++n) ledger.offered.push_back(ledger.next + n);
    offer(side, count, ledger.next);
    ledger.next += count;
  }

  void take_some(Side& side, Ledger& ledger) {
    for (const std::uint64_t id : take(side)) ledger.taken.push_back(id);
  }

  /// What was reversed is offered again, or dropped.
  void decide(Side& side, Ledger& ledger) {
    if ((get(side, OAE_WINDOW_STATE) & OAE_WINDOW_STATE_HELD_MASK) == 0) return;
    if (below(2) == 0) return put(side, OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_RESUME);
    const auto before = static_cast<std::uint32_t>(get(side, OAE_WINDOW_OFFERED));
    put(side, OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_DROP);
    const auto after = static_cast<std::uint32_t>(get(side, OAE_WINDOW_OFFERED));
    for (std::uint32_t n = after; n != before; ++n) {
      ledger.dropped.insert(ledger.offered.back());
      ledger.offered.pop_back();
    }
  }

  void strike(Wire& wire) {
    wire.record = false;
    wire.tamper = [this](std::vector<Group>& unit, bool) {
      if (rate == 0 || below(rate) != 0) return;
      ++faults;
      switch (below(5)) {
        case 0:
          for (Group& group : unit) group = {};
          break;
        case 1:  // The rest of it does not come.
          unit.resize(1 + below(static_cast<unsigned>(unit.size())));
          break;
        case 2: {  // comes twice
          const std::vector<Group> copy = unit;
          unit.insert(unit.end(), copy.begin(), copy.end());
          break;
        }
        default:
          Wire::damage(unit, below(1 << 12));
      }
    };
  }

  void configure_all() {
    for (const auto& cell : cells) configure(*cell, again);
  }

  Side& any_side() {
    const unsigned link = below(hops());
    return below(2) == 0 ? cells[link]->right : cells[link + 1]->left;
  }

  void begin() {
    for (const auto& hop : links) {
      strike(hop->forth);
      strike(hop->back);
    }
    configure_all();
    until([this] { return is_up(); });
  }

  void run(unsigned steps);
  void finish();
  bool settled() {
    return is_up() && get(first(), OAE_WINDOW_OFFERED) == *first().settled &&
           get(last(), OAE_WINDOW_OFFERED) == *last().settled;
  }

  std::mt19937_64 random{GetParam() + 1};
  bool again = GetParam() % 2 == 0;
  unsigned rate = 0;  // one unit of so many has a fault
  unsigned faults = 0;
  Ledger forth;
  Ledger back;
};

void Random::run(unsigned steps) {
  for (unsigned step = 0; step < steps; ++step) {
    const bool of_first = below(2) == 0;
    Side& side = of_first ? first() : last();
    switch (below(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        offer_some(side, of_first ? forth : back);
        break;
      case 4:
      case 5:
      case 6:
        take_some(side, of_first ? back : forth);
        break;
      case 7:
        if (below(4) == 0) put(any_side(), OAE_WINDOW_COMMAND, OAE_WINDOW_COMMAND_WITHDRAW);
        break;
      case 8:
        if (below(6) == 0) {
          Cable& hop = *links[below(hops())];
          Wire& wire = below(2) == 0 ? hop.forth : hop.back;
          wire.cut();
          clock(below(2 * silence));
          wire.join();
        }
        break;
      case 9:
        if (below(6) == 0) put(any_side(), OAE_WINDOW_CONTROL, 0);
        break;
      case 10:
      case 11:
        configure(*cells[below(hops() + 1)], again);  // up again, if it is down
        break;
      default:
        clock(below(500));
    }
    decide(first(), forth);
    decide(last(), back);
    if (HasFatalFailure()) return;
  }
}

void Random::finish() {
  rate = 0;
  for (unsigned i = 0; i < 200; ++i) {
    configure_all();
    decide(first(), forth);
    decide(last(), back);
    take_some(last(), forth);
    take_some(first(), back);
    clock(500);
    if (HasFatalFailure() || (i > 4 && settled())) break;
  }
  rest();
  take_some(last(), forth);
  take_some(first(), back);
  EXPECT_TRUE(settled());
}

TEST_P(Random, EverySlotArrivesOnceOrIsReversed) {
  begin();
  rate = GetParam() % 5 == 4 ? 0 : 20 + below(300);
  run(250);
  finish();
  for (const Ledger* ledger : {&forth, &back}) {
    EXPECT_EQ(ledger->taken, ledger->offered);
    for (const std::uint64_t id : ledger->taken) ASSERT_EQ(ledger->dropped.count(id), 0u);
  }
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_LOST), 0u);
  EXPECT_EQ(get(last(), OAE_WINDOW_COUNT_LOST), 0u);
  EXPECT_GT(forth.taken.size() + back.taken.size(), 10u);
  RecordProperty("faults", static_cast<int>(faults));
  RecordProperty("reversed", static_cast<int>(get(first(), OAE_WINDOW_COUNT_REVERSED)));
  RecordProperty("slots", static_cast<int>(forth.taken.size()));
}

// A cell in the middle that loses its power forgets what was on its way. Whatever does not arrive
// was called lost, by the first cell or by one on the way, and nothing arrives twice or out of
// order.
TEST_P(Random, WhatAMiddleCellLosesIsCalledLost) {
  again = true;
  begin();
  for (unsigned life = 0; life < 4; ++life) {
    rate = 50 + below(300);
    run(60);
    lose_power(1 + below(hops() - 1));
    rate = 0;
    run(5);
    pass_hold_off();
    configure_all();
    for (unsigned n = 0; n < 40 && !is_up(); ++n) {
      configure_all();
      clock(500);
    }
    ASSERT_TRUE(is_up());
    if (HasFatalFailure()) return;
  }
  finish();
  EXPECT_GT(forth.taken.size() + back.taken.size(), 10u);
  for (const bool of_first : {true, false}) {
    const Ledger& ledger = of_first ? forth : back;
    EXPECT_TRUE(std::includes(ledger.offered.begin(), ledger.offered.end(), ledger.taken.begin(),
                              ledger.taken.end()));
    EXPECT_TRUE(std::adjacent_find(ledger.taken.begin(), ledger.taken.end(),
                                   std::greater_equal<>()) == ledger.taken.end());
    Side& owner = of_first ? first() : last();
    EXPECT_LE(ledger.offered.size() - ledger.taken.size(), get(owner, OAE_WINDOW_COUNT_LOST))
        << "a slot is missing that nobody calls lost";
  }
}

unsigned seeds() {
  const char* const text = std::getenv("OAE_VP_LINK_SEEDS");
  return text == nullptr ? 7 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(0u, seeds()));

}  // namespace
}  // namespace relay
