// SPDX-License-Identifier: Apache-2.0
// A cell of a chain of three links loses its power.
#include <algorithm>
#include <vector>

#include "tests/rtl/link/formats.h"
#include "tests/rtl/relay/chain.h"

namespace relay {
namespace {

using Slots = std::vector<std::uint64_t>;
using window::Frame;
using window::Group;
using window::Wire;

class Losses : public Chain {
 protected:
  Losses() { build(3); }

  /// The cell before the last one has confirmed a slot onward, and the last one does not hear that.
  void confirm_onward() {
    bring_up();
    silence_returns(links[2]->forth);
    offer(first(), 1, 1);
    until([this] { return confirmed(cells[2]->right) == 1; });
  }

  /// The last cell loses its power, and afterwards gets what is offered from then on.
  void expect_nothing_of_it_in_the_next_life() {
    lose_power(3);
    links[2]->forth.tamper = {};
    links[2]->back.tamper = {};
    pass_hold_off();
    come_up();
    rest();
    EXPECT_EQ(take(last()), Slots{});
    offer(first(), 2, 4);
    rest();
    EXPECT_EQ(take(last()), (Slots{4, 5}));
  }
};

/// The last cell has committed a slot, and loses its power before anybody hears of that.
TEST_F(Losses, WhatIsLostWithTheLastCellIsReportedToTheFirst) {
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

/// Nothing is on its way when a cell loses its power. The others know that by the time when the
/// chain is up again, since each cell between them tells it onward.
TEST_F(Losses, ALossOfPowerIsToldToTheEndOfTheChain) {
  for (const unsigned lost : {3u, 2u, 1u}) {
    bring_up();
    offer(first(), 2, 1);
    rest();
    take(last());
    for (const auto& link : links) {
      link->forth.frames.clear();
      link->back.frames.clear();
    }
    lose_power(lost);
    pass_hold_off();
    come_up();
    for (unsigned link = 0; link < links.size(); ++link) {
      const auto tells = [](const Wire& wire) {
        return std::any_of(wire.frames.begin(), wire.frames.end(), [](const Frame& frame) {
          return OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) == OAE_WIRE_PROTOCOL_JOIN &&
                 (frame[4] & OAE_WIRE_FLAGS_ANEW_MASK) != 0;
        });
      };
      // Towards the first cell, that the cell behind a link or one after it was away, and the same
      // towards the last one
      EXPECT_EQ(tells(links[link]->back), link < lost) << "cell " << lost << ", link " << link;
      EXPECT_EQ(tells(links[link]->forth), link >= lost) << "cell " << lost << ", link " << link;
    }
    EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_LOST), 0u);
  }
}

/// A cell has confirmed a slot onward, and the last one has reversed it. It is then offered by that
/// cell alone, and must not reach a later life of the last one.
TEST_F(Losses, WhatTheLastCellHasReversedDoesNotReachItsNextLife) {
  confirm_onward();
  put(cells[2]->right, OAE_WINDOW_CONTROL, 0);
  links[2]->forth.tamper = [](std::vector<Group>& unit, bool frame) {
    if (frame && OAE_GET(unit[0].data[0], OAE_WIRE_HEAD_PROTOCOL) == OAE_WIRE_PROTOCOL_SLOT)
      unit.assign(unit.size(), {});
  };
  come_up();
  until([this] { return (get(cells[2]->right, OAE_WINDOW_SENT) & 0xffff'ffff) == 1; });
  EXPECT_EQ(confirmed(first()), 1u);
  EXPECT_EQ(confirmed(cells[2]->right), 0u);
  EXPECT_EQ(*last().done, 0u);
  expect_nothing_of_it_in_the_next_life();
  EXPECT_EQ(get(first(), OAE_WINDOW_COUNT_LOST), 1u);
  EXPECT_EQ(*first().settled, 3u);
}

/// The same, while the link to the last cell is not up since the first one has lost its power: that
/// cell is anew itself, and nobody is told.
TEST_F(Losses, WhatOnlyACellThatIsAnewStillHasReachesNoLaterLife) {
  confirm_onward();
  lose_power(0);
  put(cells[2]->right, OAE_WINDOW_CONTROL, 0);
  links[2]->forth.tamper = {};
  links[2]->back.tamper = [](std::vector<Group>& unit, bool frame) {
    constexpr unsigned flags = 4;  // a slice
    const auto word = [&](unsigned slice) {
      constexpr unsigned slices = WINDOW_SLICES;
      return unit[slice / slices].data[slice % slices];
    };
    if (!frame || OAE_GET(word(0), OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_JOIN ||
        (word(flags) & OAE_WIRE_FLAGS_AGREED_MASK) != 0) {
      unit.assign(unit.size(), {});
    }
  };
  pass_hold_off();
  Side& onward = cells[2]->right;
  const auto is_up_before = [this] {
    return *first().phase == OAE_WINDOW_PHASE_UP && *cells[1]->right.phase == OAE_WINDOW_PHASE_UP &&
           *cells[2]->left.phase == OAE_WINDOW_PHASE_UP;
  };
  const auto is_joined = [&] {
    return *onward.phase == OAE_WINDOW_PHASE_JOINED && confirmed(onward) == 0;
  };
  for (unsigned n = 0; n < 40 && !(is_up_before() && is_joined()); ++n) {
    for (const auto& cell : cells) configure(*cell);
    clock(1000);
  }
  ASSERT_TRUE(is_up_before() && is_joined());
  EXPECT_EQ(get(onward, OAE_WINDOW_OFFERED), 1u) << "only this cell still has it";
  expect_nothing_of_it_in_the_next_life();
  EXPECT_EQ(*first().settled, 2u);
}

}  // namespace
}  // namespace relay
