// SPDX-License-Identifier: Apache-2.0
// One fault in a chain of three links, and what every cell makes of it
#include <vector>

#include "tests/rtl/relay/chain.h"

namespace relay {
namespace {

using Slots = std::vector<std::uint64_t>;
using window::Group;
using window::Wire;

class Faults : public Chain {
 protected:
  Faults() { build(3); }

  /// Loses all returns on a wire.
  static void silence_returns(Wire& wire) {
    wire.tamper = [](std::vector<Group>& unit, bool frame) {
      if (!frame) unit.assign(unit.size(), {});
    };
  }

  std::uint32_t answered(Side& side) {
    return static_cast<std::uint32_t>(get(side, OAE_WINDOW_SENT) >> 32);
  }
  std::uint32_t confirmed(Side& side) {
    return static_cast<std::uint32_t>(get(side, OAE_WINDOW_SETTLED) >> 32);
  }
  bool held() { return (get(first(), OAE_WINDOW_STATE) & OAE_WINDOW_STATE_HELD_MASK) != 0; }
  void command(unsigned verb) { put(first(), OAE_WINDOW_COMMAND, verb); }
};

TEST_F(Faults, SlotsPassBothWaysInOrder) {
  bring_up();
  Slots forth;
  Slots back;
  for (unsigned round = 0; round < 20; ++round) {
    offer(first(), room(first()), 1 + forth.size());
    offer(last(), room(last()), 1001 + back.size());
    rest();
    for (const std::uint64_t id : take(last())) forth.push_back(id);
    for (const std::uint64_t id : take(first())) back.push_back(id);
    rest();
  }
  ASSERT_GT(forth.size(), 200u);
  ASSERT_GT(back.size(), 200u);
  for (std::size_t n = 0; n < forth.size(); ++n) ASSERT_EQ(forth[n], 1 + n);
  for (std::size_t n = 0; n < back.size(); ++n) ASSERT_EQ(back[n], 1001 + n);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_EQ(get(cells[1]->right, OAE_WINDOW_COUNT_PASSED), forth.size());
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_PASSED), back.size());
}

TEST_F(Faults, ADamagedSlotIsSpoiledOnwardAndReversedEverywhere) {
  bring_up(false);
  bool struck = false;
  links[0]->forth.tamper = [&struck](std::vector<Group>& unit, bool frame) {
    if (!frame || struck) return;
    struck = true;
    unit.back().data[window::slices - 2] ^= 1;  // slice 6
  };
  offer(first(), 1, 7);
  until([this] { return held(); });
  rest();
  ASSERT_TRUE(struck);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 1u);
  // A frame of one or two groups has its verdict before it can leave.
  const unsigned spoiled = WINDOW_CUT_THROUGH && window::slices == 2 ? 1 : 0;
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_DAMAGED), 1u);
  EXPECT_EQ(get(cells[2]->left, OAE_WINDOW_COUNT_DAMAGED), spoiled);
  EXPECT_EQ(get(last(), OAE_WINDOW_COUNT_DAMAGED), spoiled);
  EXPECT_EQ(get(cells[1]->right, OAE_WINDOW_COUNT_REVERSED), spoiled);
  command(OAE_WINDOW_COMMAND_DROP);
  rest();
  EXPECT_EQ(take(last()), Slots{});
  offer(first(), 2, 8);
  rest();
  EXPECT_EQ(take(last()), (Slots{8, 9}));
}

