// SPDX-License-Identifier: Apache-2.0
// Coming up, going down, cuts of the wires, and losses of power.
#include <algorithm>

#include "tests/rtl/link/formats.h"
#include "tests/rtl/link/pair.h"

namespace window {
namespace {

class Join : public Pair {
 protected:
  /// Lets units of one kind of frame, or returns, vanish from now on.
  static void swallow(Wire& wire, int protocol) {
    wire.tamper = [protocol](std::vector<Group>& unit, bool frame) {
      const int is = frame ? static_cast<int>(unit[0].data[0] & 3) : returns;
      if (is == protocol) {
        for (Group& group : unit) group = {};
      }
    };
  }
  static constexpr int returns = 4;

  void short_silence(End& end) { set_limits(end, 300, 4); }
};

TEST_F(Join, BothEndsComeUpWhoeverBegins) {
  up(*a);
  clock(20'000);
  EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_INITIALISING});
  up(*b);
  until([this] { return is_up(); });
  EXPECT_EQ(get(*a, OAE_WINDOW_SESSION), (std::uint64_t{1} << 32 | 1));
}

TEST_F(Join, AnEndThatGoesDownTakesTheOtherWithIt) {
  bring_up();
  put(*a, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(get(*b, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_REASON_SHIFT & 0xff,
            unsigned{OAE_WINDOW_DOWN_MISSING});
  EXPECT_EQ(get(*a, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_REASON_SHIFT & 0xff,
            unsigned{OAE_WINDOW_DOWN_FIRMWARE});
}

TEST_F(Join, ALinkThatComesBackGoesOnWithTheNextSlot) {
  bring_up();
  offer(*a, 5, 1);
  rest();
  put(*a, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  offer(*a, 3, 6);
  bring_up();
  EXPECT_EQ(settled(*a), 8u);
  EXPECT_EQ(take(*b).back(), slot(8));
}

// The confirmation arrives, and what the other side says of it does not: only its journal can.
TEST_F(Join, SlotsInDoubtAreFoundCommitted) {
  bring_up();
  short_silence(*a);
  offer(*a, 3, 1);
  until([this] { return done(*b) == 3; });
  to_a.cut();
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(get(*a, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_IN_DOUBT_SHIFT & 1, 1u);
  EXPECT_EQ(settled(*a), 0u);
  to_a.join();
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  EXPECT_EQ(settled(*a), 3u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 3u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_EQ(take(*b).size(), 3u);
}

// The confirmation is on the wire when that is cut.
TEST_F(Join, SlotsInDoubtAreFoundReversed) {
  bring_up(false);
  short_silence(*a);
  swallow(to_b, returns);
  offer(*a, 3, 1);
  until([this] { return get(*a, OAE_WINDOW_SETTLED) >> 32 == 3; });
  put(*b, OAE_WINDOW_CONTROL, 0);
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(done(*b), 0u);
  to_b.tamper = nullptr;
  bring_up(false);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 3u);
  EXPECT_EQ(done(*b), 0u);
  EXPECT_EQ(get(*a, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_HELD_SHIFT & 1, 1u);
  command(*a, OAE_WINDOW_COMMAND_RESUME);  // offered anew
  rest();
  EXPECT_EQ(settled(*a), 3u);
  EXPECT_EQ(take(*b).size(), 3u);
}

TEST_F(Join, SlotsInDoubtAreLostWithTheOtherSidesPower) {
  bring_up();
  short_silence(*a);
  swallow(to_a, returns);
  bool answered = false;
  to_a.tamper = [&](std::vector<Group>& unit, bool frame) {
    // Only the answer passes, so that the slots are confirmed and not settled.
    if (!frame && answered) unit[0] = {};
    if (!frame && (unit[0].data[0] & 0xffff) == 3) answered = true;
  };
  offer(*a, 3, 1);
  until([this] { return done(*b) == 3; });
  to_a.tamper = nullptr;
  lose_power(b);
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 3u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 0u);
  // They are not sent again, and the next one has the next number.
  offer(*a, 1, 9);
  rest();
  EXPECT_EQ(done(*b), 4u);
  EXPECT_EQ(take(*b), std::vector<Slot>{slot(9)});
  EXPECT_EQ(get(*b, OAE_WINDOW_JOURNAL) >> 32, 4u);
}

// A side says until it is up that it was not up since its power came on.
TEST_F(Join, FramesTellWhetherTheSideIsAnew) {
  // How many of the join frames since the last call say so, and how many do not
  const auto frames = [](Wire& wire) {
    std::pair<unsigned, unsigned> counts;
    for (const Frame& frame : wire.frames) {
      if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_JOIN) continue;
      ++(frame[4] & OAE_WIRE_FLAGS_ANEW_MASK ? counts.first : counts.second);
    }
    wire.frames.clear();
    return counts;
  };
  bring_up();
  for (Wire* wire : {&to_a, &to_b}) {
    const auto [anew, others] = frames(*wire);
    EXPECT_GE(anew, 2u);
    EXPECT_LE(others, 1u) << "it may be up when it answers the last one";
  }
  put(*a, OAE_WINDOW_CONTROL, 0);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  for (Wire* wire : {&to_a, &to_b}) {
    const auto [anew, others] = frames(*wire);
    EXPECT_EQ(anew, 0u);
    EXPECT_GE(others, 2u);
  }
  lose_power(a);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  EXPECT_GE(frames(to_b).first, 2u);
  EXPECT_EQ(frames(to_a).first, 0u);
}

TEST_F(Join, ANewLifeOfTheSenderCountsFromOne) {
  bring_up();
  offer(*a, 5, 1);
  rest();
  lose_power(a);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  offer(*a, 2, 11);
  rest();
  EXPECT_EQ(settled(*a), 2u);
  const std::vector<Slot> taken = take(*b);  // those of the first life as well
  ASSERT_EQ(taken.size(), 7u);
  EXPECT_EQ(taken[4], slot(5));
  EXPECT_EQ(taken[5], slot(11));
}

// However short the power was away, and however long a silence the other end tolerates, that end
// has gone down before this one begins. Until then, this one has no carrier, whatever its firmware
// wants.
TEST_F(Join, AnEndWhosePowerWasAwayHoldsOffUntilTheOtherHasNoticed) {
  bring_up();
  put(*b, OAE_WINDOW_LIMITS, 0x8ffffffff);
  lose_power(a);
  const std::uint64_t powered = now;
  up(*a);
  put(*a, OAE_WINDOW_CONTROL, 0);  // What it wants is forgotten,
  up(*a);                          // and wanted again.
  EXPECT_EQ(state(*a, OAE_WINDOW_STATE_HOLDS_OFF_SHIFT, 1), 1u);
  bool noticed = false;
  until([&] {
    noticed = noticed || b->phase() == OAE_WINDOW_PHASE_DOWN;
    EXPECT_EQ(a->top.carrier_o, a->phase() != OAE_WINDOW_PHASE_DOWN);
    return a->phase() != OAE_WINDOW_PHASE_DOWN;
  });
  EXPECT_TRUE(noticed);
  EXPECT_EQ(now - powered, hold_off + 1);  // it notices at an edge, and acts on it at the next one
  EXPECT_EQ(state(*a, OAE_WINDOW_STATE_HOLDS_OFF_SHIFT, 1), 0u);
  EXPECT_EQ(state(*b, OAE_WINDOW_STATE_REASON_SHIFT, 0xff), unsigned{OAE_WINDOW_DOWN_MISSING});
  bring_up();
}

// The power came on so long ago that the time goes around.
TEST_F(Join, LimitsHoldWhileTheTimeGoesAround) {
  constexpr std::uint64_t around = std::uint64_t{1} << 32;
  now = around - 3000;
  a = std::make_unique<End>(now - hold_off);
  b = std::make_unique<End>(now - hold_off);
  bring_up();
  short_silence(*a);
  short_silence(*b);
  put(*a, OAE_WINDOW_LIVENESS, 5);
  offer(*a, 3, 1);
  rest();
  ASSERT_LT(now, around);
  clock(static_cast<unsigned>(around - now - 100));
  EXPECT_TRUE(is_up());
  to_a.cut();
  clock(90);
  EXPECT_TRUE(is_up());
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  ASSERT_GT(now, around + 200);
  EXPECT_LT(now, around + 300);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_LT(now, around + 700);
  const std::uint64_t alive = get(*b, OAE_WINDOW_ALIVE);
  EXPECT_EQ(alive & 0xffffffff, 5u);
  EXPECT_GT(alive >> 32, 3000u);
  EXPECT_LT(alive >> 32, 4000u);
  to_a.join();
  offer(*a, 2, 4);
  bring_up();
  EXPECT_EQ(settled(*a), 5u);
  EXPECT_EQ(take(*b).size(), 5u);
}

TEST_F(Join, AnEndThatItsFirmwareDoesNotWantStaysDownAfterItsHoldOff) {
  bring_up();
  lose_power(a);
  up(*a);
  put(*a, OAE_WINDOW_CONTROL, 0);
  clock(hold_off + 100);
  EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_DOWN});
  up(*a);
  clock(4);
  EXPECT_EQ(a->phase(), unsigned{OAE_WINDOW_PHASE_INITIALISING});
}

// A return that becomes due meanwhile leaves when the link is up.
TEST_F(Join, AnEndThatIsDownLetsItsClockStop) {
  bring_up();
  offer(*a, 2, 1);
  rest();
  put(*b, OAE_WINDOW_CONTROL, 0);
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  put(*b, OAE_WINDOW_TAKEN, 1);
  put(*b, OAE_WINDOW_LIVENESS, 1);
  clock(8);
  EXPECT_FALSE(b->top.busy_o);
  bring_up();
  EXPECT_FALSE(b->top.busy_o);
}

TEST_F(Join, ASignOfLifeIsSentWheneverTheLinkComesUp) {
  for (unsigned n = 1; n < 3; ++n) {
    bring_up();
    EXPECT_EQ(std::count_if(to_b.frames.begin(), to_b.frames.end(),
                            [](const Frame& frame) {
                              return OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) ==
                                     OAE_WIRE_PROTOCOL_ALIVE;
                            }),
              n);
    put(*a, OAE_WINDOW_CONTROL, 0);
    until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  }
}

// B's slots are in doubt when A loses its power, and A's old life has committed them. A frame that
// names the session of the old life must not make the new one a witness against them.
TEST_F(Join, AFrameToTheLifeBeforeIsNotBelieved) {
  bring_up();
  std::vector<Group> unit;  // B's join frame that names A's first session
  for (const Frame& frame : to_a.frames) {
    if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_JOIN) continue;
    if ((frame[4] & OAE_WIRE_FLAGS_AGREED_MASK) == 0) continue;
    unit.assign(8 / slices, {});
    write(unit, frame);
  }
  ASSERT_FALSE(unit.empty());
  for (Group& group : unit) group.kind = OAE_WIRE_KIND_BODY;
  unit[0].kind = OAE_WIRE_KIND_HEAD;
  bool answered = false;
  to_b.tamper = [&](std::vector<Group>& sent, bool frame) {
    // Only the answer passes, so that the slots are confirmed and not settled.
    if (!frame && answered) sent[0] = {};
    if (!frame && (sent[0].data[0] & 0xffff) == 3) answered = true;
  };
  offer(*b, 3, 1);
  until([this] { return done(*a) == 3; });
  EXPECT_EQ(take(*a).size(), 3u);
  to_b.tamper = nullptr;
  lose_power(a);
  up(*a);
  clock(4);
  for (const Group& group : unit) to_a.push(group);
  clock(100);
  EXPECT_EQ(get(*a, OAE_WINDOW_HISTORY), 0u);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  bring_up();
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_LOST), 3u);
  EXPECT_EQ(get(*b, OAE_WINDOW_COUNT_REVERSED), 0u);
  EXPECT_TRUE(take(*a).empty());
}

