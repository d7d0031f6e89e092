// SPDX-License-Identifier: Apache-2.0
// One fault in a chain of three links, and what every cell makes of it
#include <deque>
#include <vector>

#include "tests/rtl/link/formats.h"
#include "tests/rtl/link/own_registers.h"
#include "tests/rtl/relay/chain.h"

namespace relay {
namespace {

using Slots = std::vector<std::uint64_t>;
using window::Group;
using window::Wire;

class Faults : public Chain {
 protected:
  Faults() { build(3); }

  /// Changes the first slot on a wire.
  template <typename Change>
  static void strike_slot(Wire& wire, Change change) {
    wire.tamper = [change, struck = false](std::vector<Group>& unit, bool frame) mutable {
      if (!frame || struck ||
          OAE_GET(unit[0].data[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_SLOT)
        return;
      struck = true;
      change(unit);
    };
  }

  std::uint32_t answered(Side& side) {
    return static_cast<std::uint32_t>(get(side, OAE_WINDOW_SENT) >> 32);
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
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_STRAY), 0u);
  EXPECT_EQ(get(cells[1]->right, OAE_WINDOW_COUNT_STRAY), 0u);
}

TEST_F(Faults, EachEndOfACellHasItsOwnRegisters) {
  Side& left = cells[1]->left;
  Side& right = cells[1]->right;
  const auto write = [this](Side& side, unsigned address, std::uint64_t data) {
    put(side, address, data);
  };
  const auto read = [this](Side& side, unsigned address) { return get(side, address); };
  window::expect_own_registers(left, right, write, read, true);
  // An index belongs to the relay.
  put(left, OAE_WINDOW_OFFERED, 1);
  EXPECT_EQ(get(left, OAE_WINDOW_EVENT), unsigned{OAE_WINDOW_EVENT_REFUSED_MASK});
  EXPECT_EQ(get(right, OAE_WINDOW_EVENT), 0u);
  put(right, OAE_WINDOW_TAKEN, 1);
  EXPECT_EQ(get(right, OAE_WINDOW_EVENT), unsigned{OAE_WINDOW_EVENT_REFUSED_MASK});
}

TEST_F(Faults, LimitsHoldWhileTheTimeGoesAround) {
  constexpr std::uint64_t around = std::uint64_t{1} << 32;
  bring_up();
  now = around - 1500;  // Nothing moves, and the clocks may stop until then.
  offer(first(), 3, 1);
  offer(last(), 3, 101);
  rest();
  EXPECT_EQ(take(last()), (Slots{1, 2, 3}));
  EXPECT_EQ(take(first()), (Slots{101, 102, 103}));
  ASSERT_LT(now, around);
  const std::uint64_t cut = now;
  links[1]->back.cut();
  until([this] { return *cells[1]->right.phase == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_GE(now - cut, silence);
  EXPECT_LT(now - cut, silence + 10);
  EXPECT_GT(now, around);
  links[1]->back.join();
  come_up();
  offer(first(), 2, 4);
  rest();
  EXPECT_EQ(take(last()), (Slots{4, 5}));
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
  // A frame of one or two groups has its verdict before it can leave.
  const unsigned spoiled = WINDOW_CUT_THROUGH && window::slices == 2 ? 1 : 0;
  const std::uint64_t begun = now;
  until([&] { return get(cells[2]->left, OAE_WINDOW_COUNT_DAMAGED) == spoiled; });
  EXPECT_LT(now - begun, 64u) << "the frame has waited for a rest that was there";
  until([this] { return held(); });
  rest();
  ASSERT_TRUE(struck);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 1u);
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

/// The restart that takes the damaged slot back is lost.
TEST_F(Faults, ADamagedSlotIsNotOfferedAgain) {
  bring_up();
  bool damaged = false;
  bool lost = false;
  links[0]->forth.tamper = [&](std::vector<Group>& unit, bool frame) {
    if (!frame) return;
    if (!damaged) {
      damaged = true;
      Wire::damage(unit, 200);
    } else if (!lost) {
      EXPECT_EQ(OAE_GET(unit[0].data[0], OAE_WIRE_HEAD_PROTOCOL),
                unsigned{OAE_WIRE_PROTOCOL_RESTART});
      lost = true;
      unit.assign(unit.size(), {});
    }
  };
  offer(first(), 1, 7);
  until([&lost] { return lost; });
  links[0]->forth.tamper = [](std::vector<Group>& unit, bool) { unit.assign(unit.size(), {}); };
  clock(400);
  EXPECT_EQ(*last().expected, 1u);
  links[0]->forth.tamper = {};
  until([this] { return *first().settled == 1; });
  EXPECT_EQ(take(last()), Slots{7});
}

/// Both ends of a cell wait for an answer, and the one behind has less patience.
TEST_F(Faults, AnEndAsksInTimeWhateverTheOtherEndWaitsFor) {
  bring_up();
  put(cells[1]->left, OAE_WINDOW_LIMITS,
      OAE_PUT(OAE_WINDOW_LIMITS_SILENCE, 4 * silence) | OAE_PUT(OAE_WINDOW_LIMITS_TROUBLE, 6));
  silence_returns(links[0]->forth);
  silence_returns(links[1]->back);
  offer(last(), 1, 1001);
  offer(first(), 1, 7);
  until([this] { return *cells[1]->left.numbers_sent == 1 && *cells[1]->right.numbers_sent == 1; });
  unsigned asks = 0;
  links[1]->forth.tamper = [&asks](std::vector<Group>& unit, bool frame) {
    if (!frame && (unit[0].data[1] & OAE_RETURN_STATE_ASK_MASK) != 0) ++asks;
  };
  clock(silence + 100);
  EXPECT_EQ(asks, 1u);
  links[0]->forth.tamper = {};
  links[1]->back.tamper = {};
  links[1]->forth.tamper = {};
  until([this] { return *first().settled == 1 && *last().settled == 1; });
}

/// The last of three slots is damaged, while the first cell's confirmation of the others is lost.
TEST_F(Faults, ADamagedSlotLeavesThoseBeforeItAlone) {
  bring_up();
  silence_returns(links[0]->forth);
  offer(first(), 2, 1);
  until([this] { return confirmed(first()) == 2; });
  EXPECT_EQ(*cells[1]->left.done, 0u);
  strike_slot(links[0]->forth, [](std::vector<Group>& unit) { Wire::damage(unit, 200); });
  offer(first(), 1, 3);
  rest();
  until([this] { return *first().settled == 3; });
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_DAMAGED), 1u);
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_REVERSED), 1u);
  EXPECT_EQ(take(last()), (Slots{1, 2, 3}));
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
/// The head of a frame that follows half a frame shows damage, even if it is that of the slot that
/// is expected.
TEST_F(Faults, ASlotWhoseHeadShowsDamageDoesNotGoOn) {
  bring_up();
  strike_slot(links[0]->forth, [](std::vector<Group>& unit) {
    const std::vector<Group> half(unit.begin(), unit.begin() + static_cast<long>(unit.size() / 2));
    unit.insert(unit.begin(), half.begin(), half.end());
  });
  offer(first(), 2, 7);
  rest();
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_DAMAGED), 1u);
  EXPECT_EQ(take(last()), (Slots{7, 8}));
}