TEST_F(Faults, DamageOfTheOnwardLinkIsReversedThereOnly) {
  bring_up(false);
  bool struck = false;
  links[2]->forth.tamper = [&struck](std::vector<Group>& unit, bool frame) {
    if (!frame || struck) return;
    struck = true;
    Wire::damage(unit, 200);
  };
  offer(first(), 3, 1);
  rest();
  ASSERT_TRUE(struck);
  EXPECT_GT(get(cells[2]->right, OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_EQ(take(last()), (Slots{1, 2, 3}));
}

TEST_F(Faults, NothingIsAnsweredBeforeTheLastCellHasAnswered) {
  bring_up();
  silence_returns(links[2]->back);
  offer(first(), 1, 7);
  clock(400);
  EXPECT_EQ(*last().expected, 2u) << "the last cell holds it";
  EXPECT_EQ(answered(cells[1]->right), 0u);
  EXPECT_EQ(answered(first()), 0u);
  links[2]->back.tamper = {};
  until([this] { return *first().settled == 1; });
  EXPECT_EQ(take(last()), Slots{7});
}

TEST_F(Faults, AConfirmationTravelsForwardAndDoneBackward) {
  bring_up();
  silence_returns(links[1]->forth);
  offer(first(), 1, 7);
  clock(400);
  EXPECT_EQ(confirmed(first()), 1u);
  EXPECT_EQ(confirmed(cells[1]->right), 1u);
  EXPECT_EQ(confirmed(cells[2]->right), 0u);
  EXPECT_EQ(*last().done, 0u);
  EXPECT_EQ(*first().settled, 0u);
  links[1]->forth.tamper = {};
  silence_returns(links[1]->back);
  clock(3000);
  EXPECT_EQ(*last().done, 1u);
  EXPECT_EQ(*cells[2]->right.settled, 1u);
  EXPECT_EQ(*cells[1]->right.settled, 0u);
  EXPECT_EQ(*first().settled, 0u);
  links[1]->back.tamper = {};
  until([this] { return *first().settled == 1; });
}

/// Slots that the cells behind have answered to each other, but not to the first cell
TEST_F(Faults, WhatIsWithdrawnIsTakenBackFromEveryCell) {
  bring_up(false);
  offer(first(), 2, 1);
  rest();
  silence_returns(links[0]->back);
  offer(first(), 3, 7);
  clock(400);
  EXPECT_EQ(*last().expected, 6u);
  EXPECT_EQ(answered(cells[1]->right), 5u);
  command(OAE_WINDOW_COMMAND_WITHDRAW);
  command(OAE_WINDOW_COMMAND_DROP);
  links[0]->back.tamper = {};
  rest();
  EXPECT_EQ(*last().expected, 3u) << "the last cell has taken them back";
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 3u);
  offer(first(), 1, 20);
  rest();
  EXPECT_EQ(take(last()), (Slots{1, 2, 20}));
}

#if WINDOW_SLICES < 8  // with 8 slices, a frame is one group
/// A frame whose second half never comes does not keep the next link busy.
TEST_F(Faults, AFrameThatEndsHalfwayHoldsNothingUp) {
  bring_up();
  unsigned frames = 0;
  links[0]->forth.tamper = [&frames](std::vector<Group>& unit, bool frame) {
    if (frame && ++frames == 1) unit.resize(unit.size() / 2);
  };
  offer(first(), 1, 7);
  const std::uint64_t begun = now;
  until(
      [this] { return get(cells[2]->left, OAE_WINDOW_COUNT_DAMAGED) != 0 || !WINDOW_CUT_THROUGH; });
  EXPECT_LT(now - begun, 400u);
  rest();
  EXPECT_EQ(take(last()), Slots{7});
}
#endif

TEST_F(Faults, ASlotWithoutARouteIsReversed) {
  bring_up();
  put(cells[2]->left, OAE_WINDOW_ROUTE_AT(1), 0);
  offer(first(), 1, 7);
  until([this] { return *cells[2]->left.phase == OAE_WINDOW_PHASE_DOWN; });
  clock(10);
  EXPECT_EQ(get(cells[2]->left, OAE_WINDOW_COUNT_STRAY), 1u);
  EXPECT_EQ(OAE_GET(get(cells[2]->left, OAE_WINDOW_STATE), OAE_WINDOW_STATE_REASON),
            unsigned{OAE_WINDOW_DOWN_DEFECT});
  EXPECT_EQ(*last().expected, 1u);
  until([this] { return get(cells[1]->right, OAE_WINDOW_COUNT_REVERSED) != 0; });
  for (const auto& cell : cells) configure(*cell);
  until([this] { return is_up(); });
  rest();
  EXPECT_EQ(take(last()), Slots{7});
  EXPECT_EQ(*first().settled, 1u);
  EXPECT_EQ(get(cells[2]->left, OAE_WINDOW_COUNT_STRAY), 1u) << "frames that join are no slots";
}

TEST_F(Faults, AReaderThatTakesNothingStopsTheChainWithoutAReversal) {
  bring_up();
  std::uint64_t next = 1;
  for (unsigned round = 0; round < 8; ++round) {
    const unsigned count = room(first());
    offer(first(), count, next);
    next += count;
    clock(3 * silence);
  }
  EXPECT_LT(next, 3 * ring);
  ASSERT_TRUE(is_up());
  Slots all;
  for (unsigned round = 0; round < 100 && all.size() + 1 < next; ++round) {
    for (const std::uint64_t id : take(last())) all.push_back(id);
    clock(500);
  }
  ASSERT_EQ(all.size() + 1, next);
  for (std::size_t n = 0; n < all.size(); ++n) EXPECT_EQ(all[n], n + 1);
  for (const auto& cell : cells) {
    for (Side* side : {&cell->left, &cell->right}) {
      if (side->phase == nullptr) continue;
      EXPECT_EQ(get(*side, OAE_WINDOW_COUNT_REVERSED), 0u);
    }
  }
}

/// The last cell has committed a slot, and loses its power before anybody hears of that.
TEST_F(Faults, WhatIsLostWithTheLastCellIsReportedToTheFirst) {
  bring_up();
  offer(first(), 2, 1);
  rest();
  silence_returns(links[2]->back);
  links[2]->back.tamper = [this](std::vector<Group>& unit, bool frame) {
    if (!frame && *last().done == 3) unit.assign(unit.size(), {});
  };
  offer(first(), 1, 3);
  until([this] { return *last().done == 3; });
  EXPECT_EQ(*first().settled, 2u);
  lose_power(3);
  links[2]->back.tamper = {};
  pass_hold_off();
  for (unsigned n = 0; n < 40 && !(is_up() && *first().settled == 3); ++n) {
    for (const auto& cell : cells) configure(*cell);
    clock(1000);
  }
  EXPECT_TRUE(is_up());
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_LOST), 1u);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_COMMITTED), 2u);
  offer(first(), 1, 4);
  until([this] { return *first().settled == 4; });
  EXPECT_EQ(take(last()), Slots{4});
}