// A join changes the numbers of both directions. What leaves at the same time must not carry the
// old ones.
TEST_F(Join, NothingLeavesWithNumbersFromBeforeTheJoin) {
  bring_up();
  offer(*a, ring - 1, 1);
  rest();
  lose_power(a);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  put(*b, OAE_WINDOW_TAKEN, 1);  // which makes a return due
  to_a.returns.clear();
  to_a.frames.clear();
  bring_up();
  ASSERT_FALSE(to_a.returns.empty());
  EXPECT_EQ(OAE_GET(to_a.returns[0][0], OAE_RETURN_NUMBERS_DONE), 0u);
  EXPECT_EQ(OAE_GET(to_a.returns[0][0], OAE_RETURN_NUMBERS_CREDIT), 2u);  // ring - 2 slots wait
  unsigned agreed = 0;
  for (const Frame& frame : to_a.frames) {
    if (OAE_GET(frame[0], OAE_WIRE_HEAD_PROTOCOL) != OAE_WIRE_PROTOCOL_JOIN) continue;
    if ((frame[4] & OAE_WIRE_FLAGS_AGREED_MASK) == 0) continue;
    ++agreed;
    EXPECT_EQ(frame[3], std::uint64_t{1} << 32);  // done 0, from 1 on
  }
  EXPECT_GT(agreed, 0u);
}