/// The link is taken down while half a slot is there.
TEST_F(Faults, ACutInTheMiddleOfASlotTakesItBack) {
  bring_up();
  offer(first(), 3, 1);
  rest();
  bool struck = false;
  strike_slot(links[0]->forth, [&struck](std::vector<Group>& unit) {
    struck = true;
    unit.resize(unit.size() / 2);
  });
  offer(first(), 1, 7);
  until([&struck] { return struck; });
  clock(metre + 4);
  put(cells[1]->left, OAE_WINDOW_CONTROL, 0);
  until([this] { return *first().phase == OAE_WINDOW_PHASE_DOWN; });
  come_up(true);
  rest();
  EXPECT_EQ(take(last()), (Slots{1, 2, 3, 7}));
  EXPECT_EQ(*first().settled, 4u);
}

/// The link is taken down in any clock of the frames that arrive.
TEST_F(Faults, AHeadThatComesAsTheLinkGoesDownDoesNotGoOn) {
  Slots all;
  std::uint64_t next = 1;
  for (unsigned wait = 0; wait < 16; ++wait) {
    come_up(true);
    rest();
    const std::uint32_t before = *first().numbers_sent;
    offer(first(), 10, next);
    next += 10;
    until([&] { return *first().numbers_sent != before; });
    clock(wait);
    put(cells[1]->left, OAE_WINDOW_CONTROL, 0);
    until([this] { return *first().phase == OAE_WINDOW_PHASE_DOWN; });
    come_up(true);
    rest();
    for (const std::uint64_t id : take(last())) all.push_back(id);
  }
  ASSERT_EQ(all.size(), next - 1);
  for (std::size_t n = 0; n < all.size(); ++n) EXPECT_EQ(all[n], n + 1);
}

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