/// The first cell has confirmed what the cell behind it cannot confirm onward.
TEST_F(Faults, ACutReversesWhatIsNotConfirmedOnward) {
  bring_up(false);
  silence_returns(links[0]->forth);
  offer(first(), 2, 7);
  until([this] { return confirmed(first()) == 2; });
  EXPECT_EQ(*last().expected, 3u);
  put(cells[1]->right, OAE_WINDOW_CONTROL, 0);
  links[0]->forth.tamper = {};
  clock(2 * silence);  // The first cell asks, and confirms once more.
  EXPECT_EQ(*first().settled, 0u);
  put(cells[1]->left, OAE_WINDOW_CONTROL, 0);
  for (unsigned n = 0; n < 20 && !is_up(); ++n) {
    for (const auto& cell : cells) configure(*cell, false);
    clock(1000);
  }
  rest();
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 2u);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_LOST), 0u);
  EXPECT_TRUE(held());
  command(OAE_WINDOW_COMMAND_DROP);
  offer(first(), 1, 20);
  rest();
  EXPECT_EQ(take(last()), Slots{20});
}

/// What is confirmed onward and not settled there remains in doubt while the first link comes up,
/// and is settled when the last one does.
TEST_F(Faults, ALinkComesUpWithSlotsWhoseFateIsOpen) {
  bring_up(false);
  silence_returns(links[2]->forth);  // The last cell hears of no confirmation.
  offer(first(), 2, 7);
  until([this] { return confirmed(cells[2]->right) == 2; });
  links[2]->forth.cut();
  put(cells[1]->left, OAE_WINDOW_CONTROL, 0);
  for (unsigned n = 0; n < 4; ++n) {
    configure(*cells[0], false);
    configure(*cells[1], false);
    clock(500);
  }
  ASSERT_EQ(*first().phase, unsigned{OAE_WINDOW_PHASE_UP});
  EXPECT_EQ(*first().settled, 0u);
  EXPECT_EQ(confirmed(first()), 2u);
  clock(2 * silence);
  links[2]->forth.tamper = {};
  links[2]->forth.join();
  for (unsigned n = 0; n < 20 && *first().settled != 2; ++n) {
    for (const auto& cell : cells) configure(*cell, false);
    clock(1000);
  }
  EXPECT_EQ(take(last()), (Slots{7, 8}));
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_COMMITTED), 2u);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 0u);
}

}  // namespace
}  // namespace relay