// The other side has learnt of the new session before this side's journal reaches it a second time.
TEST_F(Join, AJournalThatBeganAfterADoubtDoesNotCoverIt) {
  bring_up();
  short_silence(*a);
  short_silence(*b);
  bool answered = false;
  to_a.tamper = [&](std::vector<Group>& unit, bool frame) {
    if (!frame && answered) unit[0] = {};
    if (!frame && (unit[0].data[0] & 0xffff) == 3) answered = true;
  };
  offer(*a, 3, 1);
  until([this] { return done(*b) == 3; });
  lose_power(b);
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  // B joins, and its join frames that say so are lost.
  to_a.tamper = [](std::vector<Group>& unit, bool frame) {
    if (!frame || unit[unit.size() / 2].data[0] & OAE_WIRE_FLAGS_AGREED_MASK) {
      for (Group& group : unit) group = {};
    }
  };
  up(*a);
  up(*b);
  until([this] { return b->phase() == OAE_WINDOW_PHASE_JOINED || is_up(); });
  if (a->phase() == OAE_WINDOW_PHASE_INITIALISING) {
    put(*a, OAE_WINDOW_CONTROL, 0);
    until([this] { return b->phase() == OAE_WINDOW_PHASE_DOWN; });
  }
  to_a.tamper = nullptr;
  bring_up();
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 3u);
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_COMMITTED), 0u);
}