TEST_F(Faults, ASlotThatComesTwiceGoesOnOnce) {
  bring_up();
  strike_slot(links[0]->forth, [](std::vector<Group>& unit) {
    const std::vector<Group> copy = unit;
    unit.insert(unit.end(), copy.begin(), copy.end());
  });
  offer(first(), 1, 7);
  rest();
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_JAMMED), 1u);
  EXPECT_EQ(get(cells[2]->left, OAE_WINDOW_COUNT_DAMAGED), 0u) << "a spoiled frame";
  EXPECT_EQ(take(last()), Slots{7});
}

/// A sign of life comes while the slot before it waits to leave again.
TEST_F(Faults, AFrameThatIsNoSlotLeavesTheRingAlone) {
  bring_up();
  strike_slot(links[1]->forth, [](std::vector<Group>& unit) { Wire::damage(unit, 200); });
  offer(first(), 1, 7);
  put(first(), OAE_WINDOW_LIVENESS, 1);
  rest();
  EXPECT_EQ(get(cells[1]->right, OAE_WINDOW_COUNT_REVERSED), 1u);
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_ALIVE) & 0xffffffff, 1u);
  EXPECT_EQ(take(last()), Slots{7});
}

/// The table has 16 labels, and a label has 8 bits.
TEST_F(Faults, ALabelBeyondTheTableHasNoRoute) {
  bring_up(false);
  offer(first(), 1, 7, 16 + hops() - 1);
  until([this] { return *cells[1]->left.phase == OAE_WINDOW_PHASE_DOWN; });
  clock(10);
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_STRAY), 1u);
  until([this] { return *first().phase == OAE_WINDOW_PHASE_DOWN; });
  come_up(false);
  command(OAE_WINDOW_COMMAND_DROP);
  offer(first(), 1, 8);
  rest();
  EXPECT_EQ(take(last()), Slots{8});
}

