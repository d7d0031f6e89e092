// SPDX-License-Identifier: Apache-2.0
// Firmware at both ends offers and takes slots at random, while units are lost, damaged and
// repeated, wires are cut, and ends are taken down. In the end everything that was offered has been
// settled, and each slot has arrived once, in order, unless its owner has dropped it after its
// reversal.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "tests/rtl/link/pair.h"

namespace window {
namespace {

/// One direction: what the firmware of one end offers, and the one of the other end takes.
struct Ledger {
  std::uint64_t next = 1;  // identity of the next slot
  std::vector<std::uint64_t> offered;
  std::set<std::uint64_t> dropped;
  std::vector<std::uint64_t> taken;
};

class Random : public Pair, public testing::WithParamInterface<unsigned> {
 protected:
  Random() : Pair(4 + GetParam() * 7 % 60) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(random() % n); }

  void offer_some(End& end, Ledger& ledger) {
    const auto last = static_cast<std::uint32_t>(get(end, OAE_WINDOW_OFFERED));
    const auto settled = static_cast<std::uint32_t>(get(end, OAE_WINDOW_SETTLED));
    const unsigned room = ring - 1 - (last - settled);
    const unsigned count = std::min(room, 1 + below(below(4) == 0 ? ring : 8));
    for (unsigned n = 1; n <= count; ++n) {
      const std::uint64_t id = ledger.next++;
      ledger.offered.push_back(id);
      // Words 2 to 6 say what the place in the ring has said before.
      end.post_put(OAE_WINDOW_SEND_AT((last + n) % ring) + 8, id);
      end.post_put(OAE_WINDOW_SEND_AT((last + n) % ring) + 48, ~id);
    }
    put(end, OAE_WINDOW_OFFERED, last + count);
  }

  void take_some(End& end, Ledger& ledger) {
    const auto received = static_cast<std::uint32_t>(get(end, OAE_WINDOW_RECEIVED));
    auto taken = static_cast<std::uint32_t>(get(end, OAE_WINDOW_TAKEN));
    for (; taken != received; ++taken) {
      const unsigned place = OAE_WINDOW_RECEIVE_AT(taken % ring);
      const std::uint64_t id = get(end, place + 8);
      ASSERT_EQ(get(end, place + 48), ~id);
      ledger.taken.push_back(id);
    }
    put(end, OAE_WINDOW_TAKEN, taken);
  }

  /// What was reversed is offered again, or dropped.
  void decide(End& end, Ledger& ledger) {
    if (state(end, OAE_WINDOW_STATE_HELD_SHIFT, 1) == 0) return;
    if (below(2) == 0) return command(end, OAE_WINDOW_COMMAND_RESUME);
    const auto before = static_cast<std::uint32_t>(get(end, OAE_WINDOW_OFFERED));
    command(end, OAE_WINDOW_COMMAND_DROP);
    const std::uint32_t dropped = before - static_cast<std::uint32_t>(get(end, OAE_WINDOW_OFFERED));
    for (unsigned n = 0; n < dropped; ++n) {
      ledger.dropped.insert(ledger.offered.back());
      ledger.offered.pop_back();
    }
  }

  void strike(Wire& wire) {
    wire.tamper = [this](std::vector<Group>& unit, bool) {
      if (rate == 0 || below(rate) != 0) return;
      ++faults;
      switch (below(4)) {
        case 0:
          for (Group& group : unit) group = {};
          break;
        case 1: {  // comes twice
          const std::vector<Group> copy = unit;
          unit.insert(unit.end(), copy.begin(), copy.end());
          break;
        }
        default:
          Wire::damage(unit, below(1 << 12));
      }
    };
  }

  void configure(End& end) {
    set_limits(end, 600, 6);
    up(end, again);
  }

  void run(unsigned steps);
  void check(const Ledger& ledger);