TEST_F(Join, AVerdictSettlesWhatIsInDoubtWhileTheEndIsDown) {
  bring_up(false);
  short_silence(*a);
  offer(*a, 4, 1);
  until([this] { return get(*a, OAE_WINDOW_SETTLED) >> 32 == 4; });
  to_a.cut();
  to_b.cut();
  until([this] {
    return a->phase() == OAE_WINDOW_PHASE_DOWN && b->phase() == OAE_WINDOW_PHASE_DOWN;
  });
  const unsigned committed = done(*b);
  put(*a, OAE_WINDOW_VERDICT,
      5 | OAE_PUT(OAE_WINDOW_VERDICT_KNOWN, 1));  // of a slot that is not in doubt
  command(*a, OAE_WINDOW_COMMAND_SETTLE);
  EXPECT_EQ(get(*a, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_REFUSED_MASK,
            unsigned{OAE_WINDOW_EVENT_REFUSED_MASK});
  EXPECT_EQ(settled(*a), 0u);
  put(*a, OAE_WINDOW_VERDICT, committed | OAE_PUT(OAE_WINDOW_VERDICT_KNOWN, 1));
  command(*a, OAE_WINDOW_COMMAND_SETTLE);
  EXPECT_EQ(settled(*a), committed);
  clock(4);  // Counters follow a little later.
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 4 - committed);
  command(*a, OAE_WINDOW_COMMAND_RESUME);
  to_a.join();
  to_b.join();
  bring_up(false);
  EXPECT_EQ(settled(*a), 4u);
  EXPECT_EQ(take(*b).size(), 4u);
}