TEST_F(Faults, ASlotWithoutARouteIsReversed) {
  bring_up();
#if WINDOW_SLICES < 8
  links[1]->forth.tamper = [](std::vector<Group>& unit, bool frame) {
    if (frame) unit.insert(unit.begin() + 1, Group{});  // A frame may have a gap.
  };
#endif
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

/// The credit from before the next link went down is worth nothing.
TEST_F(Faults, ACellWhoseNextLinkIsDownGivesNoCredit) {
  bring_up();
  offer(first(), 3, 1);
  rest();
  links[1]->forth.cut();
  until([this] { return *cells[1]->right.phase == OAE_WINDOW_PHASE_DOWN; });
  put(cells[1]->left, OAE_WINDOW_CONTROL, 0);
  until([this] { return *first().phase == OAE_WINDOW_PHASE_DOWN; });
  configure(*cells[0]);
  configure(*cells[1]);
  until([this] { return *first().phase == OAE_WINDOW_PHASE_UP; });
  ASSERT_NE(*cells[1]->right.phase, unsigned{OAE_WINDOW_PHASE_UP});
  offer(first(), 2, 4);
  clock(3 * silence);
  EXPECT_EQ(*first().numbers_sent, 3u);
  links[1]->forth.join();
  come_up(true);
  rest();
  EXPECT_EQ(take(last()), (Slots{1, 2, 3, 4, 5}));
}

#if WINDOW_SLOTS > WINDOW_MIDDLE_SLOTS
/// The rings in the middle are smaller than those of the outer cells.
TEST_F(Faults, NoMoreIsSentThanTheSmallestRingHolds) {
  bring_up();
  silence_returns(links[2]->back);
  offer(first(), ring - 1, 1);
  clock(400);
  EXPECT_EQ(*first().numbers_sent, unsigned{WINDOW_MIDDLE_SLOTS - 1});
  EXPECT_EQ(get(cells[1]->left, OAE_WINDOW_COUNT_JAMMED), 0u);
  links[2]->back.tamper = {};
  until([this] { return *first().settled == ring - 1; });
  EXPECT_EQ(take(last()).size(), ring - 1);
}

/// The first cell believes in more credit than the next one has given.
TEST_F(Faults, ASlotWithoutCreditIsNotHeld) {
  bring_up();
  silence_returns(links[2]->back);
  links[0]->back.tamper = [](std::vector<Group>& unit, bool frame) {
    if (frame) return;
    window::Return forged{unit[0].data[0], unit[0].data[1]};
    forged[0] += OAE_PUT(OAE_RETURN_NUMBERS_CREDIT, ring);
    unit[0].data[0] = forged[0];
    unit[0].data[1] = (forged[1] & 0xffffffff) | std::uint64_t{window::return_check(forged, 1, 1)}
                                                     << 32;
  };
  offer(first(), ring - 1, 1);
  until([this] { return get(cells[1]->left, OAE_WINDOW_COUNT_JAMMED) != 0; });
  EXPECT_EQ(*cells[1]->left.expected, unsigned{WINDOW_MIDDLE_SLOTS});

  // A link keeps the credit that it was given until it comes up anew.
  links[0]->back.tamper = {};
  links[2]->back.tamper = {};
  clock(20 * silence);
  EXPECT_EQ(take(last()), Slots{});
  put(first(), OAE_WINDOW_CONTROL, 0);
  until([this] { return held(); });
  come_up(true);
  command(OAE_WINDOW_COMMAND_RESUME);
  rest();
  Slots all;
  for (std::uint64_t id = 1; id < ring; ++id) all.push_back(id);
  EXPECT_EQ(take(last()), all);
}
#endif

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
  come_up(false);
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

/// Links that are so short that answers come while slots still leave. Signs of life fill the gaps,
/// so that the return that confirms a slot onward has to wait.
class ShortLinks : public Chain {
 protected:
  ShortLinks() { build(2, 1); }
};

TEST_F(ShortLinks, ASlotIsCommittedInTheMiddleWhenItsConfirmationLeaves) {
  bring_up();
  Side& left = cells[1]->left;
  Side& right = cells[1]->right;
  std::uint32_t confirmed_onward = 0;
  std::uint32_t committed = 0;
  links[1]->forth.tamper = [&confirmed_onward](std::vector<Group>& unit, bool frame) {
    if (frame) return;
    confirmed_onward =
        static_cast<std::uint32_t>(OAE_GET(unit[0].data[0], OAE_RETURN_NUMBERS_CONFIRMED));
  };
  std::deque<std::uint32_t> before(5);  // what was committed in the clocks before
  for (unsigned round = 0; round < 20; ++round) {
    offer(first(), room(first()), 1 + *first().numbers_sent);
    for (unsigned n = 0; n < 300; ++n) {
      if (right.idle()) right.post_put(OAE_WINDOW_LIVENESS, n);
      clock();
      committed = *left.done;
      // A return is on the wire five clocks after it was chosen.
      ASSERT_LE(before.front(), confirmed_onward);
      before.pop_front();
      before.push_back(committed);
    }
    take(last());
  }
  EXPECT_GT(committed, 100u);
}

}  // namespace
}  // namespace relay