  std::mt19937_64 random{GetParam() + 1};
  bool again = GetParam() % 2 == 0;
  unsigned rate = 0;  // one unit of so many has a fault
  unsigned faults = 0;
  Ledger forth;
  Ledger back;
};

void Random::run(unsigned steps) {
  for (unsigned step = 0; step < steps; ++step) {
    End& end = below(2) == 0 ? *a : *b;
    Ledger& ledger = &end == a.get() ? forth : back;
    Ledger& other = &end == a.get() ? back : forth;
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        offer_some(end, ledger);
        break;
      case 4:
      case 5:
      case 6:
        take_some(end, other);
        break;
      case 7:
        if (below(4) == 0) command(end, OAE_WINDOW_COMMAND_WITHDRAW);
        break;
      case 8:
        if (below(12) == 0) {
          Wire& wire = below(2) == 0 ? to_a : to_b;
          wire.cut();
          clock(below(3000));
          wire.join();
        }
        break;
      case 9:
        if (below(12) == 0) put(end, OAE_WINDOW_CONTROL, 0);
        break;
      case 10:
        configure(end);  // up again, if it is down
        break;
      default:
        clock(below(800));
    }
    decide(*a, forth);
    decide(*b, back);
    if (HasFatalFailure()) return;
  }
}

void Random::check(const Ledger& ledger) {
  ASSERT_EQ(ledger.taken.size(), ledger.offered.size());
  EXPECT_EQ(ledger.taken, ledger.offered);
  for (const std::uint64_t id : ledger.taken) ASSERT_EQ(ledger.dropped.count(id), 0u);
}

TEST_P(Random, EverySlotArrivesOnceOrIsReversed) {
  strike(to_a);
  strike(to_b);
  configure(*a);
  configure(*b);
  rate = GetParam() % 5 == 4 ? 0 : 10 + below(200);
  run(400);
  rate = 0;
  for (unsigned i = 0; i < 200; ++i) {
    configure(*a);
    configure(*b);
    decide(*a, forth);
    decide(*b, back);
    take_some(*b, forth);
    take_some(*a, back);
    clock(500);
    if (HasFatalFailure()) return;
    if (is_up() && forth.taken.size() == forth.offered.size() &&
        back.taken.size() == back.offered.size())
      break;
  }
  rest();
  EXPECT_TRUE(is_up());
  check(forth);
  check(back);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 0u);
  RecordProperty("faults", static_cast<int>(faults));
  RecordProperty("reversed", static_cast<int>(get(*a, OAE_WINDOW_COUNT_REVERSED)));
  RecordProperty("down", static_cast<int>(get(*a, OAE_WINDOW_COUNT_DOWN)));
  RecordProperty("slots", static_cast<int>(forth.taken.size()));
}

// A side that loses its power forgets everything, and so does its firmware. What is in doubt then
// is lost: it may have arrived or not, but never arrives twice, and nothing arrives that was
// dropped or never offered.
TEST_P(Random, NothingArrivesTwiceWhoeverLosesPower) {
  strike(to_a);
  strike(to_b);
  again = true;
  for (unsigned life = 0; life < 8; ++life) {
    configure(*a);
    configure(*b);
    rate = 20 + below(200);
    run(60);
    const bool of_a = below(2) == 0;
    lose_power(of_a ? a : b);
    if (of_a) forth.offered.clear();
    if (!of_a) back.offered.clear();
    run(10);  // It holds off.
    pass_hold_off();
    if (HasFatalFailure()) return;
  }
  rate = 0;
  for (unsigned i = 0; i < 100; ++i) {
    configure(*a);
    configure(*b);
    take_some(*b, forth);
    take_some(*a, back);
    clock(500);
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(is_up());
  EXPECT_EQ(get(*a, OAE_WINDOW_SETTLED) & 0xffffffff, get(*a, OAE_WINDOW_OFFERED));
  EXPECT_EQ(get(*b, OAE_WINDOW_SETTLED) & 0xffffffff, get(*b, OAE_WINDOW_OFFERED));
  for (const Ledger* ledger : {&forth, &back}) {
    EXPECT_GT(ledger->taken.size(), 20u);
    EXPECT_LT(ledger->taken.back(), ledger->next);
    for (std::size_t i = 1; i < ledger->taken.size(); ++i) {
      ASSERT_GT(ledger->taken[i], ledger->taken[i - 1]);
    }
  }
}

unsigned seeds() {
  const char* const text = std::getenv("OAE_VP_LINK_SEEDS");
  return text == nullptr ? 12 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(0u, seeds()));

}  // namespace
}  // namespace window