TEST_F(Join, AVerdictWithoutAJournalIsALoss) {
  bring_up();
  short_silence(*a);
  offer(*a, 4, 1);
  until([this] { return get(*a, OAE_WINDOW_SETTLED) >> 32 == 4; });
  to_a.cut();
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  put(*a, OAE_WINDOW_VERDICT, 0);
  command(*a, OAE_WINDOW_COMMAND_SETTLE);
  EXPECT_EQ(settled(*a), 4u);
  clock(4);  // Counters follow a little later.
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 4u);
  command(*a, OAE_WINDOW_COMMAND_SETTLE);  // nothing is in doubt any more
  EXPECT_EQ(get(*a, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_REFUSED_MASK,
            unsigned{OAE_WINDOW_EVENT_REFUSED_MASK});
}

TEST_F(Join, AVerdictIsRefusedOnceTheEndBeginsToComeUp) {
  bring_up();
  short_silence(*a);
  offer(*a, 2, 1);
  until([this] { return get(*a, OAE_WINDOW_SETTLED) >> 32 == 2; });
  to_a.cut();
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  up(*a);
  command(*a, OAE_WINDOW_COMMAND_SETTLE);
  EXPECT_EQ(get(*a, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_REFUSED_MASK,
            unsigned{OAE_WINDOW_EVENT_REFUSED_MASK});
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_LOST), 0u);
}

TEST_F(Join, ALostJoinFrameIsRepeated) {
  short_silence(*a);
  short_silence(*b);
  unsigned lost = 0;
  to_a.tamper = [&lost](std::vector<Group>& unit, bool) {
    if (lost++ < 5) {
      for (Group& group : unit) group = {};
    }
  };
  bring_up();
  EXPECT_GE(lost, 5u);
}

TEST_F(Join, TroubleTakesTheLinkDown) {
  bring_up();
  short_silence(*a);
  swallow(to_b, OAE_WIRE_PROTOCOL_SLOT);
  offer(*a, 1, 1);
  until([this] { return a->phase() == OAE_WINDOW_PHASE_DOWN; });
  EXPECT_EQ(get(*a, OAE_WINDOW_STATE) >> OAE_WINDOW_STATE_REASON_SHIFT & 0xff,
            unsigned{OAE_WINDOW_DOWN_TROUBLE});
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_SILENT), 8u);  // of two silences, each second one is a doubt
}

// B has joined, and the first that it gets from an end that has joined as well is a slot.
TEST_F(Join, ASlotMayShowThatTheOtherSideHasJoined) {
  offer(*a, 2, 1);
  bool slots = false;
  to_b.tamper = [&](std::vector<Group>& unit, bool frame) {
    const unsigned protocol = unit[0].data[0] & OAE_WIRE_HEAD_PROTOCOL_MASK;
    slots = slots || (frame && protocol == OAE_WIRE_PROTOCOL_SLOT);
    const bool joins = frame && protocol == OAE_WIRE_PROTOCOL_JOIN;
    const bool agreed = joins && (unit[4 / slices].data[4 % slices] & OAE_WIRE_FLAGS_AGREED_MASK);
    if (slots || (joins && !agreed)) return;
    for (Group& group : unit) group = {};
  };
  up(*a);
  clock(50);
  up(*b);
  until([&] { return slots; });
  EXPECT_EQ(b->phase(), unsigned{OAE_WINDOW_PHASE_JOINED});
  until([this] { return is_up(); });
  until([this] { return done(*b) == 2; });
  EXPECT_EQ(take(*b), (std::vector<Slot>{slot(1), slot(2)}));
  EXPECT_EQ(get(*a, OAE_WINDOW_COUNT_REVERSED), 0u);
}

TEST_F(Join, SignsOfLifeReachTheOtherSide) {
  bring_up();
  put(*a, OAE_WINDOW_LIVENESS, 17);
  rest();
  EXPECT_EQ(get(*b, OAE_WINDOW_ALIVE) & 0xffffffff, 17u);
  EXPECT_LT(get(*b, OAE_WINDOW_ALIVE) >> 32, 2000u);
  EXPECT_EQ(get(*b, OAE_WINDOW_EVENT) & OAE_WINDOW_EVENT_ALIVE_MASK,
            unsigned{OAE_WINDOW_EVENT_ALIVE_MASK});
}

}  // namespace
}  // namespace window
